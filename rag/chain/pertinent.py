"""Holds back what a model wrote until it gives what the question asks for.

    waiting = Waiting("How many GPUs was VinePPO trained on?", papers)
    waiting.take(sentence)     # what may be shown now: nothing, then all that was held, then each as it comes
    waiting.refused()          # at the end: true sentences that answer something else

A sentence can be true of its paper and still be no answer: whoever asks for a figure wants a figure, whoever
asks about VinePPO no other paper. Only where the rules that read the question are sure of what it asks for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag.chain import support
from rag.chain.question import Asked, read
from rag.chain.signals import are_few
from rag.chain.slots import gives
from rag.records import Paper, Sentence
from rag.text.names import Lexicon
from rag.text.sentences import Span

# Reasons, people and lists are recognised by words that an answer may well do without.
_SURE = frozenset(
    ["count", "amount", "named", "hardware", "money", "duration", "licence", "place", "language"]
)
_ELSEWHERE = re.compile(
    r"\b(?:other than|besides|apart from|except|instead of|rather than|alternatives? to|similar to|like"
    r"|unlike|beyond|without|compet\w+|rivals?)\b",
    re.IGNORECASE,
)


class Waiting:
    """The sentences of one answer, as they are checked."""

    def __init__(self, question: str, papers: Sequence[Paper]) -> None:
        self._asked = read(question)
        self._about = _named_papers(self._asked, papers)
        self._stated = self._asked.slot.kind not in _SURE
        self._on_it = not self._about
        self._held: list[Sentence] = []

    def take(self, sentence: Sentence) -> list[Sentence]:
        """Take in a checked sentence; return those that may be shown now, in the order they came."""
        self._stated = self._stated or self._states(sentence.text)
        self._on_it = self._on_it or any(citation.key in self._about for citation in sentence.citations)
        self._held.append(sentence)
        if not (self._stated and self._on_it):
            return []
        released, self._held = self._held, []
        return released

    def refused(self) -> list[Sentence]:
        """Return what is still held, as sentences that were removed, with the reason."""
        return [replace(sentence, verdict="unsupported", note=self._lacking()) for sentence in self._held]

    def _states(self, text: str) -> bool:
        return gives(self._asked, support.Sentence(Span(0, len(text), text)))

    def _lacking(self) -> str:
        if not self._stated:
            return f"does not state {self._asked.slot.words}"
        return "is about another paper than the question"


def _named_papers(asked: Asked, papers: Sequence[Paper]) -> frozenset[str]:
    """Return the papers that a name of the question picks out; none where others may be meant."""
    if _ELSEWHERE.search(asked.text):
        return frozenset()
    lexicons = {paper.key: Lexicon(paper.text) for paper in papers}
    found: set[str] = set()
    for name in (name for name in asked.names if name.strong):
        having = {key for key, lexicon in lexicons.items() if lexicon.has(name)}
        if are_few(len(having), len(papers)):
            found |= having
    return frozenset(found)
