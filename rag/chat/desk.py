"""Takes a line that was typed, whether question or command, and shows what comes of it.

    desk = Desk(conversation, face, browse=webbrowser.open, library=open_library)
    desk.take("What is PILAF?"), desk.take("/cite")

The two front ends (``screen`` for a person, ``pipe`` for a program) only differ in where lines come from.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from rag import values
from rag.chain.converse import Rewrite
from rag.chat import commands, small_talk, view
from rag.chat.acts import Acts
from rag.chat.conversation import Conversation, Stopped, told
from rag.chat.face import Face
from rag.errors import RagError
from rag.ports import PaperStore
from rag.records import Answer, Filters, Mode, Sentence
from rag.render import safe
from rag.render.layout import Line

Browse = Callable[[str], bool]
Library = Callable[[], AbstractContextManager[PaperStore]]


@dataclass(frozen=True, slots=True)
class Next:
    """What follows a line: leaving, or another one, with ``draft`` to begin with."""

    leave: bool = False
    draft: str = ""
    failed: bool = False


class Desk:
    """One conversation and its face. ``library`` opens the records alone, which takes no time."""

    def __init__(self, talk: Conversation, face: Face, browse: Browse, library: Library) -> None:
        self.talk, self.face = talk, face
        self._acts = Acts(talk, face, browse, library)

    def take(self, line: str) -> Next:
        """Do what a line asks for. Nothing of the error family comes out; Ctrl-C ends what is under way."""
        line = values.legible(line)
        try:
            command = commands.parse(line)
            if command is None:
                small = small_talk.meant(line)
                if said := small_talk.SAID.get(small):
                    self.face.aside(said)
                    return Next()
                command = commands.parse(f"/{small}") if small else None
            if command is None:
                return self.ask(line) if line.strip() else Next()
            if command.name == "quit":
                return Next(leave=True)
            if command.name == "retry":
                return self._retry()
            self._acts.do(command)
        except RagError as error:
            self.face.error(error)
            return Next(failed=True)
        except KeyboardInterrupt:
            self.face.paragraph()
            self.face.aside("Stopped.")
        return Next()

    def ask(self, question: str, *, fresh: bool = False) -> Next:
        """Ask, and show the answer as it comes."""
        known = frozenset(self.talk.numbers.papers)
        try:
            with self.face.waiting(self._doing):
                found = self.talk.ask(question, Shown(self.face), fresh=fresh)
        except Stopped as stop:
            self.face.paragraph()
            if stop.answer is not None:
                self.face.lines([Line(), *view.references(stop.answer, known)])
                self.face.aside("Stopped; what was checked is kept.")
                return Next()
            self.face.aside("Stopped.")
            return Next(draft=question, failed=True)
        except RagError as error:
            self.face.paragraph()
            self.face.error(error)
            return Next(draft=question, failed=True)
        self._show(found, known)
        return Next()

    def resume(self, session: int) -> None:
        """Go on with a stored conversation: show how it ended, and what became of its papers."""
        self._acts.resume(session)
        self.face.text("\n")

    def restrict(self, filters: Filters) -> None:
        """Ask only papers that pass; UsageError when none does."""
        self._acts.restrict(filters)

    def _show(self, found: Answer, known: frozenset[int]) -> None:
        self.face.paragraph()
        if found.status == "abstained":
            self.face.lines(view.declined(found))
        below = view.quotes(found) if self._acts.always_quotes else view.references(found, known)
        self.face.lines([*([Line()] if found.status == "answered" and below else []), *below])
        self.face.aside(view.summary(found))

    def _retry(self) -> Next:
        undone = self.talk.undo()
        if undone is None:
            self.face.aside("Nothing was asked yet.")
            return Next()
        after = self.ask(undone.question, fresh=True)
        if after.failed:
            self.talk.restore(undone)
        return after

    def _doing(self) -> str:
        opening = self.talk.opening
        if not opening.ready:
            return opening.state or "Opening the papers"
        dials = self.talk.dials
        return f"{safe.line(dials.model or 'The model')} writes" if dials.mode == "model" else "Reading"


class Shown:
    """The listener that shows an answer on a face."""

    def __init__(self, face: Face) -> None:
        self._face = face

    def understood(self, rewrite: Rewrite) -> None:
        """Say dimly how the question was understood."""
        how = f"  ({safe.line(told(rewrite))})" if rewrite.resolved else ""
        self._face.aside(f"Understood as: {safe.line(rewrite.question)}{how}")

    def sentence(self, one: Sentence, mode: Mode) -> None:
        self._face.sentence(one, mode)

    def note(self, text: str) -> None:
        self._face.aside(text)
