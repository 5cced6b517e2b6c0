"""PDF: title and abstract guessed from the first two pages with pypdf (the extra "pdf").

The title is what is printed largest on the first page; the abstract stands between the word "Abstract" and
the introduction. Every record says so in ``extra["guess"]``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from rag.corpus.drafts import Broken, Draft
from rag.corpus.streams import Head, Stream

NAME = "PDF (guessed)"
_ABSTRACT = re.compile(
    r"^[ \t]*A\s?B\s?S\s?T\s?R\s?A\s?C\s?T\b[ \t]*[.:—–-]*\s*(.+?)"
    r"(?=^\s*(?:1|I|0)?[.\s]*(?:I\s?N\s?T\s?R\s?O\s?D\s?U\s?C\s?T\s?I\s?O\s?N|Key\s?words|Index Terms|"
    r"CCS Concepts|Categories and Subject)\b|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


def detects(head: Head) -> bool:
    return b"%PDF-" in head.data[:1024]


def read(stream: Stream) -> Iterator[Draft | Broken]:
    if find_spec("pypdf") is None:
        yield Broken(0, "is a PDF, which needs pypdf: pip install pypdf")
        return
    try:
        text, title = _first_pages(import_module("pypdf"), stream.data())
    except Exception as error:  # noqa: BLE001 - pypdf raises anything at all on damaged files
        yield Broken(0, f"is a PDF that cannot be read: {str(error)[:200] or type(error).__name__}")
        return
    match = _ABSTRACT.search(text)
    if match is None:
        yield Broken(1, "is a PDF without an abstract on its first pages")
    else:
        yield Draft(
            1,
            abstract=match[1][:6000],
            title=title,
            extra={"guess": "title and abstract were guessed from the first pages of a PDF"},
        )


def _first_pages(pypdf: Any, data: bytes) -> tuple[str, str]:
    reader = pypdf.PdfReader(io.BytesIO(data))
    pages = list(reader.pages[:2])
    text = "\n".join(page.extract_text() for page in pages)
    printed = _largest(pages[0]) if pages else ""
    named = str((reader.metadata or {}).get("/Title") or "").strip()
    return text, printed or named


def _largest(page: Any) -> str:
    """Return the text in the largest type of the page, if it is long enough for a title."""
    by_size: dict[float, list[str]] = {}

    def visit(text: str, _cm: Any, matrix: list[float], _font: Any, size: float) -> None:
        if text.strip():
            scale = max(abs(matrix[0]), abs(matrix[1])) or 1.0
            by_size.setdefault(round(size * scale, 1), []).append(text.strip())

    page.extract_text(visitor_text=visit)
    for size in sorted(by_size, reverse=True):
        text = " ".join(" ".join(by_size[size]).split())
        if len(text.split()) >= 2 and len(text) <= 300:
            return text
    return ""
