"""Finds a quotation in a text and says where it stands in the original.

    >>> text = "We reach **7.66×** \\u201cspeed\\u201d, i.e. more."
    >>> find('we reach 7.66x "speed"', Haystack(text))
    (0, 25)
    >>> find("we reach 7.6", Haystack(text)) is None
    True

First as it is, then folded (case, spaces, dashes, quotation marks, accents, invisible characters), then by
its words and signs alone (Markdown, LaTeX and punctuation left out). Every word of the quotation must
follow every other: nothing is skipped, and it neither begins nor ends inside a word or a number.
"""

from __future__ import annotations

import re
from functools import cached_property

from rag.text.normalise import Folded, fold

# What carries meaning in a quotation: words, decimals, signs before digits, percent and comparison signs.
_SIGNIFICANT = re.compile(
    r"\\times|\\(?:geq?|leq?|pm|sim|approx|mu|%)|[^\W_]+|(?<=\d)[.,^/](?=\d)|[-+](?=\d)|[%±<>≤≥=≠≈~×\u0338]"
)
_LATEX = {
    r"\times": "x", r"\ge": "≥", r"\geq": "≥", r"\le": "≤", r"\leq": "≤", r"\pm": "±", r"\sim": "~",
    r"\approx": "≈", r"\mu": "μ", r"\%": "%", "×": "x",
}  # fmt: skip
_ELLIPSIS = re.compile(r"\s*(?:\[?\.\.\.\]?|…|\[…\])\s*")
_EDGES = " \t\n.,;:!?\"'“”‘’«»*_`…"
_SHORTEST = 2
_LONGEST_GAP = 300


class Haystack:
    """A text prepared for finding quotations in it; the preparation is done once, when first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def folded(self) -> Folded:
        return fold(self.text)

    @cached_property
    def low(self) -> str:
        return _lower(self.folded.text)

    @cached_property
    def bare(self) -> tuple[str, tuple[int, ...]]:
        """The significant characters of the folded text, and where each stands in it."""
        return _bare(self.low)


def find(quote: str, haystack: Haystack) -> tuple[int, int] | None:
    """Return (start, end) of ``quote`` in the original text, or None.

    A quotation with an ellipsis is found when its parts follow one another at no great distance; the range
    then spans from the first part to the last. A single word is no quotation.
    """
    parts = [part for part in _ELLIPSIS.split(quote) if part.strip(_EDGES)]
    if not parts or len(quote.split()) < _SHORTEST:
        return None
    whole = _find_part(quote, haystack, 0)
    if whole is not None or len(parts) == 1:
        return whole
    return _find_parts(parts, haystack)


def _find_parts(parts: list[str], haystack: Haystack) -> tuple[int, int] | None:
    start, end = -1, 0
    for part in parts:
        found = _find_part(part, haystack, end)
        if found is None or (start >= 0 and found[0] - end > _LONGEST_GAP):
            return None
        start, end = (found[0] if start < 0 else start), found[1]
    return start, end


def _find_part(part: str, haystack: Haystack, after: int) -> tuple[int, int] | None:
    trimmed = part.strip(_EDGES)
    exact = _bounded(haystack.text, trimmed, after)
    if exact is not None:
        return exact
    low = _lower(fold(trimmed).text).strip(_EDGES)
    if not low:
        return None
    offset = sum(1 for o in haystack.folded.origin if o < after) if after else 0
    near = _bounded(haystack.low, low, offset)
    if near is not None:
        return haystack.folded.back(*near)
    return _find_bare(low, haystack, offset)


def _find_bare(low: str, haystack: Haystack, offset: int) -> tuple[int, int] | None:
    needle, _ = _bare(low)
    if len(needle) < 4:
        return None
    text, places = haystack.bare
    at = text.find(needle)
    while at >= 0:
        start, end = places[at], places[at + len(needle) - 1] + 1
        if start >= offset and _is_boundary(haystack.low, start) and _is_boundary(haystack.low, end):
            return haystack.folded.back(start, end)
        at = text.find(needle, at + 1)
    return None


def _bare(low: str) -> tuple[str, tuple[int, ...]]:
    chars: list[str] = []
    places: list[int] = []
    for match in _SIGNIFICANT.finditer(low):
        sign = _LATEX.get(match[0])
        chars.append(sign or match[0])
        places.extend((match.start(),) if sign else range(match.start(), match.end()))
    return "".join(chars), tuple(places)


def _bounded(text: str, needle: str, after: int) -> tuple[int, int] | None:
    at = text.find(needle, after)
    while at >= 0:
        if _is_boundary(text, at) and _is_boundary(text, at + len(needle)):
            return at, at + len(needle)
        at = text.find(needle, at + 1)
    return None


def _is_boundary(text: str, at: int) -> bool:
    """Whether a word or number may begin or end here; "7.6|6", "un|able" and "1|,000" are none."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before.isalnum() and after.isalnum():
        return False
    if after in ".," and before.isdigit() and text[at + 1 : at + 2].isdigit():
        return False
    return not (before in ".," and after.isdigit() and text[at - 2 : at - 1].isdigit())


def _lower(text: str) -> str:
    """Return lower case of the same length (only "İ" would grow, and folding has taken its dot)."""
    return (
        "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
        if not text.isascii()
        else (text.lower())
    )
