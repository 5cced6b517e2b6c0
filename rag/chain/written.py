"""Model mode: the chosen papers go to a model, each sentence that comes back is checked before it is shown.

    written = Written(question, chosen, pile, writer, options)
    for sentence in written.sentences(): ...        # checked, with the evidence's numbers
    written.removed, written.dropped_quotes

The sentences still carry the numbers of the evidence; ``rag.chain.numbering`` gives them those of the answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import chain

from rag.chain.checkers import DraftChecker, Entailed, Unchecked
from rag.chain.evidence import Chosen, Packed, pack
from rag.chain.generate import Writing
from rag.chain.pertinent import Waiting
from rag.chain.setup import Options, Pile, Writer
from rag.chain.verify import Checker, single
from rag.ports import ChatRequest
from rag.records import Draft, PromptInfo, Sentence
from rag.text.size import tokens_in

_ROOM = 64  # tokens of the context window that are left free: the count is an estimate
_LEAST_EVIDENCE = 200


class Written:
    """One answer by a model.

    Attributes:
        packed: the papers that were put before the model.
        removed: sentences that failed the check.
        beside: what true sentences do not give, where none that was asked for was among them.
        verify_s: seconds that checking took.
    """

    def __init__(self, question: str, chosen: Chosen, pile: Pile, writer: Writer, options: Options) -> None:
        self.packed = packed_for(question, chosen, writer, options)
        self.removed: list[Sentence] = []
        self.beside: str | None = None
        self.dropped_quotes = self.invalid_refs = 0
        self.verify_s = 0.0
        self._question, self._options = question, options
        self._compared = chosen.compared
        self._writing = Writing(writer.model, writer.prompts, writer.read, options.max_tokens)
        self._checker = self._make_checker(pile, writer)

    @property
    def declined(self) -> bool:
        """The model says that the papers do not state the answer."""
        return self._writing.declined

    @property
    def plain(self) -> bool:
        """The model cannot write JSON; its sentences were read from plain text."""
        return self._writing.plain

    @property
    def prompt(self) -> PromptInfo | None:
        return self._writing.prompt

    def sentences(self) -> Iterator[Sentence]:
        """Yield what may be shown, as soon as it is checked.

        Raises:
            ProviderError: the model cannot be had.
            UsageError: a request could cost more than ``max_cost``.
        """
        waiting = Waiting(self._question, [item.paper for item in self.packed.papers])
        for sentence in self._passing():
            if self._options.verify == "off" or sentence.verdict == "unsupported":
                yield sentence
            else:
                yield from waiting.take(sentence)
        refused = waiting.refused()
        self.removed += refused
        self.beside = refused[0].note if refused else None
        if self._options.keep_unsupported:
            yield from refused

    def _passing(self) -> Iterator[Sentence]:
        """Yield what the check lets pass; papers to be compared that were left out are asked for again."""
        cited: set[str] = set()
        for sentence in self._written_from(self.packed):
            cited |= {citation.key for citation in sentence.citations}
            yield sentence
        left_out = self.packed.only(self._compared - cited)
        if cited and left_out.papers:  # a small model forgets the second of two
            yield from self._written_from(left_out)

    def _written_from(self, packed: Packed) -> Iterator[Sentence]:
        drafts: Iterable[Draft] = self._writing.drafts(self._question, packed.prompt(), packed.refs)
        if self._options.verify == "model":
            drafts = list(drafts)  # a small server answers one request at a time
        for part in chain.from_iterable(map(single, drafts)):
            began = time.perf_counter()
            shown = self._checked(part)
            self.verify_s += time.perf_counter() - began
            yield from shown

    def _checked(self, draft: Draft) -> list[Sentence]:
        checked = self._checker.check(self.packed.restored(draft))
        self.dropped_quotes += checked.dropped_quotes
        self.invalid_refs += checked.invalid_refs
        self.removed += checked.removed
        return [*checked.sentences, *(checked.removed if self._options.keep_unsupported else ())]

    def _make_checker(self, pile: Pile, writer: Writer) -> DraftChecker:
        papers = self.packed.papers
        if self._options.verify == "off":
            return Unchecked(papers)
        checker = Checker(papers, similarity=pile.similarity)
        if self._options.verify == "lexical":
            return checker
        return Entailed(
            checker, {item.paper.key: item.paper for item in papers}, writer.model, writer.prompts
        )


def packed_for(question: str, chosen: Chosen, writer: Writer, options: Options) -> Packed:
    """Pack what fits beside the prompt and the reply into the model's context window."""
    bare = writer.prompts.load("answer").messages(evidence="", question=question)
    around = sum(tokens_in(message.content) for message in bare)
    room = writer.model.context_window - options.max_tokens - around - _ROOM
    return pack(chosen, max(min(options.evidence_tokens, room), _LEAST_EVIDENCE))


def first_request(question: str, packed: Packed, writer: Writer, options: Options) -> ChatRequest:
    """The request that an answer begins with, for telling its price beforehand."""
    messages = writer.prompts.load("answer").messages(evidence=packed.prompt(), question=question)
    return ChatRequest(messages, options.max_tokens)
