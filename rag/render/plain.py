"""Lines for a pipe, a file or a terminal without colour: no wrapping, no escapes, one logical line a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag.records import Paper
from rag.render import safe
from rag.render.layout import Line


def text(lines: Iterable[Line]) -> str:
    """Return the lines as text, each ended by a line break."""
    return "".join(_line(line) + "\n" for line in lines)


def table(papers: Sequence[Paper]) -> str:
    """One paper a line, tab-separated (key, year, venue, title), for ``cut``, ``grep`` and ``awk``."""
    return "".join("\t".join(_cells(paper)) + "\n" for paper in papers)


def _cells(paper: Paper) -> tuple[str, ...]:
    values = (paper.key, paper.year, paper.venue, paper.title or paper.abstract[:80])
    return tuple(safe.line(str(value)) if value is not None else "" for value in values)


def _line(line: Line) -> str:
    return (" " * line.indent + "".join(piece.text for piece in line.pieces)).rstrip()
