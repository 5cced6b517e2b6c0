"""RIS (EndNote, Web of Science, publishers' "export citation"), by rispy, one record at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator

import rispy  # type: ignore[import-untyped]

from rag.corpus import fields
from rag.corpus.drafts import Broken, Draft
from rag.corpus.streams import Head, Stream

NAME = "RIS"
_START = re.compile(r"^\ufeff?TY\s\s?-\s?\w+", re.MULTILINE)
_TITLES = ("title", "primary_title", "translated_title")
_VENUES = (
    "secondary_title",
    "journal_name",
    "alternate_title1",
    "alternate_title3",
    "alternate_title2",
    "custom3",
)
_USED = (
    *_TITLES,
    *_VENUES,
    "abstract",
    "notes_abstract",
    "authors",
    "first_authors",
    "year",
    "publication_year",
    "doi",
)


def detects(head: Head) -> bool:
    return bool(_START.search(head.text[:20_000]))


def read(stream: Stream) -> Iterator[Draft | Broken]:
    for record, (line, text) in enumerate(_records(stream), 1):
        try:
            entry = rispy.loads(text)[0]
        except (ValueError, IndexError, KeyError, TypeError, OSError) as error:
            yield Broken(record, f"is not valid RIS: {str(error) or type(error).__name__}", line)
        else:
            yield _draft(record, entry, line)


def _records(stream: Stream) -> Iterator[tuple[int, str]]:
    lines: list[str] = []
    start = 0
    for number, line in enumerate(stream.lines(), 1):
        if _START.match(line):
            if lines:
                yield start, _closed(lines)
            lines, start = [], number
        if lines or _START.match(line):
            lines.append(line.lstrip("\ufeff").rstrip())
    if lines:
        yield start, _closed(lines)


def _closed(lines: list[str]) -> str:
    """End the record: exports forget the last ER, and rispy wants a space behind its hyphen."""
    body = [
        re.sub(r"^([A-Z][A-Z0-9])\s\s?-\s?", r"\1  - ", line)
        for line in lines
        if not re.match(r"ER\s\s?-", line)
    ]
    return "\n".join([*body, "ER  - ", ""])


def _draft(record: int, entry: dict[str, object], line: int) -> Draft:
    def first(*names: str) -> str:
        return next((fields.text(entry[name]) for name in names if entry.get(name)), "")

    names = fields.people(entry.get("authors") or entry.get("first_authors") or [])
    return Draft(
        record,
        abstract=first("abstract", "notes_abstract") or first("notes"),
        title=first(*_TITLES),
        authors=tuple(map(fields.signed, names)),
        venue=first(*_VENUES),
        year=first("year", "publication_year", "date"),
        url=first("urls", "url", "file_attachments1"),
        doi=first("doi"),
        extra={name: value for name, value in entry.items() if name not in _USED},
        line=line,
    )
