"""An opened index: its papers and passages for reading.

    library = Library(Path("my-index"))
    library.info                                # IndexInfo(papers=38, passages=41, ...)
    library.paper("lee2025revise").title

Other processes may write meanwhile: each call sees the state that was published last, never a half-written
one. ``fingerprint()`` tells whether it changed between two calls.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rag.errors import IndexMismatch, IndexMissing
from rag.index import rows
from rag.index.database import faults, open_readonly
from rag.index.manifest import Manifest, check_format
from rag.records import Filters, IndexInfo, Paper, Passage
from rag.text import venues

EXACT = "exact"
_BATCH = 500
_ALL = Filters()


class Library:
    """The records of the index in ``folder``; implements ``rag.ports.PaperStore``.

    Args:
        folder: the index folder.
        embedder: id of the embedder that will be used with it, when there is one.

    Raises:
        IndexMissing: no index there, or one whose first ingest was cut off.
        IndexMismatch: made with another format or another embedder.
        EnvironmentFault: unreadable.
    """

    def __init__(self, folder: Path, embedder: str | None = None) -> None:
        self.folder = folder
        check_format(folder)
        self._db = open_readonly(folder)
        with faults(folder):
            if not self.published():
                self._db.close()
                raise IndexMissing(
                    f"The index in {folder} was never finished.", "Run the same rag ingest again."
                )
            made_with = self.manifest.embedder
        if embedder is not None and embedder != made_with:
            self._db.close()
            name, again = f"The index in {folder}", f"rag index rebuild --index {folder}"
            raise wrong_embedder(name, made_with, embedder, again)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    @property
    def manifest(self) -> Manifest:
        """What the published state was made with."""
        with faults(self.folder):
            row = self._db.execute("SELECT value FROM meta WHERE name = 'manifest'").fetchone()
        return Manifest.loads(row[0])

    @property
    def info(self) -> IndexInfo:
        return self.manifest.info

    def fingerprint(self) -> str:
        return self.published()

    def published(self) -> str:
        """Fingerprint of the state in the folder, empty when there is none yet."""
        return published_fingerprint(self._db)

    @property
    def keyword_folder(self) -> Path:
        """Where the keyword index of the published state is."""
        return keyword_folder(self.folder, self.published())

    @property
    def vector_folder(self) -> Path:
        return vector_folder(self.folder)

    def paper(self, key: str) -> Paper | None:
        rows_ = self._select("SELECT key, abstract, body, sources FROM papers WHERE key = ?", (key,))
        return next((_paper(row) for row in rows_), None)

    def papers(self, filters: Filters = _ALL) -> Iterator[Paper]:
        """Yield the papers that pass ``filters``, by key."""
        if not filters:
            with faults(self.folder):
                for row in self._db.execute("SELECT key, abstract, body, sources FROM papers ORDER BY key"):
                    yield _paper(row)
            return
        for batch in _batches(sorted(self.keys(filters))):
            marks = _marks(batch)
            query = f"SELECT key, abstract, body, sources FROM papers WHERE key IN ({marks}) ORDER BY key"
            for row in self._select(query, batch):
                yield _paper(row)

    def keys(self, filters: Filters = _ALL) -> frozenset[str]:
        """Return the keys of the papers that pass ``filters``."""
        where, values = _where(filters, self._venues(filters.venues))
        found = self._select(f"SELECT key, authors FROM papers WHERE {where}", values)
        return frozenset(key for key, authors in found if _by_author(authors, filters.authors))

    def _venues(self, wanted: Iterable[str]) -> list[str]:
        """The venues of the pile that are meant by ``wanted``."""
        if not wanted:
            return []
        every = self._select("SELECT DISTINCT venue FROM papers WHERE venue IS NOT NULL")
        return [venue for (venue,) in every if any(venues.same(name, venue) for name in wanted)]

    def passages(self, ids: Iterable[str]) -> dict[str, Passage]:
        """Return the published ones of ``ids``."""
        return {p.id: p for p in self._passages("p.id", ids)}

    def passages_of(self, keys: Iterable[str]) -> dict[str, list[Passage]]:
        """Return the passages of each paper, in the order of its abstract."""
        grouped: dict[str, list[Passage]] = {}
        for passage in self._passages("p.paper_key", keys):
            grouped.setdefault(passage.paper_key, []).append(passage)
        return grouped

    def passage_ids(self, keys: Iterable[str]) -> frozenset[str]:
        """Return the ids of all passages of ``keys``, without their text."""
        found: set[str] = set()
        for batch in _batches(list(keys)):
            query = f"SELECT id FROM passages WHERE paper_key IN ({_marks(batch)})"
            found.update(id_ for (id_,) in self._select(query, batch))
        return frozenset(found)

    def count_papers(self) -> int:
        return int(self._select("SELECT count(*) FROM papers")[0][0])

    def count_passages(self) -> int:
        return int(self._select("SELECT count(*) FROM passages")[0][0])

    def _passages(self, column: str, values: Iterable[str]) -> Iterator[Passage]:
        query = (
            "SELECT p.id, p.paper_key, p.start, p.stop, papers.abstract FROM passages p"
            f" JOIN papers ON papers.key = p.paper_key WHERE {column} IN (%s) ORDER BY p.start, p.id"
        )
        for batch in _batches(list(values)):
            for id_, key, start, stop, abstract in self._select(query % _marks(batch), batch):
                yield Passage(id_, key, abstract[start:stop], start, stop)

    def _select(self, query: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        with faults(self.folder):
            return self._db.execute(query, tuple(values)).fetchall()


def published_fingerprint(db: sqlite3.Connection) -> str:
    return _meta(db, "fingerprint")


def published_token(db: sqlite3.Connection) -> str:
    """Which state of a server this is; empty for none."""
    return _meta(db, "server")


def _meta(db: sqlite3.Connection, name: str) -> str:
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return row[0] if row else ""


def keyword_folder(folder: Path, fingerprint: str) -> Path:
    return folder / "keyword" / fingerprint


def exact_folder(folder: Path, fingerprint: str) -> Path:
    """Where the matrix of a state is, if it has one: with the keyword index, made and deleted as one."""
    return keyword_folder(folder, fingerprint) / EXACT


def vector_folder(folder: Path) -> Path:
    return folder / "chroma"


def wrong_embedder(name: str, made_with: str, wanted: str, again: str) -> IndexMismatch:
    """The error for an index, called ``name``, of another embedder; ``again`` is the command to embed it."""
    return IndexMismatch(
        f"{name} was made with the embedder {made_with}, not {wanted}.",
        f"Set the embedder to {made_with}, or embed it anew: {again}",
    )


def _paper(row: tuple[str, ...]) -> Paper:
    key, abstract, body, sources = row
    return rows.unpack(key, abstract, body, rows.unpack_sources(sources))


def _where(filters: Filters, among: list[str]) -> tuple[str, list[object]]:
    """Condition and values; ``among`` are the venues of the pile that the filters mean."""
    parts, values = ["1"], list[object]()
    if filters.venues:
        parts.append("venue IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(among))
    if filters.years:
        parts.append("(" + " OR ".join("year BETWEEN ? AND ?" for _ in filters.years) + ")")
        values += [year for span in filters.years for year in span]
    if filters.papers:
        parts.append(f"key IN ({_marks(filters.papers)})")
        values += filters.papers
    return " AND ".join(parts), values


def _by_author(authors: str, wanted: tuple[str, ...]) -> bool:
    return not wanted or any(rows.author_matches(authors, name) for name in wanted)


def _marks(values: Iterable[object]) -> str:
    return ",".join("?" for _ in values)


def _batches(values: list[str]) -> Iterator[list[str]]:
    for at in range(0, len(values), _BATCH):
        yield values[at : at + _BATCH]
