"""The story of an answer, on one page and for both modes.

    count, or retrieve -> weigh the papers -> decide -> extract, or (write -> check) -> number -> Answer

    answer("By how much did SpecPrefill improve time-to-first-token?", pile)            # extractive
    answer("...", pile, writer=Writer(model, Prompts(), read_json), on_sentence=print)  # model

Whoever gives a writer gets its answer or its error: there is no silent way from one mode to the other.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from rag.chain.abstain import Decision, nothing_left
from rag.chain.deepen import deepen, parts
from rag.chain.evidence import Chosen
from rag.chain.extract import extract
from rag.chain.found import Found, find
from rag.chain.meter import Meter
from rag.chain.numbering import Numbering
from rag.chain.pile import Count, count
from rag.chain.setup import Note, OnSentence, Options, Pile, Writer
from rag.chain.written import Written
from rag.errors import UsageError
from rag.prompts import Prompts
from rag.records import Answer, Filters, Hit, Reference, Sentence, Timings

__all__ = ["Interrupted", "Options", "Pile", "Writer", "answer"]

_NEAREST = 3
NOTHING_FOUND = Decision(False, 0.0, "No paper of the pile matches the question and the filters.")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while an answer was written; ``answer`` has the sentences that were checked by then."""

    def __init__(self, so_far: Answer) -> None:
        super().__init__()
        self.answer = so_far


def answer(
    question: str,
    pile: Pile,
    *,
    writer: Writer | None = None,
    filters: Filters | None = None,
    options: Options | None = None,
    on_sentence: OnSentence | None = None,
    on_note: Note | None = None,
) -> Answer:
    """Answer ``question`` from ``pile``: in sentences of the abstracts, or written by ``writer`` and checked.

    Args:
        filters: which papers may be retrieved; default all.
        on_sentence: called with each sentence that passed, numbered as in the answer, while more are coming.
        on_note: told, in one line each, what the reader should know ("the reply came from the cache").

    Raises:
        ProviderError: the writer's model cannot be had.
        UsageError: an empty question, or an answer that could cost more than ``options.max_cost``.
        Interrupted: Ctrl-C; it carries the answer so far.
    """
    question = " ".join(question.split())
    if not question:
        raise UsageError("The question is empty.", 'Example: rag ask "What is speculative prefill?"')
    options = options or Options()
    filters = filters or Filters()
    story = _Story(question, pile, writer, filters, options, on_sentence or _ignore, on_note or _ignore)
    with story.clock("retrieve_s"):
        counted = count(question, pile.store, filters)
        found = None if counted else find(question, pile, options, filters)
    if counted:
        return story.counted(counted)
    if not found:
        return story.abstained(NOTHING_FOUND)
    return story.written(found, writer) if writer else story.extracted(found)


def _ignore(_: object) -> None:
    """The default of callbacks."""


