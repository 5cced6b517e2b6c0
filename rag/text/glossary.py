"""Terms of machine learning, as opposed to everyday words.

    >>> [term.text for term in terms("Does anyone use state space models for a quick poem?")]
    ['state space', 'space', 'space models']

Whoever asks in words of their own ("a quick poem") may mean a paper that has none of them. Whoever asks with
a term of the field means that, and a paper about it would use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from rag.text.normalise import plain
from rag.text.stem import stem
from rag.text.tokens import Token, tokens
from rag.text.words import listed

FILE = Path(__file__).parents[1] / "data" / "glossary.txt"


@dataclass(frozen=True, slots=True)
class Term:
    """One or two words of a text that are a term; ``text`` as written there, folded."""

    text: str
    words: tuple[Token, ...]


@lru_cache(maxsize=1)
def _glossary() -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(map(stem, line.split())) for line in listed(FILE))


def terms(text: str, words: Sequence[Token] | None = None) -> list[Term]:
    """Return the terms in ``text``, in its order; if ``words`` of it are given, those made of these alone."""
    found = tokens(text) if words is None else words
    groups = [*((token,) for token in found), *side_by_side(found, text)]
    known = _glossary()
    kept = [group for group in groups if tuple(token.stem for token in group) in known]
    kept.sort(key=lambda group: (group[0].start, len(group)))
    written = plain(text)
    return [Term(written[group[0].start : group[-1].end], group) for group in kept]


def side_by_side(words: Sequence[Token], text: str) -> list[tuple[Token, Token]]:
    """Return the pairs of ``words`` between which nothing but a space or a hyphen stands in ``text``."""
    written = plain(text)
    return [(a, b) for a, b in pairwise(words) if not written[a.end : b.start].strip(" -")]
