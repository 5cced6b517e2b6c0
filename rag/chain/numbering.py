"""Numbers the cited papers by first appearance, while sentences are still coming.

    numbering = Numbering({"lee2025revise": paper, ...})
    numbering.numbered(sentence)        # its citations as [1], [2], ... in the order in which papers appear
    numbering.references()              # the same papers, in that order

A reader sees [1] before [2], whatever order the papers were retrieved in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag.records import Paper, Reference, Sentence


class Numbering:
    """One answer's references. ``papers`` are those that may be cited, by key."""

    def __init__(self, papers: Mapping[str, Paper]) -> None:
        self._papers = papers
        self._refs: dict[str, int] = {}

    def numbered(self, sentence: Sentence) -> Sentence:
        """Return the sentence with its citations numbered; a paper that is new gets the next number."""
        citations = tuple(
            replace(citation, ref=self._refs.setdefault(citation.key, len(self._refs) + 1))
            for citation in sentence.citations
            if citation.key in self._papers
        )
        return replace(sentence, citations=citations)

    def within(self, sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
        """Number sentences that are no part of the answer: they bring in no paper of their own."""
        return tuple(
            replace(
                sentence,
                citations=tuple(
                    replace(c, ref=self._refs[c.key]) for c in sentence.citations if c.key in self._refs
                ),
            )
            for sentence in sentences
        )

    def references(self) -> tuple[Reference, ...]:
        """The papers cited so far."""
        return tuple(Reference(ref, self._papers[key]) for key, ref in self._refs.items())
