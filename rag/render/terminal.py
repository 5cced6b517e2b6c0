"""Lines for a terminal, through Rich: colours by role, wrapped at the window's width with hanging indents.

Only ``Text`` objects are printed, never markup, so ``[bold]`` in a title is five characters in brackets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rag.records import Paper
from rag.render import layout, safe
from rag.render.layout import Line

STYLES: Mapping[str, str] = MappingProxyType(
    {
        "": "",
        "head": "bold",
        "title": "bold",
        "ref": "cyan",
        "dim": "dim",
        "url": "blue underline",
        "match": "bold yellow",
        "weak": "yellow",
        "struck": "strike dim",
        "key": "green",
        "bad": "bold red",
    }
)
WIDEST = 100  # longer lines are hard to read, however wide the window


def show(console: Console, lines: Iterable[Line]) -> None:
    """Print the lines."""
    width = min(console.width, WIDEST)
    for line in lines:
        for row in _rows(console, line, width):
            console.print(row, soft_wrap=True)


def table(console: Console, papers: Sequence[Paper]) -> None:
    """Print one paper a row; the title takes what is left and is cut there, keys are never cut."""
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    grid.add_column("key", style="green", no_wrap=True)
    grid.add_column("year", style="dim", no_wrap=True)
    grid.add_column("title", no_wrap=True, overflow="ellipsis", ratio=1)
    for paper in papers:
        year = str(paper.year) if paper.year else ""
        grid.add_row(Text(safe.line(paper.key)), Text(year), Text(layout.heading(paper)))
    console.print(grid)


def _rows(console: Console, line: Line, width: int) -> Iterable[Text]:
    text = Text.assemble(*((piece.text, STYLES[piece.style]) for piece in line.pieces))
    text.rstrip()
    room = max(width - line.indent - line.hang, 16)
    whole = not text or line.pieces[-1].style == "url"  # an address that is cut cannot be clicked
    rows = [text] if whole else text.wrap(console, room)
    for number, row in enumerate(rows):
        row.rstrip()
        yield Text(" " * (line.indent + (line.hang if number else 0))) + row
