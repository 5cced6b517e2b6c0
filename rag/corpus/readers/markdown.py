"""Markdown with a heading per paper, as reading lists and conference pages have it:

    # ICML 2025
    ## ReVISE: Learning to Refine
    *Hyunseok Lee, Jihoon Tack* | [paper](https://...)
    **Abstract:** Self-awareness, i.e. ...

A heading with nothing below it groups those that follow; it gives them venue and year if it names them. One
above an introduction does so too if the next heading is deeper; else it is a paper, whose title may well name
a venue: "Findings of the WMT 2024 Shared Task".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import NamedTuple

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
    for section, following in pairwise(chain(_sections(stream), [None])):
        assert section is not None
        found = heading(_LINK.sub(r"\1", section.title))
        if not any(text.strip() for text in section.body):
            venue, year = found or (venue, year)
            continue
        is_above = following is not None and following.level > section.level
        if found and is_above and not any(field(text) for text in section.body):
            venue, year = found
            continue
        record += 1
        yield _draft(record, section, (venue, year))


class _Section(NamedTuple):
    """A heading, ``level`` 1 to 6, and the lines below it."""

    line: int
    level: int
    title: str
    body: list[str]


def _sections(stream: Stream) -> Iterator[_Section]:
    """Yield the sections; "Abstract" as a heading belongs to the section above it."""
    section: _Section | None = None
    for number, line in enumerate(stream.lines(), 1):
        match = _HEADING.match(line)
        if section and match and _PART.match(match[2]):
            section.body.append("Abstract:")
        elif match:
            if section:
                yield section
            section = _Section(number, len(match[1]), re.sub(r"^\d+[.)]\s+", "", match[2]), [])
        elif section:
            section.body.append(line)
    if section:
        yield section


def _draft(record: int, section: _Section, group: tuple[str, int | None]) -> Draft:
    title, body = section.title, section.body
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
    return fields.draft(record, row, {name: name for name in row}, section.line)


def _names(line: str) -> str:
    """Return the authors of a line that is nothing but capitalised names, else ''."""
    line = re.split(r"\s[|•·]\s", _LINK.sub("", line))[0].strip("*_ ")
    names = [name for name in re.split(r",\s*|\s+and\s+|;\s*", line) if name]
    plausible = all(1 < len(name.split()) < 6 and name[0].isupper() for name in names)
    return line if names and plausible and not re.search(r"[.!?:]$", line) and len(names) < 200 else ""
