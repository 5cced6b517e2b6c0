"""A conversation with the pile: every question made stand-alone, answered, checked, numbered and kept.

    talk = Conversation(store, opening, writers, dials)
    talk.ask("What is PILAF?", listener)
    talk.ask("Is that hard to implement?", listener)    # understood as: Is PILAF hard to implement?

Knows no terminal: a listener is told what happens. Only the last turns are held; everything is in the store.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Protocol

from rag.chain.answer import Interrupted, answer
from rag.chain.converse import Rewrite, chosen
from rag.chain.meter import Meter
from rag.chain.reword import TURNS, understood
from rag.chain.setup import Note, Options, Pile, Writer
from rag.chain.turns import Cited, Turn
from rag.chat.entries import Dials, Entry, Status
from rag.chat.numbers import Numbers
from rag.chat.opening import Opening
from rag.chat.session import Session
from rag.chat.store import Store
from rag.errors import RagError
from rag.records import Answer, Filters, Mode, Sentence, Usage

Writers = Callable[[Dials, bool, Note], Writer | None]
"""Makes the writer of (dials, fresh, where remarks go); None in extractive mode."""


class Listener(Protocol):
    """What a face shows while an answer is made."""

    def understood(self, rewrite: Rewrite) -> None: ...

    def sentence(self, one: Sentence, mode: Mode) -> None: ...

    def note(self, text: str) -> None: ...


class Stopped(KeyboardInterrupt):
    """Ctrl-C while an answer was made; ``answer`` has what was checked by then, if anything."""

    def __init__(self, so_far: Answer | None) -> None:
        super().__init__()
        self.answer = so_far


class Conversation:
    """One conversation; ``dials`` are what the next question is asked with, ``last`` is the last answer."""

    def __init__(
        self,
        store: Store,
        opening: Opening,
        writers: Writers,
        dials: Dials,
        *,
        options: Options | None = None,
        name: str | None = None,
    ) -> None:
        self._store, self.opening, self._writers = store, opening, writers
        self._options = options or Options()
        self._dials, self._name = dials, name
        self.session: Session | None = None
        self._forget()

    def _forget(self) -> None:
        self.numbers = Numbers()
        self.turns: deque[Turn] = deque(maxlen=TURNS)
        self.last: Answer | None = None
        self.question = ""

    @property
    def store(self) -> Store:
        return self._store

    @property
    def dials(self) -> Dials:
        return self._dials

    @dials.setter
    def dials(self, dials: Dials) -> None:
        self._dials = dials
        if self.session is not None:
            self.session.set_dials(dials)

    def pile(self, note: Note) -> Pile:
        """The opened pile, waited for if need be."""
        return self.opening.pile(note)

    def ask(self, question: str, listener: Listener, *, fresh: bool = False) -> Answer:
        """Answer a question of the conversation, and keep it.

        Args:
            fresh: have a model asked anew, whatever it replied before.

        Raises:
            RagError: it could not be answered; the turn is kept as failed.
            Stopped: Ctrl-C; the turn is kept with what was checked.
        """
        session = self._session(question)
        self.question = meant = question
        turn = session.ask(question)
        try:
            pile = self.pile(listener.note)
            writer = self._writers(self._dials, fresh, listener.note)
            rewrite, spent = self._understood(question, writer)
            if writer is None:
                rewrite = chosen(rewrite, lambda reading: self._answers(reading, pile))
            meant = rewrite.question
            if rewrite.by is not None:
                session.understood(turn, meant, told(rewrite))
                listener.understood(rewrite)
            found = self._answered(rewrite, pile, writer, listener, turn)
        except Interrupted as stop:
            so_far = replace(self.numbers.answer(stop.answer), usage=added(stop.answer.usage, spent))
            self._finish(turn, "stopped", so_far if so_far.sentences else None, meant)
            raise Stopped(so_far if so_far.sentences else None) from None
        except KeyboardInterrupt:
            self._finish(turn, "stopped", None, meant)
            raise Stopped(None) from None
        except RagError as error:
            session.finish(turn, "failed", None, str(error))
            raise
        found = replace(found, usage=added(found.usage, spent))
        self._finish(turn, found.status, found, meant)
        return found

    def _answered(
        self, rewrite: Rewrite, pile: Pile, writer: Writer | None, listener: Listener, turn: int
    ) -> Answer:
        found = answer(
            rewrite.question,
            pile,
            writer=writer,
            filters=self._filters(rewrite),
            options=self._options,
            on_sentence=lambda one: self._add(turn, one, pile, listener, writer is not None),
            on_note=listener.note,
        )
        return self.numbers.answer(found)

    def _answers(self, rewrite: Rewrite, pile: Pile) -> bool:
        """Whether the papers answer the question so read, when quoted; nothing is shown or kept."""
        found = answer(rewrite.question, pile, filters=self._filters(rewrite), options=self._options)
        return found.status == "answered"

    def _filters(self, rewrite: Rewrite) -> Filters:
        return replace(self._dials.filters, without=rewrite.without)

    def _understood(self, question: str, writer: Writer | None) -> tuple[Rewrite, Usage]:
        shown = self.numbers.papers
        if self._dials.raw or not (self.turns or shown):
            return Rewrite(" ".join(question.split())), Usage(cost_usd=0.0)
        if writer is None:
            return understood(question, list(self.turns), shown=shown), Usage(cost_usd=0.0)
        meter = Meter(writer.model, writer.price)
        rewrite = understood(question, list(self.turns), replace(writer, model=meter), shown)
        return rewrite, meter.usage if meter.requests else Usage(cost_usd=0.0)

    def _add(self, turn: int, one: Sentence, pile: Pile, listener: Listener, written: bool) -> None:
        """Keep a sentence before it is shown, so that nothing was ever seen that is not kept."""
        with uninterrupted():
            numbered, shown = self.numbers.sentence(one, pile.store.paper)
            self._require_session().add(turn, numbered, shown)
        listener.sentence(numbered, "model" if written else "extractive")

    def _finish(self, turn: int, status: Status, found: Answer | None, meant: str) -> None:
        with uninterrupted():
            self._require_session().finish(turn, status, found)
            if found is not None:
                self.last = found
                self.turns.append(_turn(self.question, meant, found))

    def _session(self, question: str) -> Session:
        if self.session is None:
            self.session = self._store.begin(question, self._dials, self._name)
            self._name = None
        return self.session

    def _require_session(self) -> Session:
        if self.session is None:
            raise RuntimeError("no question was asked yet")
        return self.session

    def undo(self) -> Entry | None:
        """Take the last turn out of the conversation and return it; None when there is none."""
        if self.session is None:
            return None
        last = next(iter(self.session.entries(last=1)), None)
        if last is not None:
            self.session.undo(last.id)
            self._recall(self.session)
        return last

    def restore(self, undone: Entry) -> None:
        """Take ``undo`` back."""
        if self.session is not None:
            self.session.undo(undone.id, undone=False)
            self._recall(self.session)

    def new(self, name: str | None = None) -> None:
        """Begin another conversation; its session is made with the first question.

        Raises:
            UsageError: no session can begin with that name; the conversation is as it was.
        """
        if name is not None:
            self._store.require_free(name)
        self.close()
        self._forget()
        self._name = name

    def resume(self, session: int) -> list[Entry]:
        """Go on with a stored session; return its last turns."""
        opened = self._store.open(session)
        self.close()
        self._forget()
        self.session = opened
        self._dials = replace(opened.dials, index=self._dials.index)
        self.numbers = Numbers(opened.papers())
        return self._recall(opened)

    def _recall(self, session: Session) -> list[Entry]:
        recent = list(session.entries(last=TURNS))
        self.turns.clear()
        self.last, self.question = None, ""
        for entry in recent:
            self.question = entry.question
            if entry.answer is not None:
                self.last = entry.answer
                self.turns.append(_turn(entry.question, entry.meant, entry.answer))
        return recent

    def spent(self) -> tuple[Usage, int]:
        """Tokens and cost of the session, and the number of answers by a model in it."""
        return self.session.spent() if self.session else (Usage(cost_usd=0.0), 0)

    def close(self) -> None:
        """Give the session free."""
        if self.session is not None:
            self.session.close()
            self.session = None


def told(rewrite: Rewrite) -> str:
    """Say what was taken for what: ``“it” = PILAF [1]``."""
    parts = []
    said: set[int] = set()
    for resolved in rewrite.resolved:
        refs = {cited.ref for cited in resolved.papers}
        if refs <= said:
            continue
        said |= refs
        names = ", ".join(f"{cited.name} [{cited.ref}]" for cited in resolved.papers)
        parts.append(f"“{resolved.words}” = {names}" if resolved.words else names)
    return "; ".join(parts)


def added(a: Usage, b: Usage) -> Usage:
    """Sum of two usages; the cost is unknown when that of either is, and nothing where nothing was used."""
    known = all(used.cost_usd is not None or not used.prompt_tokens for used in (a, b))
    cost = (a.cost_usd or 0.0) + (b.cost_usd or 0.0) if known else None
    return Usage(a.prompt_tokens + b.prompt_tokens, a.completion_tokens + b.completion_tokens, cost)


def _turn(question: str, meant: str, found: Answer) -> Turn:
    said = " ".join(sentence.text for sentence in found.sentences)
    spoken = f"{meant} {said}"
    counts = {c.key: 0 for sentence in found.sentences for c in sentence.citations}
    for sentence in found.sentences:
        for key in {citation.key for citation in sentence.citations}:
            counts[key] += 1
    shown = found.references if found.status == "answered" else found.nearest
    cited = tuple(Cited.of(r.ref, r.paper, spoken, counts.get(r.paper.key, 0)) for r in shown)
    return Turn(question, meant, said, cited, answered=found.status == "answered")


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off until the end of the block, so that what is kept and what is known stay in step."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
