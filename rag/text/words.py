"""Word lists written as prose."""

from __future__ import annotations

from pathlib import Path


def word_set(*lines: str) -> frozenset[str]:
    """Return the words of the lines: ``word_set("a an", "the")`` is ``{"a", "an", "the"}``."""
    return frozenset(word for line in lines for word in line.split())


def listed(file: Path) -> list[str]:
    """Return the lines of a word list in a file, without the remarks at its head."""
    return [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]


def singular(word: str) -> str:
    """Return a lower-case noun without its plural ending: "queries" is "query", "bias" stays."""
    if len(word) <= 3 or word.endswith("ss") or (len(word) > 4 and word.endswith(("us", "is", "as"))):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word
