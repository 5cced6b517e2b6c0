"""Finds papers for a question: dense and keyword search, fused by weighted score.

    Retriever(store=library, vectors=chroma, keywords=bm25, embedder=minilm).search("What is SpecPrefill?")

Either search gives its 200 best papers. Their scores are stretched to [0, 1] (the best 1, the worst 0, one
that it did not find 0) and added: w * keyword + (1 - w) * dense. A paper scores by its best passage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from rag.errors import EnvironmentFault
from rag.ports import Embedder, KeywordIndex, PaperStore, VectorStore
from rag.records import Filters, Hit

DEPTH = 200
# Depth and weight were chosen on five collections (docs/retrieval.md); between .4 and .5 little changes.
WEIGHT = 0.45
_ALL = Filters()
_ATTEMPTS = 5
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retriever:
    """Searches one index. ``weight`` is the share of the keyword score, from 0 (dense only) to 1."""

    store: PaperStore
    vectors: VectorStore
    keywords: KeywordIndex
    embedder: Embedder
    weight: float = WEIGHT

    def search(self, question: str, top: int = 10, filters: Filters = _ALL) -> list[Hit]:
        """Return the ``top`` papers, best first; none when nothing passes the filters."""
        question = question.strip()
        if not question or top < 1:
            return []
        for _ in range(_ATTEMPTS):
            before = self.store.fingerprint()
            hits = self._search(question, top, filters)
            if self.store.fingerprint() == before:
                break  # else a writer published in the middle, and the parts may not belong together
        return hits

    def _search(self, question: str, top: int, filters: Filters) -> list[Hit]:
        allowed = self.store.keys(filters) if filters else None
        nearest = self._nearest_passages(question, allowed)
        dense = {key: score for key, (_, score) in nearest.items()}
        keyword = dict(self.keywords.search(question, DEPTH, allowed))
        fused = fuse(keyword, dense, self.weight)
        ranked = sorted(fused, key=lambda key: (-fused[key], key))[:top]
        places = {"dense": _ranks(dense), "keyword": _ranks(keyword)}
        scores = {"dense": dense, "keyword": keyword}
        texts = self.store.passages(nearest[key][0] for key in ranked if key in nearest)
        first = self.store.passages_of(key for key in ranked if key not in nearest)
        papers = self.store.papers_of(ranked)
        hits = []
        for key in ranked:
            paper = papers.get(key)
            passage = texts.get(nearest[key][0]) if key in nearest else next(iter(first.get(key, [])), None)
            if paper is not None and passage is not None:
                hits.append(Hit(paper, passage, fused[key], _of(places, key), _of(scores, key)))
        return hits

    def _nearest_passages(
        self, question: str, allowed: frozenset[str] | None
    ) -> dict[str, tuple[str, float]]:
        """The nearest ``DEPTH`` papers, each with the id of its nearest passage and that one's cosine."""
        ids = None if allowed is None else self.store.passage_ids(allowed)
        vector = self.embedder.embed([question])[0]
        wanted = 2 * DEPTH
        while True:
            found = self.vectors.query(vector, wanted, ids)
            if not found and ids is None and self.store.count_passages():
                raise _no_vectors()
            owners = self.store.owners(id_ for id_, _ in found)
            best: dict[str, tuple[str, float]] = {}
            for id_, score in found:
                if id_ in owners and len(best) < DEPTH:
                    best.setdefault(owners[id_], (id_, score))
            if len(best) >= DEPTH or len(found) < wanted:
                return best
            wanted *= 4  # many passages of few papers, or not published ones, were in the way


def _no_vectors() -> EnvironmentFault:
    return EnvironmentFault(
        "The vector store of the index is empty although the index has papers.",
        "Repair it with: rag index verify",
    )


def fuse(keyword: Mapping[str, float], dense: Mapping[str, float], weight: float) -> dict[str, float]:
    """Return the weighted sum of both scores, each stretched to [0, 1].

    >>> fuse({"a": 9.0, "b": 3.0}, {"b": 0.8, "c": 0.2}, weight=0.5)
    {'a': 0.5, 'b': 0.5, 'c': 0.0}
    """
    keyword, dense = _stretched(keyword), _stretched(dense)
    keys = dict.fromkeys([*keyword, *dense])
    return {key: weight * keyword.get(key, 0.0) + (1 - weight) * dense.get(key, 0.0) for key in keys}


def _stretched(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores moved to [0, 1]; when all are equal, all are 1, since each of them was found."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def _ranks(scores: Mapping[str, float]) -> dict[str, int]:
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: rank for rank, key in enumerate(ordered, start=1)}


def _of(by_retriever: Mapping[str, Mapping[str, T]], key: str) -> dict[str, T]:
    return {name: values[key] for name, values in by_retriever.items() if key in values}
