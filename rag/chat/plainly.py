"""The prompt for a terminal that can do nothing but print lines (TERM=dumb): no keys, no completion."""

from __future__ import annotations

from rag.chat.desk import Desk

SIGN = "> "
LEAVING = "Ctrl-C again, or Ctrl-D, leaves."


def run(desk: Desk, *, first: str = "") -> None:
    """Talk until the person leaves: Ctrl-D, /quit, or Ctrl-C twice."""
    pressed = False
    line = first
    while True:
        if line.strip() and _left(desk, line):
            return
        try:
            line = input(SIGN)
            pressed = False
        except EOFError:
            desk.face.text("\n")
            return
        except KeyboardInterrupt:
            desk.face.text("\n")
            if pressed:
                return
            desk.face.aside(LEAVING)
            line, pressed = "", True


def _left(desk: Desk, line: str) -> bool:
    after = desk.take(line)
    if after.draft:
        desk.face.aside("/retry asks it again.")
    desk.face.text("\n")
    return after.leave
