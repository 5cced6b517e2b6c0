"""The store of vectors by embedder and text, committed as they come."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rag.index.database import batched, open_vectors

_BATCH = 500


class StoredVectors:
    """Vectors of one embedder in the index ``folder``; implements ``rag.index.parts.VectorCache``."""

    def __init__(self, folder: Path, embedder: str) -> None:
        self._db: sqlite3.Connection = open_vectors(folder)
        self._embedder = embedder

    def close(self) -> None:
        self._db.close()

    def recall(self, text_hashes: Iterable[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for batch in batched(dict.fromkeys(text_hashes), _BATCH):
            marks = ",".join("?" * len(batch))
            query = f"SELECT text_hash, vector FROM vectors WHERE embedder = ? AND text_hash IN ({marks})"
            found.update(self._db.execute(query, (self._embedder, *batch)))
        return found

    def of(self, passages: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
        """Yield (id, vector) for (id, text hash) pairs, in order; raises KeyError when one is not stored."""
        for batch in batched(passages, _BATCH):
            known = self.recall(text_hash for _, text_hash in batch)
            for id_, text_hash in batch:
                yield id_, known[text_hash]

    def keep(self, vectors: Mapping[str, bytes]) -> None:
        rows = [(self._embedder, text_hash, vector) for text_hash, vector in vectors.items()]
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
        self._db.execute("COMMIT")

    def forget(self, text_hashes: Iterable[str]) -> None:
        """Drop vectors of texts that are no longer part of any paper."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany(
            "DELETE FROM vectors WHERE embedder = ? AND text_hash = ?",
            ((self._embedder, text_hash) for text_hash in text_hashes),
        )
        self._db.execute("COMMIT")
