"""The chain as an eval drives it: a question in, answer and retrieval out, under a cassette if need be.

pipeline = Pipeline(pile, Options(), papers={p.key: p for p in pile.store.papers()})
answer, hits = pipeline.ask(case, sample=1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Protocol

from rag.chain.answer import answer
from rag.chain.converse import Rewrite, chosen
from rag.chain.reword import turns_of, understood
from rag.chain.setup import Options, Pile, Writer
from rag.evals.cases import Case
from rag.ports import ChatModel, ChatRequest, Delta
from rag.records import Answer, Filters, Hit, Paper

DEPTH = 50
"""Papers whose scores are stored with each question, for sweeps without new calls."""
WARM = 0.7
"""Temperature of the second and third sample; the first is asked as the program asks."""


class Session(Protocol):
    """An open cassette: how it was made, and whether the program declined without asking for all of it."""

    about: dict[str, Any]
    declined: bool


Tape = Callable[[Case, int], AbstractContextManager[Session]]
"""Opens what the model calls of (case, sample) are recorded to or replayed from."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Everything a run needs, built once per process.

    ``writer`` makes a new one for each question: what a model object learns about its server (a parameter
    that is refused) must not shape the requests of the next question, or a recording depends on the order
    of them.
    """

    pile: Pile
    options: Options
    papers: Mapping[str, Paper]
    writer: Callable[[], Writer] | None = None
    tape: Tape | None = None

    def ask(self, case: Case, sample: int = 1) -> tuple[Answer, list[Hit]]:
        """Answer a case; the hits are the first ``DEPTH`` papers for the question as it was searched."""
        writer = sampled(self.writer(), sample) if self.writer else None
        with self.tape(case, sample) if self.tape else nullcontext() as session:
            meant = self._meant(case, writer)
            found = self._answered(meant, writer)
            if session is not None and writer and declined(found):
                session.declined = True
        return as_recorded(found, session), self.pile.retriever.search(meant.question, DEPTH)

    def _answered(self, meant: Rewrite, writer: Writer | None) -> Answer:
        filters = Filters(without=meant.without)
        return answer(meant.question, self.pile, writer=writer, filters=filters, options=self.options)

    def _meant(self, case: Case, writer: Writer | None) -> Rewrite:
        """The question as it stands alone, when there were turns before it."""
        if not case.history:
            return Rewrite(case.question)
        turns = turns_of([(turn.question, turn.answer, turn.papers) for turn in case.history], self.papers)
        meant = understood(case.question, turns, writer)
        if writer is not None:
            return meant
        return chosen(meant, lambda reading: self._answered(reading, None).status == "answered")


def declined(found: Answer) -> bool:
    """Whether the program abstained by itself, without an answer of the model."""
    return found.status == "abstained" and not found.usage.prompt_tokens


def as_recorded(found: Answer, session: Session | None) -> Answer:
    """Return a replayed answer with the seconds that its recording took: a replay takes none."""
    seconds = None if session is None or session.declined else session.about.get("seconds")
    return found if seconds is None else replace(found, timings=replace(found.timings, generate_s=seconds))


def sampled(writer: Writer, sample: int) -> Writer:
    """Return the writer of one sample: the first asks as the program does, others warm and seeded."""
    return writer if sample == 1 else replace(writer, model=Sampled(writer.model, sample))


@dataclass(frozen=True, slots=True)
class Sampled:
    """A chat model asked at ``WARM``; the seed makes the samples differ and each of them repeatable."""

    model: ChatModel
    seed: int

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def context_window(self) -> int:
        return self.model.context_window

    def stream(self, request: ChatRequest) -> Iterator[Delta]:
        return self.model.stream(replace(request, temperature=WARM, seed=self.seed))
