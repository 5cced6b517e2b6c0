"""Word lists written as prose."""

from __future__ import annotations


def word_set(*lines: str) -> frozenset[str]:
    """Return the words of the lines: ``word_set("a an", "the")`` is ``{"a", "an", "the"}``."""
    return frozenset(word for line in lines for word in line.split())
