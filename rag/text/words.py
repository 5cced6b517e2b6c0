"""Word lists written as prose."""

from __future__ import annotations


def word_set(*lines: str) -> frozenset[str]:
    """Return the words of the lines: ``word_set("a an", "the")`` is ``{"a", "an", "the"}``."""
    return frozenset(word for line in lines for word in line.split())


def singular(word: str) -> str:
    """Return a lower-case noun without its plural ending: "queries" is "query", "bias" stays."""
    if len(word) <= 3 or word.endswith("ss") or (len(word) > 4 and word.endswith(("us", "is", "as"))):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word
