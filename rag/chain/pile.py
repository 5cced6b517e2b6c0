"""Answers questions about the pile itself from its records: exact, with the count and the criterion.

    "How many papers from 2025 mention LoRA?"  ->  "2 of 3,340 papers are from 2025 and mention “LoRA”."

The papers are the references of the answer. What counts as such a question: ``rag.chain.pile_grammar``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rag.chain.criteria import Criterion
from rag.chain.pile_grammar import criteria_of, normal
from rag.chain.record import said
from rag.chain.tallies import tallied
from rag.ports import PaperStore
from rag.records import COUNTED, Citation, Filters, Paper, Sentence

_LISTED = 50
# Characters of a question that can be about records; reading a page of text for that would take minutes.
_LONGEST = 500
_SINGULAR = {"are": "is", "have": "has", "mention": "mentions"}


@dataclass(frozen=True, slots=True)
class Count:
    """The papers that pass, as a sentence that cites (the first fifty of) them."""

    sentence: Sentence
    papers: tuple[Paper, ...]


def count(question: str, store: PaperStore, filters: Filters) -> Count | None:
    """Answer a question about the pile; None when the question is about what the papers say."""
    if len(question) > _LONGEST:
        return None
    papers = cache(lambda: list(store.papers(filters)))  # read only if the question looks like one
    text = normal(question)
    if (one := tallied(text, papers) or said(text, papers)) is not None:
        return _listing(one[0], one[1], ())
    criteria = criteria_of(text, lambda: {paper.venue for paper in papers() if paper.venue})
    if criteria is None:
        return None
    passing = [paper for paper in papers() if all(criterion.test(paper) for criterion in criteria)]
    if (
        not passing
        and any(criterion.shows for criterion in criteria)
        and "how many" not in question.casefold()
    ):
        return None  # no paper says it in these words, but one may still be on it
    return _listing(_text(len(passing), papers(), criteria), passing, criteria)


def _listing(text: str, passing: Sequence[Paper], criteria: Sequence[Criterion]) -> Count:
    listed = tuple(passing[:_LISTED])
    if len(passing) > _LISTED:
        text += f" The first {_LISTED} are listed."
    citations = tuple(_citation(n, paper, criteria) for n, paper in enumerate(listed, start=1))
    return Count(Sentence(text, "supported", citations, COUNTED), listed)


def _text(passing: int, papers: Sequence[Paper], criteria: Sequence[Criterion]) -> str:
    total = len(papers)
    if not criteria:
        return f"There {'is 1 paper' if total == 1 else f'are {total:,} papers'} in the pile."
    words = " and ".join(criterion.words for criterion in criteria)
    if passing == 1:
        words = re.sub(r"(^|\band )(are|have|mention) ", lambda m: m[1] + _SINGULAR[m[2]] + " ", words)
    counted = f"{passing:,}" if passing else "None"
    text = f"{counted} of {total:,} papers {words}."
    return text + _unknown(papers, words)


def _unknown(papers: Sequence[Paper], words: str) -> str:
    """Say when the records do not know what was asked for of every paper."""
    asks_authors = " by " in f" {words} " or "author" in words
    if asks_authors and (nameless := sum(not paper.authors for paper in papers)):
        return f" ({nameless:,} without authors on record.)"
    if " from " in f" {words} " and (dateless := sum(not (paper.year or paper.venue) for paper in papers)):
        return f" ({dateless:,} without venue or year on record.)"
    return ""


def _citation(ref: int, paper: Paper, criteria: Sequence[Criterion]) -> Citation:
    for criterion in criteria:
        span = criterion.shows(paper) if criterion.shows else None
        if span is not None:
            return Citation(ref, paper.key, span.text, span.start, span.end, 1.0)
    return Citation(ref, paper.key, "", 0, 0, 1.0)
