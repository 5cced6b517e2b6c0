"""Brings the rows of a server into line with the records, and publishes them; one run of it.

    upload.compare()           # which rows of the touched papers differ
    upload.push(suspect)       # they are there, for the next generation
    upload.publish(manifest)   # readers see them
    upload.clean()             # what only the old state used is gone

The table ``shared`` holds the rows of the state in the transaction: (id, paper key).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace

from rag.errors import EnvironmentFault
from rag.index import paper_row
from rag.index.database import batched
from rag.index.manifest import Manifest
from rag.index.shared import Server, State, digest, row_id

_BATCH = 300


class Upload:
    """Publishes to ``server``, which is in ``state``, as its only writer."""

    def __init__(self, db: sqlite3.Connection, server: Server, state: State) -> None:
        self._db = db
        self._server = server
        self._state = state
        self._next = state.generation + 1
        self._added: dict[str, str] = {}
        self._gone: set[str] = set()

    @property
    def unfinished(self) -> bool:
        """Whether the last writer, of whichever machine, was cut off."""
        return self._state.unfinished

    def compare(self) -> bool:
        """Bring ``shared`` into line with the touched papers; return whether a row differs."""
        for (key,) in self._db.execute("SELECT key FROM temp.touched ORDER BY key").fetchall():
            text = paper_row.pack(self._db, key)
            new = row_id(text) if text is not None else None
            old = self._db.execute("SELECT id FROM shared WHERE key = ?", (key,)).fetchone()
            if old and old[0] != new:
                self._gone.add(old[0])
                self._db.execute("DELETE FROM shared WHERE id = ?", old)
            if new is not None and (new,) != old:
                self._added[new] = key
                self._db.execute("INSERT INTO shared VALUES (?, ?)", (new, key))
        return bool(self._added or self._gone)

    def begin(self) -> None:
        """Say that a writer is at work."""
        self._server.begin()

    def push(self, *, suspect: bool) -> None:
        """Write the rows that differ; a suspect server is compared whole."""
        if suspect:
            self._distrust()
        for batch in _batches(self._added):
            texts = {id_: paper_row.pack(self._db, self._added[id_]) for id_ in batch}
            self._server.add({id_: text for id_, text in texts.items() if text is not None}, self._next)
        for batch in _batches(self._gone):
            self._server.end(batch, self._next)

    def publish(self, manifest: Manifest) -> str:
        """Let readers see the new state; return its token.

        Raises:
            EnvironmentFault: another writer published meanwhile, against all locks.
        """
        now = self._server.state()
        if now is None or now.token != self._state.token:
            raise EnvironmentFault(
                f"Another writer published to {self._server.name} meanwhile.", "Run the same command again."
            )
        ids = {id_ for (id_,) in self._db.execute("SELECT id FROM shared")}
        if len(ids) != manifest.papers:
            raise RuntimeError(f"{len(ids)} rows for {manifest.papers} papers")
        published = State(now.origin, self._next, digest(ids), manifest, unfinished=True)
        self._server.publish(published)
        self._state = published
        return published.token

    def clean(self) -> None:
        """Delete what readers no longer see."""
        for batch in _batches(self._gone):
            self._server.delete(batch)
        self._server.publish(replace(self._state, unfinished=False))

    def problems(self) -> Iterator[str]:
        """Say what differs from the records."""
        wanted = dict(self._db.execute("SELECT id, key FROM shared"))
        live = self._server.live(self._state.generation)
        if lacking := len(wanted.keys() - live):
            yield f"The server lacks {lacking} of {len(wanted)} papers."
        if extra := len(self._server.every() - wanted.keys()):
            yield f"The server holds {extra} versions of papers that are not published."

    def _distrust(self) -> None:
        wanted: dict[str, str] = dict(self._db.execute("SELECT id, key FROM shared"))
        generation = self._state.generation
        live, every = self._server.live(generation), self._server.every()
        for batch in _batches(every - live - wanted.keys()):
            self._server.delete(batch)
        for batch in _batches(self._server.ending(generation) & wanted.keys()):
            self._server.end(batch, 0)
        self._added = {id_: key for id_, key in wanted.items() if id_ not in live}
        self._gone = live - wanted.keys()


def _batches(ids: Iterable[str]) -> Iterator[list[str]]:
    return batched(sorted(ids), _BATCH)
