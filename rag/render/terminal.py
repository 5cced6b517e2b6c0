"""Lines for a terminal, through Rich: colours by role, wrapped at the window's width with hanging indents.

Only ``Text`` objects are printed, never markup, so ``[bold]`` in a title is five characters in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from rag.records import Paper
from rag.render import layout, safe
from rag.render.layout import Line, Piece

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
NARROWEST = 30  # columns for a title beside its key
WIDEST = 100  # longer lines are hard to read, however wide the window


def show(console: Console, lines: Iterable[Line]) -> None:
    """Print the lines."""
    width = min(console.width, WIDEST)
    for line in lines:
        for row in _rows(console, line, width):
            console.print(row, soft_wrap=True)


class Flow:
    """Prints pieces as they come, wrapped between words at the window's width; ``end`` closes the paragraph.

    ``column`` is where the cursor stands. What no space divides stays together: ``[1].`` never begins a row.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._word, self._space = Text(), ""
        self.column = 0

    def add(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            for part in re.findall(r"\S+|\s+", piece.text):
                if part.isspace():
                    self._put()
                    self._space = " "
                else:
                    self._word.append(part, STYLES[piece.style])

    def end(self) -> None:
        self._put()
        if self.column:
            self._console.print()
        self.column, self._space = 0, ""

    def _put(self) -> None:
        """Print the word that is complete now; the space before it only when both fit the row."""
        if not self._word:
            return
        room = min(self._console.width, WIDEST) - self.column  # asked anew: windows are resized
        if self.column and len(self._space) + self._word.cell_len > room:
            self._console.print()
            self.column, self._space = 0, ""
        text = Text(self._space if self.column else "") + self._word
        self._console.print(text, end="", soft_wrap=True)
        self.column += text.cell_len
        self._word, self._space = Text(), ""


def table(console: Console, papers: Sequence[Paper]) -> None:
    """Print key, year and title of one paper a row; a title is cut where the row ends, a key never.

    In a narrow window the title goes below, whole.
    """
    widest = max((cell_len(safe.line(paper.key)) for paper in papers), default=0)
    room = console.width - widest - len("  2025  ")
    if room >= NARROWEST:
        for paper in papers:
            key, title = safe.line(paper.key), Text(layout.heading(paper))
            title.truncate(room, overflow="ellipsis")
            row = (
                (set_cell_size(key, widest + 2), STYLES["key"]),
                (f"{paper.year or '':<6}", STYLES["dim"]),
                title,
            )
            console.print(Text.assemble(*row), soft_wrap=True)
        return
    for paper in papers:
        year = f"  {paper.year}" if paper.year else ""
        show(console, [Line((Piece(safe.line(paper.key), "key"), Piece(year, "dim")))])
        show(console, [Line((Piece(layout.heading(paper)),), indent=2)])


def _rows(console: Console, line: Line, width: int) -> Iterable[Text]:
    text = Text.assemble(*((piece.text, STYLES[piece.style]) for piece in line.pieces))
    text.rstrip()
    rows = [text] if line.whole or not text else _wrapped(console, text, width - line.indent, line.hang)
    for number, row in enumerate(rows):
        row.rstrip()
        yield Text(" " * (line.indent + (line.hang if number else 0))) + row


def _wrapped(console: Console, text: Text, width: int, hang: int) -> list[Text]:
    """Wrap; rows after the first are ``hang`` columns narrower."""
    first = text.wrap(console, max(width, 16))[0]
    head, rest = text.divide([len(first.plain)])
    rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
    return [head, *(rest.wrap(console, max(width - hang, 16)) if rest else ())]
