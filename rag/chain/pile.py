"""Answers questions about the pile itself from its records: exact, with the count and the criterion.

    "How many papers from 2025 mention LoRA?"  ->  "2 of 3,340 papers are from 2025 and mention “LoRA”."

The papers are the references of the answer. What counts as such a question: ``rag.chain.criteria``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.chain.criteria import Criterion, read
from rag.ports import PaperStore
from rag.records import Citation, Filters, Paper, Sentence

_LISTED = 50


@dataclass(frozen=True, slots=True)
class Count:
    """The papers that pass, as a sentence that cites (the first fifty of) them."""

    sentence: Sentence
    papers: tuple[Paper, ...]


def count(question: str, store: PaperStore, filters: Filters) -> Count | None:
    """Answer a question about the pile; None when the question is about what the papers say."""
    if not _could_be(question):
        return None
    papers = list(store.papers(filters))
    criteria = read(question, {paper.venue for paper in papers if paper.venue})
    if criteria is None:
        return None
    passing = [paper for paper in papers if all(criterion.test(paper) for criterion in criteria)]
    if (
        not passing
        and any(criterion.shows for criterion in criteria)
        and "how many" not in question.casefold()
    ):
        return None  # no paper says it in these words, but one may still be on it
    listed = tuple(passing[:_LISTED])
    text = _text(len(passing), papers, criteria)
    if len(passing) > _LISTED:
        text += f" The first {_LISTED} are listed."
    citations = tuple(_citation(n, paper, criteria) for n, paper in enumerate(listed, start=1))
    return Count(Sentence(text, "supported", citations, "counted from the records"), listed)


def _could_be(question: str) -> bool:
    """Cheap test that spares most questions reading the records."""
    low = question.casefold()
    return any(word in low for word in ("paper", "article", "abstract", "publication", "everything", "all"))


def _text(passing: int, papers: Sequence[Paper], criteria: Sequence[Criterion]) -> str:
    total = len(papers)
    if not criteria:
        return f"There {'is 1 paper' if total == 1 else f'are {total:,} papers'} in the pile."
    words = " and ".join(criterion.words for criterion in criteria)
    if passing == 1:
        words = words.replace("are ", "is ").replace("mention ", "mentions ")
    counted = f"{passing:,}" if passing else "None"
    text = f"{counted} of {total:,} papers {words}."
    return text + _unknown(papers, words)


def _unknown(papers: Sequence[Paper], words: str) -> str:
    """Say when the records do not know what was asked for of every paper."""
    for sign, what, known in (
        (" by ", "authors", [paper for paper in papers if paper.authors]),
        (" from ", "venue or year", [paper for paper in papers if paper.year or paper.venue]),
    ):
        if sign in f" {words} " and len(known) < len(papers):
            return f" ({len(papers) - len(known):,} have no {what} on record.)"
    return ""


def _citation(ref: int, paper: Paper, criteria: Sequence[Criterion]) -> Citation:
    for criterion in criteria:
        span = criterion.shows(paper) if criterion.shows else None
        if span is not None:
            return Citation(ref, paper.key, span.text, span.start, span.end, 1.0)
    return Citation(ref, paper.key, "", 0, 0, 1.0)