@dataclass(slots=True)
class _Story:
    """One answer under way; each public method tells one ending."""

    question: str
    pile: Pile
    writer: Writer | None
    filters: Filters
    options: Options
    on_sentence: OnSentence
    on_note: Note
    seconds: dict[str, float] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)

    @contextmanager
    def clock(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - began

    def _show(self, sentence: Sentence) -> None:
        self.seconds.setdefault("first_s", time.perf_counter() - self.began)
        self.on_sentence(sentence)

    def counted(self, counted: Count) -> Answer:
        """The pile itself was asked about: its records answer, in either mode."""
        numbering = Numbering({paper.key: paper for paper in counted.papers})
        sentence = numbering.numbered(counted.sentence)
        self._show(sentence)
        return replace(self._blank(), sentences=(sentence,), references=numbering.references(), model=None)

    def extracted(self, found: Found) -> Answer:
        """Sentences of the abstracts themselves."""
        if not found.decision.answer:
            return self.abstained(found.decision, read=len(found.weighed.papers))
        with self.clock("generate_s"):
            taken = extract(found.weighed, found.decision)
        numbering = Numbering({hit.paper.key: hit.paper for hit in found.weighed.hits})
        sentences = tuple(numbering.numbered(sentence) for sentence in taken.sentences)
        for sentence in sentences:
            self._show(sentence)
        return replace(
            self._blank(),
            sentences=sentences,
            references=numbering.references(),
            read=len(found.weighed.papers),
            confidence=found.decision.confidence,
        )

    def written(self, found: Found, writer: Writer) -> Answer:
        """Sentences of a model, each checked before it is shown."""
        chosen, decision = found.chosen, found.decision
        if not (decision.answer or self.options.always_ask):
            return self.abstained(decision, read=len(chosen.hits))
        meter = Meter(writer.model, writer.price, self.options.max_cost)
        if self.options.depth == "deep":
            chosen = self._deepened(chosen, meter, writer.prompts)
        work = Written(self.question, chosen, self.pile, replace(writer, model=meter), self.options)
        numbering = Numbering({item.paper.key: item.paper for item in work.packed.papers})
        sentences: list[Sentence] = []
        try:
            with self.clock("generate_s"):
                for sentence in work.sentences():
                    sentences.append(numbering.numbered(sentence))
                    self._show(sentences[-1])
        except KeyboardInterrupt:
            reason = "Interrupted: only the sentences above were written and checked."
            decision = replace(decision, answer=bool(sentences), reason=reason)
            raise Interrupted(self._of(work, meter, sentences, numbering, decision)) from None
        if not decision.answer:
            return self._of(work, meter, sentences, numbering, decision)
        self._tell(work, meter)
        if not any(sentence.verdict != "unsupported" for sentence in sentences):
            decision = self._nothing(work, chosen, decision)
        return self._of(work, meter, sentences, numbering, decision)

    def abstained(self, decision: Decision, read: int = 0) -> Answer:
        """The pile does not answer; the nearest papers are named."""
        return replace(
            self._blank(),
            status="abstained",
            reason=decision.reason,
            nearest=_references(decision.nearest),
            read=read,
            confidence=decision.confidence,
        )

    def _deepened(self, chosen: Chosen, meter: Meter, prompts: Prompts) -> Chosen:
        with self.clock("generate_s"):
            asked = parts(self.question, meter, prompts)
        with self.clock("retrieve_s"):
            everything = (self.question, *asked)
            return deepen(chosen, everything, self.pile.retriever, self.options.top, self.filters)

    def _nothing(self, work: Written, chosen: Chosen, before: Decision) -> Decision:
        if work.declined:
            papers = len(work.packed.papers)
            reason = f"The model finds no answer in the {papers} paper{'s' * (papers != 1)} it read."
            return Decision(False, before.confidence, reason, chosen.hits[:_NEAREST])
        if work.beside:
            reason = f"What the model wrote {work.beside}."
            return Decision(False, before.confidence, reason, chosen.hits[:_NEAREST])
        return replace(nothing_left(self.question, chosen.hits, work.removed), answer=False)

    def _of(
        self,
        work: Written,
        meter: Meter,
        sentences: Sequence[Sentence],
        numbering: Numbering,
        decision: Decision,
    ) -> Answer:
        """The record of model mode; an abstention keeps its costs."""
        self.seconds["verify_s"] = self.seconds.get("verify_s", 0.0) + work.verify_s
        self.seconds["generate_s"] -= work.verify_s
        ending = self._blank() if decision.answer else self.abstained(decision)
        cited = numbering if decision.answer else Numbering({})
        return replace(
            ending,
            sentences=tuple(sentences) if decision.answer else (),
            references=cited.references(),
            reason=decision.reason,
            removed=cited.within(work.removed),
            read=len(work.packed.papers),
            usage=meter.usage,
            prompt=work.prompt,
            confidence=decision.confidence,
            dropped_quotes=work.dropped_quotes,
            invalid_refs=work.invalid_refs,
            cached=meter.cached,
        )

    def _tell(self, work: Written, meter: Meter) -> None:
        if meter.cached:
            self.on_note("The reply came from the response cache; --fresh asks the model anew.")
        if work.plain:
            self.on_note(f"{meter.name} did not write JSON; its sentences were read from plain text.")
        if self.options.verify == "off":
            self.on_note("The sentences were not checked (--verify off).")

    def _blank(self) -> Answer:
        return Answer(
            question=self.question,
            status="answered",
            mode="model" if self.writer else "extractive",
            model=self.writer.model.name if self.writer else None,
            sentences=(),
            references=(),
            nearest=(),
            index=self.pile.info,
            timings=Timings(load_s=self.options.load_s, **self.seconds),
        )


def _references(hits: Sequence[Hit]) -> tuple[Reference, ...]:
    return tuple(Reference(n, hit.paper) for n, hit in enumerate(hits[:_NEAREST], start=1))
