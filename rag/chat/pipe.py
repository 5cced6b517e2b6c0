"""Questions from a pipe or a file, one a line: printf 'q1\nq2\n' | rag chat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from rag.chat.desk import Desk
from rag.render import safe


def run(desk: Desk, lines: Iterable[str], out: TextIO) -> bool:
    """Take every line, each repeated before its answer; return whether all could be done.

    The end of the input, or /quit, is the end.
    """
    fine = True
    for line in lines:
        text = line.strip()
        if not text:
            continue
        out.write(f"> {safe.line(text)}\n")
        after = desk.take(text)
        out.write("\n")
        fine = fine and not after.failed
        if after.leave:
            break
    out.flush()
    return fine
