"""The vector store of an index as its writer uses it: filled from the records, mistrusted after a crash.

side.drop_strangers()
missing = side.missing()
side.fill(missing, len(missing), progress)   # whatever state it was in, it now holds every passage
"""

from __future__ import annotations

import ctypes
import gc
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from rag.errors import EnvironmentFault
from rag.index import rows
from rag.index.database import batched
from rag.index.library import made, other_vectors
from rag.index.parts import Item, Parts, WritableVectors
from rag.index.passages import Prepared, joined
from rag.index.vectors import StoredVectors
from rag.records import Passage

Progress = Callable[[int, int], None]

_BATCH = 256
_SAMPLE = 100


class VectorSide:
    """The vector store beside the records ``db``, opened when it is first needed.

    ``folder`` is where it is; it moves when the store is made anew.
    """

    def __init__(self, folder: Path, parts: Parts, db: sqlite3.Connection, stored: StoredVectors) -> None:
        self.folder = made(folder, db).vectors
        self._parts = parts
        self._db = db
        self._stored = stored
        self._vectors: WritableVectors | None = None

    def close(self) -> None:
        """Let go of the store and the memory it takes; it is opened again when it is needed again."""
        if self._vectors is not None:
            self._vectors.close()
            self._vectors = None
            _give_back()

    def delete(self, ids: list[str]) -> None:
        self.opened().delete(ids)

    def opened(self) -> WritableVectors:
        """The vector store, opened when first needed."""
        if self._vectors is None:
            self._vectors = self._parts.open_vectors(self.folder)
        return self._vectors

    def replace(self) -> WritableVectors:
        """Open an empty vector store, beside the one that others may read until the new one is published."""
        self.close()
        self.folder = other_vectors(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        vectors = self.opened()
        vectors.reset()
        return vectors

    def sound_ids(self) -> set[str]:
        """Ids in the vector store; none if it is damaged, and then it is made anew."""
        try:
            ids = self.opened().ids()
            sound = self.opened().finds(self.sample(ids))
        except EnvironmentFault:
            sound = False
        if sound:
            return ids
        self.replace()
        return set()

    def drop_strangers(self) -> None:
        """Delete what is no passage, now or a moment ago; a damaged store is made anew."""
        stored = self.sound_ids()  # may open another store
        known = {*self._ids("passages"), *self._ids("temp.gone")}
        self.opened().delete(sorted(stored - known))

    def missing(self) -> list[str]:
        """Passages that the store lacks."""
        return sorted(set(self._ids("passages")) - self.opened().ids())

    def sample(self, ids: set[str]) -> dict[str, bytes]:
        """Stored vectors of some of ``ids``, spread evenly, to search for."""
        every = sorted(ids)
        chosen = every[:: max(1, len(every) // _SAMPLE)]
        marks = ",".join("?" * len(chosen))
        hashes = dict(
            self._db.execute(f"SELECT id, text_hash FROM passages WHERE id IN ({marks})", chosen).fetchall()
        )
        known = self._stored.recall(hashes.values())
        return {id_: known[text_hash] for id_, text_hash in hashes.items() if text_hash in known}

    def fill(self, ids: Iterable[str], total: int, progress: Progress | None) -> None:
        """Embed and store the passages ``ids``, ``total`` of them."""
        if not total:
            return
        ingest = self._parts.open_ingest(self.opened(), self._parts.embedder)
        done = 0
        for batch in batched(ids, _BATCH):
            if progress:
                progress(done, total)
            ingest.run(list(self._items(batch)), self._stored)
            done += len(batch)
        if progress:
            progress(total, total)

    def _items(self, ids: list[str]) -> Iterator[Item]:
        marks = ",".join("?" * len(ids))
        for id_, key, start, stop, titled, text_hash, abstract, body, sources in self._db.execute(
            "SELECT p.id, p.paper_key, p.start, p.stop, p.titled, p.text_hash, papers.abstract, papers.body,"
            " papers.sources FROM passages p JOIN papers ON papers.key = p.paper_key"
            f" WHERE p.id IN ({marks}) ORDER BY p.paper_key, p.start",
            ids,
        ):
            paper = rows.unpack(key, abstract, body, rows.unpack_sources(sources))
            text = abstract[start:stop]
            embedded = joined((paper.title or "").strip(), text) if titled else text
            yield paper, Prepared(Passage(id_, key, text, start, stop), embedded, text_hash)

    def _ids(self, table: str) -> list[str]:
        return [id_ for (id_,) in self._db.execute(f"SELECT id FROM {table} ORDER BY id")]


def _give_back() -> None:
    """Return freed memory to the system: glibc keeps it, and the keyword index then comes on top of it."""
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
