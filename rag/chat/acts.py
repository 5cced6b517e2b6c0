"""The commands: one method each, named after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from rag.chat import commands, export, view
from rag.chat.changes import changes
from rag.chat.commands import Command
from rag.chat.conversation import Conversation
from rag.chat.entries import Dials, Entry
from rag.chat.face import Face
from rag.chat.restrict import LISTING, known, left, none
from rag.errors import UsageError
from rag.ports import PaperStore
from rag.records import Filters, Paper
from rag.render import layout, safe
from rag.render.bibtex import entries as bibtex
from rag.render.layout import Line
from rag.text.normalise import plain


class Acts:
    """What commands do to a conversation; ``do`` runs one.

    ``always_quotes``: answers come with the words they rest on.
    """

    def __init__(
        self,
        talk: Conversation,
        face: Face,
        browse: Callable[[str], bool],
        library: Callable[[], AbstractContextManager[PaperStore]],
    ) -> None:
        self._talk, self._face, self._browse, self._library = talk, face, browse, library
        self._saved: set[Path] = set()
        self.always_quotes = False

    def do(self, command: Command) -> None:
        """Run a command.

        Raises:
            RagError: it cannot be done; the conversation is as it was.
        """
        run: Callable[[str], None] = getattr(self, f"_{command.name}")
        run(command.argument)

    def _help(self, _: str) -> None:
        self._face.lines(view.help_())

    def _sources(self, _: str) -> None:
        papers = self._talk.numbers.papers
        self._face.lines(view.sources(papers)) if papers else self._face.aside("No papers were cited yet.")

    def _quotes(self, argument: str) -> None:
        if argument:
            self.always_quotes = commands.switch(argument, self.always_quotes)
            self._face.aside(f"Quotations {'always' if self.always_quotes else 'on request'}.")
        elif self._talk.last is None or not self._talk.last.references:
            self._face.aside("The last answer quotes nothing.")
        else:
            self._face.lines(view.quotes(self._talk.last))

    def _open(self, argument: str) -> None:
        ref, paper = self._numbered(argument)
        url = safe.address(paper.url)
        if url is None:
            where = f"{safe.line(paper.source.file)}, record {paper.source.record}"
            raise UsageError(f"[{ref}] has no address.", f"It was read from {where}.")
        opened = self._browse(url)
        self._face.aside(url if opened else f"No browser could be started; the address is {url}")

    def _numbered(self, argument: str) -> tuple[int, Paper]:
        papers = self._talk.numbers.papers
        digits = argument.strip("[] ")
        # Python refuses to read a number of thousands of digits.
        ref = int(digits) if digits.isdecimal() and len(digits) <= _DIGITS else 0
        if ref not in papers:
            shown = f"The numbers so far: 1 to {max(papers)}." if papers else "None was cited yet."
            raise UsageError(f"There is no paper {view.cut(argument) or '(which one?)'}.", shown)
        return ref, papers[ref]

    def _cite(self, argument: str) -> None:
        papers = export.cited(self._entries(), self._talk.numbers.papers)
        if argument:
            self._write(export.file_of(argument), bibtex(papers))
        elif papers:
            self._face.text(bibtex(papers))
        else:
            self._face.aside("No papers were cited yet.")

    def _entries(self) -> Sequence[Entry]:
        return list(self._talk.session.entries()) if self._talk.session else []

    def _papers(self, argument: str) -> None:
        store = self._store()
        words = plain(argument).casefold().split()
        allowed = [p for p in store.papers(self._talk.dials.filters) if all(w in _record(p) for w in words)]
        self._face.lines(view.listed(allowed, store.count_papers()))

    def _store(self) -> PaperStore:
        with self._face.waiting(lambda: "Opening the papers"):
            return self._talk.pile(self._face.aside).store

    def _filter(self, argument: str) -> None:
        now = self._talk.dials.filters
        if commands.is_off(argument):
            self._restrict(Filters(papers=now.papers))
        elif argument:
            self._restrict(commands.filtered(argument, now))
        else:
            self._face.aside(f"Asked are: {commands.described(now) or 'all papers'}.")

    def _use(self, argument: str) -> None:
        now = self._talk.dials.filters
        if commands.is_off(argument):
            self._restrict(replace(now, papers=()))
        elif argument:
            keys = tuple(dict.fromkeys(self._key(word) for word in argument.replace(",", " ").split()))
            self._restrict(replace(now, papers=keys))
        else:
            self._face.aside(f"Used are: {', '.join(now.papers) or 'all papers'}.")

    def _key(self, word: str) -> str:
        if word.strip("[]").isdecimal():
            return self._numbered(word)[1].key
        return known(self._store(), word, _PAPERS).key

    def restrict(self, filters: Filters) -> None:
        """Ask only papers that pass, from the beginning on.

        Raises:
            UsageError: none does, or a key is of none.
        """
        with self._library() as store:
            if not left(store, filters):
                raise UsageError(none(filters), LISTING)
        self._set(replace(self._talk.dials, filters=filters))

    def _restrict(self, filters: Filters) -> None:
        store = self._store()
        passing = left(store, filters, _PAPERS)
        if not passing:
            raise UsageError(f"{none(filters)} Nothing was changed.", _PAPERS)
        self._set(replace(self._talk.dials, filters=filters))
        said = commands.described(filters) or "all papers"
        self._face.aside(f"Asked are: {said} ({passing:,} of {store.count_papers():,} papers).")

    def _set(self, dials: Dials) -> None:
        self._talk.dials = dials

    def _mode(self, argument: str) -> None:
        dials = self._talk.dials
        if argument:
            if argument not in ("extractive", "model"):
                raise UsageError(f"There is no mode {argument!r}.", "Modes: extractive, model.")
            self._set(replace(dials, mode=argument))
        self._face.aside(_writer(self._talk.dials))

    def _model(self, argument: str) -> None:
        if argument:
            self._set(replace(self._talk.dials, mode="model", model=argument))
        self._face.aside(_writer(self._talk.dials))

    def _raw(self, argument: str) -> None:
        dials = self._talk.dials
        self._set(replace(dials, raw=commands.switch(argument, dials.raw)))
        as_typed = "as typed" if self._talk.dials.raw else "made stand-alone first"
        self._face.aside(f"Questions are searched {as_typed}.")

    def _undo(self, _: str) -> None:
        undone = self._talk.undo()
        self._face.aside(f"Taken back: {undone.question}" if undone else "Nothing was asked yet.")

    def _save(self, argument: str) -> None:
        if not argument:
            raise UsageError("Save to which file?", "Example: /save notes.md")
        if self._talk.session is None:
            raise UsageError("Nothing was asked yet.", "Ask a question first.")
        file = export.file_of(argument)
        kind = export.kind_of(file)
        papers = self._talk.numbers.papers
        self._write(file, export.export(kind, self._talk.session.name, self._entries(), papers))

    def _write(self, file: Path, text: str) -> None:
        """Write a file, but never over one that is not from here."""
        with export.faults(file):
            whole = file.resolve()
        export.write(file, text, over=whole in self._saved)
        self._saved.add(whole)
        self._face.aside(f"Written to {file}.")

    def _cost(self, _: str) -> None:
        self._face.lines([view.cost(*self._talk.spent())])

    def _new(self, argument: str) -> None:
        self._talk.new(argument or None)
        self._face.aside("A new conversation; the one before is saved.")

    def _sessions(self, argument: str) -> None:
        store = self._talk.store
        if argument:
            self._face.lines(view.found(store.search(argument)))
        else:
            current = self._talk.session.id if self._talk.session else None
            self._face.lines(view.sessions(store.rows()[:_LISTED], current))

    def _resume(self, argument: str) -> None:
        row = self._talk.store.find(argument) if argument else None
        if row is None:
            raise UsageError("Resume which conversation?", "/sessions lists them.")
        self.resume(row.id)

    def resume(self, session: int) -> None:
        """Go on with a stored conversation, the last turns of which are shown again."""
        if self._talk.session is not None and self._talk.session.id == session:
            self._face.aside("That is this conversation.")
            return
        before = self._talk.dials.index
        recent = self._talk.resume(session)
        self._face.lines([*view.conversation(recent[-_SHOWN:]), Line()])
        self._tell_changes(before)

    def _tell_changes(self, index: str) -> None:
        session = self._talk.session
        if session is None:
            return
        if session.dials.index and session.dials.index != index:
            self._face.aside(f"This was asked of {session.dials.index}; it goes on with {index}.")
        with self._library() as store:
            found = changes(self._talk.numbers.papers, session.entries(), store)
        self._face.lines(view.changed(found))
        dials = self._talk.dials
        restricted = f", {commands.described(dials.filters)}" if dials.filters else ""
        self._face.aside(
            f"Going on with {session.name}: {_writer(dials)[0].lower()}{_writer(dials)[1:-1]}{restricted}."
        )


_PAPERS = "/papers lists what there is."
_LISTED = 20
_DIGITS = 9
_SHOWN = 3  # turns that are shown again


def _record(paper: Paper) -> str:
    parts = (paper.key, layout.heading(paper), *paper.authors, paper.venue or "", str(paper.year or ""))
    return plain(" ".join(parts)).casefold()


def _writer(dials: Dials) -> str:
    if dials.mode == "model":
        return f"A model writes: {dials.model or 'the one the settings name'}."
    return "Sentences are quoted from the papers, no model writes."
