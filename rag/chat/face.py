"""How a conversation looks: in colour in a terminal, wrapped without colour in a poor one, plain in a pipe.

face = face_for(sys.stdout, sys.stderr)
with face.waiting(lambda: "Opening the papers"):    # a spinner, where there can be one
    ...
face.sentence(one, "model")                         # flows into the paragraph of the answer
face.lines(view.sources(papers))
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol, TextIO

from rich.console import Console

from rag.chat.spinner import Spinner
from rag.errors import RagError
from rag.records import Mode, Sentence
from rag.render import layout, plain, safe, terminal
from rag.render.layout import Line, Piece


class Face(Protocol):
    """What can be shown. ``sentence`` opens a paragraph if none is open; everything else closes it."""

    def lines(self, laid_out: Sequence[Line]) -> None: ...

    def text(self, result: str) -> None: ...

    def sentence(self, one: Sentence, mode: Mode) -> None: ...

    def aside(self, text: str) -> None: ...

    def error(self, failure: RagError) -> None: ...

    def waiting(self, label: Callable[[], str]) -> AbstractContextManager[None]: ...

    def paragraph(self) -> None: ...


class Pipe:
    """Plain text: answers to ``out``, asides and errors to ``err``."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out, self._err = out, err
        self._open = False

    def lines(self, laid_out: Sequence[Line]) -> None:
        self.text(plain.text(laid_out))

    def text(self, result: str) -> None:
        self.paragraph()
        self._out.write(result)
        self._out.flush()

    def sentence(self, one: Sentence, mode: Mode) -> None:
        text = "".join(piece.text for piece in layout.sentence(one, mode)).rstrip()
        self._out.write(f" {text}" if self._open else text)
        self._open = True
        self._out.flush()

    def paragraph(self) -> None:
        if self._open:
            self._out.write("\n")
        self._open = False

    def aside(self, text: str) -> None:
        self._err.write(safe.line(text) + "\n")
        self._err.flush()

    def error(self, failure: RagError) -> None:
        self.paragraph()
        self._out.flush()
        self._err.write(f"Error: {safe.line(str(failure))}\n")
        self._err.flush()

    def waiting(self, label: Callable[[], str]) -> AbstractContextManager[None]:  # noqa: ARG002
        return nullcontext()


class Terminal:
    """A person's window: wrapped at its present width; with colours and a spinner where it can show them."""

    def __init__(self, out: TextIO, *, rich: bool) -> None:
        self._out = out
        if rich:
            self._console = Console(file=out, highlight=False)
        else:
            self._console = Console(file=out, highlight=False, color_system=None, force_terminal=True)
        self._spinner = Spinner(out, self._width) if rich else None
        self._flow: terminal.Flow | None = None

    def _width(self) -> int:
        return self._console.width

    def lines(self, laid_out: Sequence[Line]) -> None:
        self.paragraph()
        with self._quiet():
            terminal.show(self._console, laid_out)

    def text(self, result: str) -> None:
        self.paragraph()
        with self._quiet():
            self._out.write(result)
            self._out.flush()

    def sentence(self, one: Sentence, mode: Mode) -> None:
        with self._quiet():
            self._flow = self._flow or terminal.Flow(self._console)
            self._flow.add(layout.sentence(one, mode))

    def paragraph(self) -> None:
        if self._flow is not None:
            with self._quiet():
                self._flow.end()
        self._flow = None

    def aside(self, text: str) -> None:
        self.lines([Line((Piece(safe.line(text), "dim"),), hang=2)])

    def error(self, failure: RagError) -> None:
        remedy = Piece(f" {safe.line(failure.remedy)}" if failure.remedy else "")
        self.lines([Line((Piece("Error: ", "bad"), Piece(safe.line(failure.message)), remedy))])

    @contextmanager
    def waiting(self, label: Callable[[], str]) -> Iterator[None]:
        if self._spinner is None:
            yield
            return
        with self._spinner.turning(label):
            yield

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Take the spinner off while something is printed, and put it behind what was printed."""
        if self._spinner is None:
            yield
            return
        with self._spinner.hidden(lambda: self._flow.column if self._flow else 0):
            yield


def face_for(out: TextIO, err: TextIO) -> Face:
    """Return the face that suits where the output goes."""
    if not out.isatty():
        return Pipe(out, err)
    return Terminal(out, rich=is_capable())


def is_capable() -> bool:
    """Whether the terminal shows colours and lets the cursor move."""
    return os.environ.get("TERM", "") not in ("dumb", "unknown", "") and not os.environ.get("NO_COLOR")
