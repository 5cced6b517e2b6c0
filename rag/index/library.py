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
from typing import Any, NamedTuple, Self

from rag.errors import IndexMismatch, IndexMissing
from rag.index import rows
from rag.index.database import batched, faults, open_readonly
from rag.index.manifest import Manifest, check_format
from rag.records import Filters, IndexInfo, Paper, Passage
from rag.text import venues

EXACT = "exact"
_VECTORS = ("chroma", "chroma-2")
_BATCH = 500
_ALL = Filters()


class Made(NamedTuple):
    """Where what was made from the records of a published state is."""

    fingerprint: str
    keywords: Path
    vectors: Path

    @property
    def exact(self) -> Path:
        """Where the matrix is, if there is one: with the keyword index, made and deleted as one."""
        return self.keywords / EXACT


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
        self._embedder = embedder
        # A conversation asks many questions under one filter: what it keeps is looked up once for each state.
        self._kept: tuple[tuple[str, Filters], frozenset[str]] | None = None
        self._kept_passages: tuple[str, frozenset[str], frozenset[str]] | None = None
        check_format(folder)
        self._db = open_readonly(folder)
        with faults(folder):
            if not self.published():
                self._db.close()
                raise IndexMissing(
                    f"The index in {folder} was never finished.", "Run the same rag ingest again."
                )
            made_with = self.manifest.embedder
            self._checked = self.published()
        if embedder is not None and embedder != made_with:
            self._db.close()
            raise _wrong_embedder_in(folder, made_with, embedder)

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
        """Fingerprint of the state in the folder.

        Raises:
            IndexMismatch: meanwhile it was made anew with another embedder.
        """
        now = self.published()
        if now != self._checked and self._embedder is not None:
            made_with = self.manifest.embedder
            if made_with != self._embedder:
                raise _wrong_embedder_in(self.folder, made_with, self._embedder)
        self._checked = now
        return now

    def published(self) -> str:
        """Fingerprint of the state in the folder, empty when there is none yet."""
        return published_fingerprint(self._db)

    def made(self) -> Made:
        """Where the parts of the published state are."""
        with faults(self.folder):
            return made(self.folder, self._db)

    @property
    def keyword_folder(self) -> Path:
        return self.made().keywords

    @property
    def vector_folder(self) -> Path:
        return self.made().vectors

    def paper(self, key: str) -> Paper | None:
        return self.papers_of([key]).get(key)

    def papers(self, filters: Filters = _ALL) -> Iterator[Paper]:
        """Yield the papers that pass ``filters``, by key."""
        if not filters:
            with faults(self.folder):
                for row in self._db.execute("SELECT key, abstract, body, sources FROM papers ORDER BY key"):
                    yield _paper(row)
            return
        yield from self._papers_of(sorted(self.keys(filters)))

    def papers_of(self, keys: Iterable[str]) -> dict[str, Paper]:
        """Return the published ones of ``keys``."""
        return {paper.key: paper for paper in self._papers_of(keys)}

    def _papers_of(self, keys: Iterable[str]) -> Iterator[Paper]:
        for batch in batched(keys, _BATCH):
            marks = _marks(batch)
            query = f"SELECT key, abstract, body, sources FROM papers WHERE key IN ({marks}) ORDER BY key"
            yield from map(_paper, self._select(query, batch))

    def keys(self, filters: Filters = _ALL) -> frozenset[str]:
        """Return the keys of the papers that pass ``filters``."""
        state = (self.published(), filters)
        if self._kept is None or self._kept[0] != state:
            self._kept = (state, self._passing(filters))
        return self._kept[1]

    def _passing(self, filters: Filters) -> frozenset[str]:
        where, values = _where(filters, self._venues(filters.venues))
        if not filters.authors:
            return frozenset(key for (key,) in self._select(f"SELECT key FROM papers WHERE {where}", values))
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

    def owners(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the paper's key of each published one of ``ids``, without reading any text."""
        query = "SELECT id, paper_key FROM passages WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._select(query, [json.dumps(list(ids))]))

    def passages_of(self, keys: Iterable[str]) -> dict[str, list[Passage]]:
        """Return the passages of each paper, in the order of its abstract."""
        grouped: dict[str, list[Passage]] = {}
        for passage in self._passages("p.paper_key", keys):
            grouped.setdefault(passage.paper_key, []).append(passage)
        return grouped

    def passage_ids(self, keys: Iterable[str]) -> frozenset[str]:
        """Return the ids of all passages of ``keys``, without their text."""
        wanted = frozenset(keys)  # the same object when it is one
        state = self.published()
        if self._kept_passages is None or self._kept_passages[:2] != (state, wanted):
            query = "SELECT id FROM passages WHERE paper_key IN (SELECT value FROM json_each(?))"
            found = self._select(query, [json.dumps(list(wanted))])
            self._kept_passages = (state, wanted, frozenset(id_ for (id_,) in found))
        return self._kept_passages[2]

    def count_papers(self) -> int:
        return int(self._select("SELECT count(*) FROM papers")[0][0])

    def count_passages(self) -> int:
        return int(self._select("SELECT count(*) FROM passages")[0][0])

    def _passages(self, column: str, values: Iterable[str]) -> Iterator[Passage]:
        query = (
            "SELECT p.id, p.paper_key, p.start, p.stop, papers.abstract FROM passages p"
            f" JOIN papers ON papers.key = p.paper_key WHERE {column} IN (%s) ORDER BY p.start, p.id"
        )
        for batch in batched(values, _BATCH):
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


def made(folder: Path, db: sqlite3.Connection) -> Made:
    """Return where the parts of the published state are, all as of one moment."""
    said = dict(
        db.execute("SELECT name, value FROM meta WHERE name IN ('fingerprint', 'keywords', 'vectors')")
    )
    fingerprint = said.get("fingerprint", "")
    keywords = keyword_folder(folder, said.get("keywords") or fingerprint)
    return Made(fingerprint, keywords, folder / (said.get("vectors") or _VECTORS[0]))


def keyword_folder(folder: Path, name: str) -> Path:
    return folder / "keyword" / name


def other_vectors(folder: Path) -> Path:
    """Return the folder in which the vectors are made anew while those in ``folder`` are read."""
    return folder.with_name(_VECTORS[folder.name == _VECTORS[0]])


def vector_folders(folder: Path) -> list[Path]:
    """Return the folders in which an index may have vectors."""
    return [folder / name for name in _VECTORS]


def _wrong_embedder_in(folder: Path, made_with: str, wanted: str) -> IndexMismatch:
    return wrong_embedder(f"The index in {folder}", made_with, wanted, f"rag index rebuild --index {folder}")


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
    if filters.without:
        parts.append(f"key NOT IN ({_marks(filters.without)})")
        values += filters.without
    return " AND ".join(parts), values


def _by_author(authors: str, wanted: tuple[str, ...]) -> bool:
    return not wanted or any(rows.author_matches(authors, name) for name in wanted)


def _marks(values: Iterable[object]) -> str:
    return ",".join("?" for _ in values)
