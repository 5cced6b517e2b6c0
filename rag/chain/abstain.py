"""Decides from the evidence whether the pile answers a question; see ``decide``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.records import Hit, Sentence

Similarity = Callable[[str, str], float]


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to answer; if not, why (a sentence for the reader) and the nearest papers, best first.

    ``confidence`` in [0, 1] is what was compared with the threshold, given for both outcomes.
    """

    answer: bool
    confidence: float
    reason: str | None = None
    nearest: tuple[Hit, ...] = ()


def decide(
    question: str,
    hits: Sequence[Hit],
    *,
    similarity: Similarity | None = None,
    idf: Callable[[str], float] | None = None,
) -> Decision:
    """Decide before any model is asked (model mode) or any sentence shown (extractive mode)."""
    raise NotImplementedError


def nothing_left(question: str, hits: Sequence[Hit], removed: Sequence[Sentence]) -> Decision:
    """Return the abstention for an answer none of whose sentences passed the check."""
    raise NotImplementedError
