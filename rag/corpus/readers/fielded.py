"""Text with named fields, one below the other:

    Title: ReVISE: Learning to Refine
    Authors: Hyunseok Lee, Jihoon Tack
    Abstract: Self-awareness, i.e. ...
    continued here.

The field that comes first begins each record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.corpus import fields
from rag.corpus.drafts import Broken, Draft
from rag.corpus.streams import Head, Stream

NAME = "text with fields"
_FIELD = re.compile(r"^[\s>*_#-]{0,6}([A-Za-z][A-Za-z ()/-]{0,28}?)[*_]{0,3}\s?:[*_]{0,3}(?:\s+|$)(.*)$")
_RULE = re.compile(r"^\s*([-=*_#~]\s?){3,}$")


def detects(head: Head) -> bool:
    names = {found[0] for line in head.lines() if (found := field(line))}
    return {"title", "abstract"} <= names and head.start[:1] not in ("{", "[", "<", "@")


def read(stream: Stream) -> Iterator[Draft | Broken]:
    for record, (line, row) in enumerate(_rows(stream), 1):
        columns = {name: name for name in fields.FIELDS if name in row}
        yield fields.draft(record, row, columns, line)


def field(line: str) -> tuple[str, str] | None:
    """Return ("abstract", text) for a line "Abstract: text", named as in ``fields``; else None."""
    match = _FIELD.match(line)
    if match is None:
        return None
    known = fields.guess([match[1]])
    name = next(iter(known), "")
    if not name or known[name].casefold() in ("text", "name", "description", "source", "created"):
        return None  # too common at the start of an ordinary line
    return name, match[2].strip()


def _rows(stream: Stream) -> Iterator[tuple[int, dict[str, str]]]:
    row: dict[str, str] = {}
    first, name, start = "", "", 0
    for number, line in enumerate(stream.lines(), 1):
        found = field(line)
        if found:
            first = first or found[0]
            if row and (found[0] == first or found[0] in row):
                yield start, row
                row = {}
            start = start if row else number
            name = found[0]
            row[name] = found[1]
        elif name and not _RULE.match(line):
            row[name] = f"{row[name]}\n{line.strip()}" if line.strip() else row[name]
    if row:
        yield start, row
