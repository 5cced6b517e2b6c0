"""One session: written as it happens, read turn by turn.

Numbers of papers belong to the session: a paper keeps its [n] from the first time it is shown.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import filelock

from rag.chat import database, entries
from rag.chat.entries import About, Dials, Entry, Status
from rag.errors import UsageError
from rag.records import Answer, Paper, Reference, Sentence, Usage

_LOCKS = "sessions.locks"


class Session:
    """An open session; use ``rag.chat.store`` to get one.

    Raises:
        UsageError: it is open in another program.
    """

    def __init__(
        self, db: sqlite3.Connection, folder: Path | None, session: int, *, locked: bool = True
    ) -> None:
        self._db, self._folder, self.id = db, folder, session
        self.name, self._dials = self._select("SELECT name, dials FROM sessions WHERE id = ?", (session,))[0]
        self._lock = self._locked(folder) if folder is not None and locked else None

    def _locked(self, folder: Path) -> filelock.BaseFileLock:
        with database.faults(folder):
            (folder / _LOCKS).mkdir(exist_ok=True)
            lock = filelock.FileLock(folder / _LOCKS / f"{self.id}.lock", is_singleton=False)
            try:
                lock.acquire(timeout=0)
            except filelock.Timeout:
                raise UsageError(
                    f"The session {self.name!r} is open in another window.",
                    "Go on there, or begin a new one: rag chat",
                ) from None
        return lock

    def close(self) -> None:
        """Give the session free for other programs."""
        if self._lock is not None:
            self._lock.release()

    @property
    def dials(self) -> Dials:
        return entries.load_dials(self._dials)

    def set_dials(self, dials: Dials) -> None:
        """Keep what the session is to go on with."""
        self._dials = entries.dump_dials(dials)
        self._change("UPDATE sessions SET dials = ? WHERE id = ?", (self._dials, self.id))

    def ask(self, question: str, meant: str = "", note: str = "") -> int:
        """Keep a question before it is answered; return the id of its turn."""
        values = (self.id, question, meant or question, "writing", _about(note), time.time())
        with self._writing():
            cursor = self._db.execute(
                "INSERT INTO turns (session, question, meant, status, about, started)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                values,
            )
        return int(cursor.lastrowid or 0)

    def understood(self, turn: int, meant: str, note: str) -> None:
        """Keep the question as it was understood."""
        self._change("UPDATE turns SET meant = ?, about = ? WHERE id = ?", (meant, _about(note), turn))

    def add(self, turn: int, sentence: Sentence, shown: Iterable[Reference]) -> None:
        """Keep one sentence of an answer with the papers it brings in."""
        with self._writing():
            self._keep_papers(shown)
            self._db.execute(
                "INSERT INTO sentences SELECT ?, COUNT(*), ? FROM sentences WHERE turn = ?",
                (turn, entries.dump_sentence(sentence), turn),
            )

    def finish(self, turn: int, status: Status, answer: Answer | None, error: str = "") -> None:
        """Keep how a turn ended. The sentences of ``answer`` replace those kept while it was written."""
        with self._writing():
            note = json.loads(self._turn_about(turn))["note"]
            if answer is not None:
                self._keep_papers((*answer.references, *answer.nearest))
                self._db.execute("DELETE FROM sentences WHERE turn = ?", (turn,))
                self._db.executemany(
                    "INSERT INTO sentences VALUES (?, ?, ?)",
                    [(turn, n, entries.dump_sentence(s)) for n, s in enumerate(answer.sentences)],
                )
            about = About(note, error, entries.describe(answer) if answer else {})
            self._db.execute(
                "UPDATE turns SET status = ?, about = ? WHERE id = ?",
                (status, entries.dump_about(about), turn),
            )

    def undo(self, turn: int, *, undone: bool = True) -> None:
        """Take a turn out of the conversation, or put it back; its papers keep their numbers."""
        self._change("UPDATE turns SET undone = ? WHERE id = ?", (int(undone), turn))

    def papers(self) -> dict[int, Paper]:
        """The papers shown so far by number, as they were then."""
        rows = self._select("SELECT ref, body FROM papers WHERE session = ? ORDER BY ref", (self.id,))
        return {int(ref): entries.load_paper(body) for ref, body in rows}

    def entries(self, last: int | None = None) -> Iterator[Entry]:
        """Yield the turns in order, those undone left out; only the ``last`` few when a number is given."""
        rows = self._select(
            "SELECT id, question, meant, status, about, started FROM turns WHERE session = ? AND undone = 0"
            " ORDER BY id",
            (self.id,),
        )
        papers = self.papers()
        for number, row in list(enumerate(rows, 1))[-last if last else 0 :]:
            yield self._entry(number, row, papers)

    def spent(self) -> tuple[Usage, int]:
        """Tokens and cost of all turns, undone ones too, and how many a model answered.

        The cost is None when that of any turn is unknown.
        """
        prompt = completion = count = 0
        cost: float | None = 0.0
        for (text,) in self._select("SELECT about FROM turns WHERE session = ?", (self.id,)):
            answer = json.loads(text)["answer"]
            usage = Usage(**answer.get("usage", {}))
            if usage.prompt_tokens:
                count += 1
                prompt, completion = prompt + usage.prompt_tokens, completion + usage.completion_tokens
                known = cost is not None and usage.cost_usd is not None
                cost = (cost or 0.0) + (usage.cost_usd or 0.0) if known else None
        return Usage(prompt, completion, cost), count

    def _entry(self, number: int, row: tuple[Any, ...], papers: dict[int, Paper]) -> Entry:
        id_, question, meant, status, about_text, started = row
        about = About(**json.loads(about_text))
        bodies = self._select("SELECT body FROM sentences WHERE turn = ? ORDER BY number", (id_,))
        sentences = [entries.load_sentence(body) for (body,) in bodies]
        answer = None
        if sentences or about.answer:
            answer = entries.rebuild(meant, status, about, sentences, papers)
        return Entry(
            id=int(id_),
            number=number,
            question=question,
            meant=meant,
            status=status,
            started=float(started),
            note=about.note,
            error=about.error,
            answer=answer,
        )

    def _turn_about(self, turn: int) -> str:
        return str(self._select("SELECT about FROM turns WHERE id = ?", (turn,))[0][0])

    def _keep_papers(self, shown: Iterable[Reference]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO papers VALUES (?, ?, ?, ?)",
            [(self.id, r.ref, r.paper.key, entries.dump_paper(r.paper)) for r in shown],
        )

    def _change(self, query: str, values: Sequence[object]) -> None:
        with self._writing():
            self._db.execute(query, values)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction, after which this is the session used last."""
        with database.transaction(self._db, self._folder):
            yield
            self._db.execute("UPDATE sessions SET changed = ? WHERE id = ?", (time.time(), self.id))

    def _select(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with database.faults(self._folder):
            return self._db.execute(query, values).fetchall()


def _about(note: str) -> str:
    return entries.dump_about(About(note))
