"""Answers with sentences of the abstracts themselves, chosen and ordered by code; see ``extract``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.chain.abstain import Decision
from rag.records import Hit, Sentence

Similarity = Callable[[str, str], float]


@dataclass(frozen=True, slots=True)
class Extraction:
    """Chosen sentences, or none when ``decision.answer`` is false.

    Citations are numbered by first appearance: ``papers[n - 1]`` is the hit that [n] points at.
    """

    sentences: tuple[Sentence, ...]
    papers: tuple[Hit, ...]
    decision: Decision


def extract(
    question: str,
    hits: Sequence[Hit],
    *,
    similarity: Similarity | None = None,
    idf: Callable[[str], float] | None = None,
) -> Extraction:
    """Choose one to four sentences that answer ``question``, or abstain.

    Args:
        question: as asked.
        hits: one per paper, best first.
        similarity: cosine similarity of two texts, with the caller's cache of vectors; optional.
        idf: rarity of a word in the pile, ln(papers / papers with it); without it, that of the hits.
    """
    raise NotImplementedError
