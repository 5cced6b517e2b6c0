"""Markdown with a heading per paper, as reading lists and conference pages have it:

    # ICML 2025
    ## ReVISE: Learning to Refine
    *Hyunseok Lee, Jihoon Tack* | [paper](https://...)
    **Abstract:** Self-awareness, i.e. ...

A heading with nothing below it groups those that follow; it gives them venue and year if it names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.corpus import fields
from rag.corpus.drafts import Broken, Draft
from rag.corpus.readers.fielded import field
from rag.corpus.streams import Head, Stream
from rag.corpus.venues import heading

NAME = "Markdown"
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$")
_LINK = re.compile(r"\[([^\]]*)\]\((https?://[^\s()]+)\)")
_PART = re.compile(r"^\W*(abstract|summary|tl;?dr)\W*$", re.IGNORECASE)


def detects(head: Head) -> bool:
    titles = [match[2] for line in head.lines() if (match := _HEADING.match(line))]
    papers = [title for title in titles if heading(title) is None and not _PART.match(title)]
    return bool(papers) and any(len(line.split()) >= 15 for line in head.lines())


def read(stream: Stream) -> Iterator[Draft | Broken]:
    venue, year, record = "", None, 0
    for line, title, body in _sections(stream):
        found = heading(_LINK.sub(r"\1", title))
        if not any(text.strip() for text in body):
            venue, year = found or (venue, year)
            continue
        if found and not any(field(text) for text in body):
            venue, year = found  # a heading above an introduction, not a paper
            continue
        record += 1
        yield _draft(record, title, body, (venue, year), line)


def _sections(stream: Stream) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (line, title, lines below it); "Abstract" as a heading belongs to the section above it."""
    start, title = 0, ""
    body: list[str] = []
    for number, line in enumerate(stream.lines(), 1):
        match = _HEADING.match(line)
        if match and _PART.match(match[2]) and title:
            body.append("Abstract:")
        elif match:
            if title:
                yield start, title, body
            start, title, body = number, re.sub(r"^\d+[.)]\s+", "", match[2]), []
        else:
            body.append(line)
    if title:
        yield start, title, body


def _draft(record: int, title: str, body: list[str], group: tuple[str, int | None], line: int) -> Draft:
    row = {"title": _LINK.sub(r"\1", title)}
    if linked := _LINK.search(title):
        row["url"] = linked[2]
    name = ""
    prose: list[str] = []
    for text in body:
        found = field(text)
        if found:
            name = found[0]
            row[name] = found[1]
        elif name == "abstract":
            row["abstract"] += f"\n{text}"
        elif text.strip():
            prose.append(text.strip())
            name = ""
    if "authors" not in row and prose and _names(prose[0]):
        row["authors"] = _names(prose.pop(0))
    link = _LINK.search(" ".join(body))
    row.setdefault("url", link[2] if link else "")
    row.setdefault(
        "abstract", "\n".join(text for text in prose if len(text.split()) >= 8 or not _LINK.search(text))
    )
    row.setdefault("venue", group[0])
    row.setdefault("year", str(group[1] or ""))
    row["url"] = _LINK.sub(r"\2", row["url"])
    return fields.draft(record, row, {name: name for name in row}, line)


def _names(line: str) -> str:
    """Return the authors of a line that is nothing but capitalised names, else ''."""
    line = re.split(r"\s[|•·]\s", _LINK.sub("", line))[0].strip("*_ ")
    names = [name for name in re.split(r",\s*|\s+and\s+|;\s*", line) if name]
    plausible = all(1 < len(name.split()) < 6 and name[0].isupper() for name in names)
    return line if names and plausible and not re.search(r"[.!?:]$", line) and len(names) < 200 else ""
