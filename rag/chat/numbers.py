"""Numbers of papers in a conversation: the first time a paper is shown it gets the next one, and keeps it.

numbers = Numbers({1: anyedit})
numbers.answer(found)        # VinePPO, its own [1], becomes [2]; AnyEdit is [1] again
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from rag.records import Answer, Paper, Reference, Sentence

Lookup = Callable[[str], Paper | None]


class Numbers:
    """``papers`` are those shown so far, by number."""

    def __init__(self, papers: Mapping[int, Paper] | None = None) -> None:
        self.papers = dict(papers or {})
        self._refs = {paper.key: ref for ref, paper in self.papers.items()}

    def of(self, paper: Paper) -> int:
        """Return the number of a paper, the next one if it is new."""
        ref = self._refs.setdefault(paper.key, max(self.papers, default=0) + 1)
        self.papers[ref] = paper
        return ref

    def sentence(self, one: Sentence, lookup: Lookup) -> tuple[Sentence, tuple[Reference, ...]]:
        """Number a sentence, and return the papers it cites with their numbers."""
        found = {c.key: paper for c in one.citations if (paper := lookup(c.key))}
        refs = {key: self.of(paper) for key, paper in found.items()}
        return self._with(one, refs), tuple(Reference(refs[key], paper) for key, paper in found.items())

    def answer(self, found: Answer) -> Answer:
        """Number a whole answer; its references are ordered by number."""
        references = self._references(found.references)
        refs = {reference.paper.key: reference.ref for reference in references}
        return replace(
            found,
            sentences=tuple(self._with(sentence, refs) for sentence in found.sentences),
            removed=tuple(self._with(sentence, refs) for sentence in found.removed),
            references=tuple(sorted(references, key=lambda reference: reference.ref)),
            nearest=tuple(self._references(found.nearest)),
        )

    def _references(self, references: Iterable[Reference]) -> Sequence[Reference]:
        return [Reference(self.of(reference.paper), reference.paper) for reference in references]

    @staticmethod
    def _with(one: Sentence, refs: Mapping[str, int]) -> Sentence:
        citations = tuple(replace(c, ref=refs[c.key]) for c in one.citations if c.key in refs)
        return replace(one, citations=citations)
