"""Strips a reasoning model's ``<think>…</think>`` from a stream, also where a tag is cut between two pieces.

    >>> strip = ThinkFilter()
    >>> [strip.feed(piece) for piece in ("<th", "ink>hm</thi", "nk>", "Yes.")]
    ['', '', '', 'Yes.']

Some chat templates open the thought themselves, so that only the closing tag arrives: what came before it was
thought too, and ``feed`` reports that by setting ``restarted``.
"""

from __future__ import annotations

OPEN, CLOSE = "<think>", "</think>"


class ThinkFilter:
    """Holds back as little as possible: only what could be the beginning of a tag."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self.restarted = False

    def feed(self, piece: str) -> str:
        """Take the next piece, return what may be shown. ``restarted`` tells that what was shown is void."""
        self.restarted = False
        text = self._held + piece
        self._held = ""
        shown = ""
        while text:
            opened, closed = text.find(OPEN), text.find(CLOSE)
            if closed >= 0 and (self._thinking or opened < 0 or closed < opened):
                self.restarted = self.restarted or not self._thinking
                shown = shown if self._thinking else ""
                self._thinking = False
                text = text[closed + len(CLOSE) :].lstrip()
            elif opened >= 0 and not self._thinking:
                shown += text[:opened]
                self._thinking = True
                text = text[opened + len(OPEN) :]
            else:
                keep = _tag_begun(text)
                self._held = text[len(text) - keep :]
                shown += "" if self._thinking else text[: len(text) - keep]
                break
        return shown

    def flush(self) -> str:
        """The rest at the end of the stream."""
        held, self._held = self._held, ""
        return "" if self._thinking else held


def _tag_begun(text: str) -> int:
    """Length of the end of ``text`` that could be the beginning of a tag."""
    for size in range(min(len(text), len(CLOSE) - 1), 0, -1):
        if OPEN.startswith(text[-size:]) or CLOSE.startswith(text[-size:]):
            return size
    return 0
