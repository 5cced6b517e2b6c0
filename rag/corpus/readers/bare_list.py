"""Abstracts one after another, parted by blank lines, below a heading that names venue and year.

    ICML 2025 Papers

    Self-awareness, i.e., the ability to ...

    Current Large Language Model (LLM) ...

A further heading starts a further list. Where short and long blocks alternate, the short ones are titles.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rag.corpus.drafts import Broken, Draft
from rag.corpus.streams import Head, Stream
from rag.corpus.venues import heading

NAME = "abstract list"
Block = tuple[int, list[str]]  # number of its first line, its lines

_SHORT, _LONG = 25, 30  # words: a title or heading has fewer, an abstract more


def detects(head: Head) -> bool:
    """A heading above long paragraphs, or at least mostly long paragraphs of prose."""
    blocks = list(_blocks(iter(head.lines())))
    if not blocks:
        return False
    long = sum(_words(lines) >= _LONG and _is_prose(" ".join(lines)) for _, lines in blocks)
    headed = heading(blocks[0][1][0]) is not None
    return long > 0 and (headed or long >= len(blocks) / 2)


def read(stream: Stream) -> Iterator[Draft | Broken]:
    """Yield one draft per abstract, with venue and year of the heading above it."""
    venue, year, record = "", None, 0
    title = ""
    titled = _has_titles(stream)
    for line, lines in _blocks(stream.lines()):
        found = heading(lines[0])
        wrapped = len(lines) > 1 and len(lines[0].split()) > 8  # it begins an abstract, and is no heading
        body = lines
        if found and not wrapped:
            (venue, year), body = found, lines[1:]
        if not body:
            continue
        if _words(body) < _SHORT and titled and not title:
            title = " ".join(body)
            continue
        record += 1
        text = "\n".join(body)
        if _words(body) < 8 and not title:
            yield Broken(record, f"is too short for an abstract: {text[:60]!r}", line)
        else:
            yield Draft(record, abstract=text, title=title, venue=venue, year=year, line=line)
        title = ""
    if title:
        yield Broken(record + 1, f"has no abstract: {title[:60]!r}")


def _blocks(lines: Iterator[str]) -> Iterator[Block]:
    """Part lines at blank ones; a heading right above its first abstract stays in that block."""
    numbered = enumerate(lines, 1)
    for blank, group in groupby(numbered, key=lambda item: not item[1].strip()):
        if not blank:
            block = list(group)
            yield block[0][0], [line.strip() for _, line in block]


def _has_titles(stream: Stream) -> bool:
    """Whether short blocks and long blocks alternate throughout, as titles and abstracts do."""
    kinds = [
        _words(lines) >= _LONG for _, lines in _blocks(stream.lines()) if heading(" ".join(lines)) is None
    ]
    return len(kinds) > 1 and kinds == [False, True] * (len(kinds) // 2)


def _words(lines: list[str]) -> int:
    return sum(len(line.split()) for line in lines)


def _is_prose(text: str) -> bool:
    letters = sum(char.isalpha() or char.isspace() for char in text)
    return letters > 0.75 * len(text) and "." in text
