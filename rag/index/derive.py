"""Papers and passages from records: what each paper is after the records of some changed.

A *record* is one paper as one file states it; a *paper* is what its records make together. Records are merged
in the order of file and number, whatever the order in which they came, so that what a paper says follows from
the files and not from the history. Two things do not: its key is that of the record which came first, and its
records stay together when the one that linked them is gone. Everything happens in the transaction of the
caller.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from rag.index import rows
from rag.index.parts import Identity
from rag.index.passages import Prepared, Splitter
from rag.records import Paper, Source

# What this run touched, which passages it brought, and which it dropped.
_TEMPORARY = {
    "touched": "key TEXT PRIMARY KEY, before TEXT",
    "fresh": "id TEXT PRIMARY KEY",
    "gone": "id TEXT PRIMARY KEY, text_hash TEXT NOT NULL",
    "given": "file TEXT PRIMARY KEY",
}


class Derivation:
    """One run of deriving papers: first the touched ones are named, then they are settled.

    Args:
        db: the records, in a transaction.
    """

    def __init__(self, db: sqlite3.Connection, identity: Identity, splitter: Splitter) -> None:
        self._db = db
        self._identity = identity
        self._splitter = splitter
        for name, columns in _TEMPORARY.items():  # executescript would commit the transaction
            db.execute(f"DROP TABLE IF EXISTS temp.{name}")
            db.execute(f"CREATE TEMP TABLE {name} ({columns})")

    def touch(self, key: str) -> None:
        """Name a paper whose records are about to change."""
        self._db.execute(
            "INSERT OR IGNORE INTO temp.touched VALUES (?1, (SELECT hash FROM papers WHERE key = ?1))", (key,)
        )

    def touch_all(self) -> None:
        """Derive every paper anew."""
        self._db.execute("INSERT OR IGNORE INTO temp.touched SELECT key, hash FROM papers")

    def settle(self) -> None:
        """Derive papers and passages from the records that changed."""
        keys = [""]
        query = "SELECT key FROM temp.touched WHERE key > ? ORDER BY key LIMIT 1000"
        while keys := [key for (key,) in self._db.execute(query, (keys[-1],))]:
            for key in keys:
                self._settle(key)

    def counts(self, files: Sequence[str]) -> tuple[int, int, int, int]:
        """Return added, changed, unchanged (of ``files``, as the records call them) and removed papers."""
        row = self._db.execute(
            "SELECT coalesce(sum(t.before IS NULL AND p.key IS NOT NULL), 0),"
            " coalesce(sum(t.before <> p.hash), 0),"
            " coalesce(sum(t.before IS NOT NULL AND p.key IS NULL), 0)"
            " FROM temp.touched t LEFT JOIN papers p ON p.key = t.key"
        ).fetchone()
        added, changed, removed = map(int, row)
        # A name that is no Unicode cannot be stored, so no record has it.
        names = ((name.encode(errors="replace").decode(),) for name in files)
        self._db.executemany("INSERT OR IGNORE INTO temp.given VALUES (?)", names)
        present = self._db.execute(
            "SELECT count(DISTINCT paper_key) FROM records WHERE file IN (SELECT file FROM temp.given)"
            " AND paper_key NOT IN (SELECT t.key FROM temp.touched t JOIN papers p ON p.key = t.key"
            " WHERE t.before IS NULL OR t.before <> p.hash)"
        ).fetchone()[0]
        return added, changed, int(present), removed

    def _settle(self, key: str) -> None:
        paper = self._merged(key)
        if paper is None:
            self._db.execute("DELETE FROM papers WHERE key = ?", (key,))
            self._replace_passages(key, [])
            return
        body, _ = rows.pack(paper)
        sources = rows.pack_sources([paper.source, *paper.also])
        self._db.execute(
            "INSERT OR REPLACE INTO papers VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            rows.paper_row(paper, body, sources),
        )
        self._replace_passages(key, self._splitter.prepare(paper))

    def _merged(self, key: str) -> Paper | None:
        """The paper that its records make, its sources those of all records."""
        found = self._db.execute(
            "SELECT abstract, body, source FROM records WHERE paper_key = ? ORDER BY file, number, id", (key,)
        )
        sources: list[Source] = []
        paper: Paper | None = None
        for abstract, body, source in found.fetchall():
            here = rows.unpack_sources(source)
            record = rows.unpack(key, abstract, body, here)
            paper = record if paper is None else self._identity.merge(paper, record)
            sources += [each for each in here if each not in sources]
        return paper and replace(paper, key=key, source=sources[0], also=tuple(sources[1:]))

    def _replace_passages(self, key: str, wanted: list[Prepared]) -> None:
        old = dict(
            self._db.execute("SELECT id, text_hash FROM passages WHERE paper_key = ?", (key,)).fetchall()
        )
        new = {each.passage.id: each for each in wanted}
        for id_ in old.keys() - new.keys():
            self._db.execute("DELETE FROM passages WHERE id = ?", (id_,))
            self._db.execute("INSERT OR IGNORE INTO temp.gone VALUES (?, ?)", (id_, old[id_]))
        for id_ in new.keys() - old.keys():
            each = new[id_]
            titled = each.embedded != each.passage.text
            row = (id_, key, each.passage.start, each.passage.end, titled, each.text_hash)
            self._db.execute("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)", row)
            self._db.execute("INSERT INTO temp.fresh VALUES (?)", (id_,))
