"""A spinner on the last line: with its label where that is empty, else one sign behind the text.

with spinner.turning(lambda: "Reading"):
    with spinner.hidden(lambda: flow.column):
        print("a sentence", end="")
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.cells import set_cell_size

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_EVERY = 0.1
_PATIENCE = 0.15  # seconds before it appears: what is done at once needs none


class Spinner:
    """Draws on ``out`` from a thread of its own, only between ``turning`` and what is ``hidden``."""

    def __init__(self, out: TextIO, width: Callable[[], int]) -> None:
        self._out, self._width = out, width
        self._lock = threading.Lock()
        self._drawn = ""
        self._column = 0

    @contextmanager
    def turning(self, label: Callable[[], str]) -> Iterator[None]:
        """Turn until the end of the block; ``label`` is asked anew each time."""
        stop = threading.Event()
        thread = threading.Thread(target=self._turn, args=(label, stop), daemon=True)
        self._column = 0
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            with self._lock:
                self._erase()

    @contextmanager
    def hidden(self, column: Callable[[], int]) -> Iterator[None]:
        """Keep off the screen during the block; ``column`` tells where its printing ended."""
        with self._lock:
            self._erase()
            try:
                yield
            finally:
                self._column = int(column())

    def _turn(self, label: Callable[[], str], stop: threading.Event) -> None:
        frame = 0
        if stop.wait(_PATIENCE):
            return
        while True:
            with self._lock:
                self._erase()
                self._draw(_FRAMES[frame % len(_FRAMES)], label())
            frame += 1
            if stop.wait(_EVERY):
                return

    def _draw(self, sign: str, label: str) -> None:
        if self._column == 0:
            room = max(self._width() - 4, 1)
            self._drawn = f"{sign} " + set_cell_size(label, min(len(label), room))
            self._out.write(f"\x1b[2m{self._drawn}\x1b[0m")
        elif self._column < self._width() - 1:
            self._drawn = sign
            self._out.write(f"\x1b[2m{sign}\x1b[0m\b")
        self._out.flush()

    def _erase(self) -> None:
        if self._drawn:
            self._out.write("\r\x1b[K" if self._column == 0 else "\x1b[K")
            self._out.flush()
        self._drawn = ""
