"""``rag chat`` in a real pseudo-terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
from rich.cells import cell_len

ROOT = Path(__file__).parents[1]
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[]PX^_].*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|\x08|\x07")
PATIENCE = 60
WHERE = "\x1b[6n"
BEGINS = "\x1b[?2004h"  # sent once for each line that is asked for, and not when it is drawn again


class Window:
    """A window with ``rag chat`` in it."""

    def __init__(self, child: pexpect.spawn[str]) -> None:
        self.child = child
        self.seen = ""

    def wait(self, text: str) -> str:
        """Wait for ``text``; return what came before it, without escape sequences."""
        raw = ""
        while True:
            asked = self.child.expect_exact([WHERE, text], timeout=PATIENCE) == 0
            raw += f"{self.child.before}{self.child.after}"
            if not asked:
                break
            self.child.send("\x1b[1;1R")  # as a terminal says where its cursor is
        self.seen += raw
        return ESCAPES.sub("", raw)

    def prompt(self) -> str:
        """Wait until a line can be typed; return what was shown before."""
        shown = self.wait(BEGINS)
        self.wait("› ")
        return shown

    def type(self, text: str) -> None:
        self.child.send(text)

    def enter(self, text: str) -> None:
        self.child.send(text + "\r")

    def leave(self) -> int:
        """Press Ctrl-D, and return the exit code."""
        for _ in range(PATIENCE // 3):
            self.child.sendeof()  # lost when it comes just before the prompt reads keys
            if self.child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=3) == 0:
                break
        return self.end()

    def end(self) -> int:
        if self.child.after is not pexpect.EOF:
            self.child.expect(pexpect.EOF, timeout=PATIENCE)
        self.seen += str(self.child.before)
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -1)


@contextmanager
def window(
    *words: str, rows: int = 30, columns: int = 80, env: dict[str, str] | None = None
) -> Iterator[Window]:
    """Start ``rag chat`` with ``words`` in a window of its own."""
    given = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), **(env or {})}
    child: pexpect.spawn[str] = pexpect.spawn(
        sys.executable,
        ["-m", "rag", "chat", *words],
        env=given,
        dimensions=(rows, columns),
        encoding="utf-8",
        timeout=PATIENCE,
    )
    try:
        yield Window(child)
    finally:
        child.close(force=True)


def widest(text: str) -> int:
    """Columns of the longest row of what was printed."""
    return max(cell_len(row) for row in re.split(r"[\r\n]+", ESCAPES.sub("", text)))
