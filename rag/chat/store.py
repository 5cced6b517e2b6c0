"""Sessions kept as they happen, and found again.

    with Store(folder) as store:
        session = store.begin("What is PILAF?", Dials())       # named by its first question
        turn = session.ask("What is PILAF?")
        session.understood(turn, "What is PILAF?", "")
        session.add(turn, sentence, [Reference(1, paper)])     # committed at once, sentence by sentence
        session.finish(turn, "answered", answer)
        store.find("what-is-pilaf"), store.last(), store.search("preference sampling")

A session is open in one program at a time; the operating system gives it free when that one ends, however it
ends. ``Store(None)`` keeps everything in memory.
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from rag.chat import database, entries
from rag.chat.entries import Dials, Entry
from rag.chat.session import Session
from rag.errors import UsageError
from rag.records import Paper
from rag.text.normalise import plain
from rag.text.tokens import STOP

_NAME_WORDS = 5
_NAME = re.compile(r"\w(?:[\w .-]{0,58}[\w.-])?")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list of sessions."""

    id: int
    name: str
    started: float
    changed: float
    turns: int
    first: str


@dataclass(frozen=True, slots=True)
class Found:
    """A turn that has all the words searched for."""

    session: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored session, for reading: its turns, and its papers by number."""

    name: str
    entries: list[Entry]
    papers: dict[int, Paper]


class Store:
    """All sessions in ``folder``, or in memory when that is None.

    Raises:
        EnvironmentFault: they cannot be kept there.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._db = database.connect(folder)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def rows(self) -> list[Row]:
        """All sessions, the one used last first."""
        return [
            Row(*row) for row in self._select(f"{_ROWS} GROUP BY s.id ORDER BY s.changed DESC, s.id DESC")
        ]

    def last(self) -> Row | None:
        """The session used last, if there is any."""
        return next(iter(self.rows()), None)

    def find(self, name: str) -> Row:
        """Return the session called ``name``, or numbered so.

        Raises:
            UsageError: there is none; the nearest names are given.
        """
        row = self.named(name)
        if row is not None:
            return row
        near = difflib.get_close_matches(name, [row.name for row in self.rows()], n=3, cutoff=0.4)
        remedy = f"Did you mean {', '.join(near)}?" if near else "See: rag sessions list"
        raise UsageError(f"There is no session {name!r}.", remedy)

    def named(self, name: str) -> Row | None:
        """The session called ``name``, or numbered so, if there is one."""
        return next((row for row in self.rows() if name.strip() in (row.name, str(row.id))), None)

    def require_free(self, name: str) -> None:
        """Refuse a name that could not be typed, would be taken for a number, or is in use.

        Raises:
            UsageError: no session can begin with it.
        """
        if not _NAME.fullmatch(name) or name.isdigit():
            raise UsageError(
                f"{name!r} cannot be the name of a session.",
                "Use letters, digits, spaces, dots and dashes, up to 60, and not only digits.",
            )
        if name in self._names():
            raise UsageError(
                f"There is a session {name!r} already.", f"Choose another name, or: /resume {name}"
            )

    def begin(self, question: str, dials: Dials, name: str | None = None) -> Session:
        """Begin a session, named by its first question unless ``name`` is given.

        Raises:
            UsageError: ``name`` is not free; see ``require_free``.
        """
        now = time.time()
        with database.transaction(self._db, self._folder):
            if name is not None:
                self.require_free(name)
            free = name or self._free_name(question)
            cursor = self._db.execute(
                "INSERT INTO sessions (name, started, changed, dials) VALUES (?, ?, ?, ?)",
                (free, now, now, entries.dump_dials(dials)),
            )
        return self.open(int(cursor.lastrowid or 0))

    def open(self, session: int) -> Session:
        """Go on with a session.

        Raises:
            UsageError: it is open in another program.
        """
        return Session(self._db, self._folder, session)

    def read(self, session: int) -> Kept:
        """Return what is stored of a session, without opening it."""
        reader = Session(self._db, self._folder, session, locked=False)
        return Kept(reader.name, list(reader.entries()), reader.papers())

    def delete(self, session: int) -> None:
        """Delete a session with everything in it.

        Raises:
            UsageError: it is open in another program.
        """
        self.open(session).close()
        with database.transaction(self._db, self._folder):
            self._db.execute("DELETE FROM sessions WHERE id = ?", (session,))

    def search(self, words: str) -> Iterator[Found]:
        """Yield the turns that have all the words, in question or answer; case and accents do not count."""
        wanted = plain(words).casefold().split()
        for row in self.rows() if wanted else ():
            for entry in self.read(row.id).entries:
                text = plain(_text(entry)).casefold()
                if all(word in text for word in wanted):
                    yield Found(row.name, entry)

    def _free_name(self, question: str) -> str:
        words = re.findall(r"[a-z0-9]+", plain(question).lower())
        telling = [word for word in words if word not in STOP] or words
        base = "-".join(telling[:_NAME_WORDS])[:50].strip("-") or "session"
        taken = self._names()
        name, n = base, 1
        while name in taken:
            n += 1
            name = f"{base}-{n}"
        return name

    def _names(self) -> set[str]:
        return {row[0] for row in self._select("SELECT name FROM sessions")}

    def _select(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with database.faults(self._folder):
            return self._db.execute(query, values).fetchall()


_ROWS = """
SELECT s.id, s.name, s.started, s.changed, COUNT(t.id), COALESCE((
    SELECT question FROM turns WHERE session = s.id AND undone = 0 ORDER BY id LIMIT 1), '')
FROM sessions s LEFT JOIN turns t ON t.session = s.id AND t.undone = 0
"""


def _text(entry: Entry) -> str:
    said = " ".join(sentence.text for sentence in entry.answer.sentences) if entry.answer else ""
    return f"{entry.question} {entry.meant} {said}"
