"""Brings records and papers into line with files, inside one transaction that the caller ends.

A *record* is one paper as one file states it; a *paper* is what its records make together. Files are compared
first by size and time, then by content; records by content, so that one inserted at the top of a list leaves
the others alone. Records of a paper are merged in the order of file and number, whatever the order in which
they came, so that the state follows from the files and not from the history.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rag.errors import RagError
from rag.index import rows
from rag.index.parts import Identity, Read
from rag.index.passages import Prepared, Splitter
from rag.records import Failure, Paper, Source

_TEMPORARY = {
    "touched": "key TEXT PRIMARY KEY, before TEXT",
    "fresh": "id TEXT PRIMARY KEY",
    "gone": "id TEXT PRIMARY KEY, text_hash TEXT NOT NULL",
    "given": "file TEXT PRIMARY KEY",
}
# A file written again within this time of being read may keep its size and its time.
_CLOCK_TICK = 50_000_000
_COARSE_CLOCK = 2_000_000_000


class Changes:
    """One run of bringing papers into line.

    Args:
        db: the records, in a transaction.
        read: yields the papers and failures of a file.
        reading: a name for how files are read; files read under another one are read again.
    """

    def __init__(
        self, db: sqlite3.Connection, *, read: Read, identity: Identity, splitter: Splitter, reading: str
    ) -> None:
        self._db = db
        self._read = read
        self._identity = identity
        self._splitter = splitter
        self._reading = reading
        self._run = int(db.execute("SELECT coalesce(max(run), 0) + 1 FROM records").fetchone()[0])
        self.failed: list[Failure] = []
        for name, columns in _TEMPORARY.items():  # executescript would commit the transaction
            db.execute(f"DROP TABLE IF EXISTS temp.{name}")
            db.execute(f"CREATE TEMP TABLE {name} ({columns})")

    def take_file(self, path: Path) -> None:
        """Read ``path`` if it changed; a file that cannot be read keeps what it gave before."""
        name = str(path.absolute())
        checked = time.time_ns()
        try:
            stat = path.stat()
            if self._is_unchanged(name, stat.st_size, stat.st_mtime_ns):
                return
            digest = _digest(path)
        except OSError as error:
            self.failed.append(Failure(name, 0, _reason(error)))
            return
        state = (stat.st_size, stat.st_mtime_ns, checked, digest, self._reading)
        if self._db.execute(
            "SELECT 1 FROM files WHERE path = ? AND sha256 = ? AND reading = ? AND NOT failed",
            (name, digest, self._reading),
        ).fetchone():
            self._remember(name, state, failed=False)
        else:
            self._read_again(path, name, state)

    def drop_missing_files(self) -> None:
        """Drop the records of files that are no longer there; standard input never was."""
        for (name,) in self._db.execute("SELECT path FROM files ORDER BY path").fetchall():
            if Path(name).is_absolute() and not Path(name).exists():
                self._drop_records("file = ?", (name,))
                self._db.execute("DELETE FROM files WHERE path = ?", (name,))
                self._db.execute("DELETE FROM failures WHERE file = ?", (name,))

    def drop_paper(self, key: str) -> None:
        """Drop all records of a paper; the next ingest of a file that still holds it brings it back."""
        self._db.execute(
            "DELETE FROM files WHERE path IN (SELECT file FROM records WHERE paper_key = ?)", (key,)
        )
        self._drop_records("paper_key = ?", (key,))

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

    def counts(self, files: Sequence[Path]) -> tuple[int, int, int, int]:
        """Return added, changed, unchanged (of ``files``) and removed papers."""
        row = self._db.execute(
            "SELECT coalesce(sum(t.before IS NULL AND p.key IS NOT NULL), 0),"
            " coalesce(sum(t.before <> p.hash), 0),"
            " coalesce(sum(t.before IS NOT NULL AND p.key IS NULL), 0)"
            " FROM temp.touched t LEFT JOIN papers p ON p.key = t.key"
        ).fetchone()
        added, changed, removed = map(int, row)
        names = ((str(path.absolute()),) for path in files)
        self._db.executemany("INSERT OR IGNORE INTO temp.given VALUES (?)", names)
        present = self._db.execute(
            "SELECT count(DISTINCT paper_key) FROM records WHERE file IN (SELECT file FROM temp.given)"
            " AND paper_key NOT IN (SELECT t.key FROM temp.touched t JOIN papers p ON p.key = t.key"
            " WHERE t.before IS NULL OR t.before <> p.hash)"
        ).fetchone()[0]
        return added, changed, int(present), removed

    def _is_unchanged(self, name: str, size: int, mtime_ns: int) -> bool:
        row = self._db.execute(
            "SELECT checked_ns FROM files WHERE path = ? AND size = ? AND mtime_ns = ? AND reading = ?"
            " AND NOT failed",
            (name, size, mtime_ns, self._reading),
        ).fetchone()
        tick = _COARSE_CLOCK if mtime_ns % 1_000_000_000 == 0 else _CLOCK_TICK
        return row is not None and mtime_ns + tick < row[0]

    def _read_again(self, path: Path, name: str, state: tuple[int, int, int, str, str]) -> None:
        failures: list[Failure] = []
        self._db.execute("SAVEPOINT file")
        try:
            for item in self._guarded(path):
                failure = item if isinstance(item, Failure) else self._take(name, item)
                if failure is not None:
                    failures.append(failure)
        except _Unreadable as error:
            self._db.execute("ROLLBACK TO file")
            self._db.execute("RELEASE file")
            self.failed.append(Failure(name, 0, str(error)))
            return
        self._drop_records("file = ? AND run <> ?", (name, self._run))
        self._remember(name, state, failed=bool(failures))
        self._db.execute("DELETE FROM failures WHERE file = ?", (name,))
        self._db.executemany(
            "INSERT INTO failures VALUES (?, ?, ?, ?)", ((name, f.record, f.line, f.error) for f in failures)
        )
        self._db.execute("RELEASE file")
        self.failed += failures

    def _guarded(self, path: Path) -> Iterator[Paper | Failure]:
        """What ``read`` yields. Whatever it raises concerns this one file and must not cost the others."""
        items: Iterator[Paper | Failure] | None = None
        while True:
            try:
                items = self._read(path) if items is None else items
                item = next(items)
            except StopIteration:
                return
            except Exception as error:  # a reader's bug on odd input, reported with its type
                raise _Unreadable(_reason(error)) from error
            yield item

    def _take(self, file: str, paper: Paper) -> Failure | None:
        try:
            body, digest = rows.pack(paper)
            source = rows.pack_sources([paper.source])
            source.encode()
        except (ValueError, TypeError) as error:
            return Failure(paper.source.file, paper.source.record, f"cannot be stored: {error}")
        known = self._db.execute(
            "SELECT id, number, source, paper_key FROM records WHERE file = ? AND hash = ? AND run <> ?"
            " ORDER BY id LIMIT 1",
            (file, digest, self._run),
        ).fetchone()
        if known is None:
            self._add(file, paper, body, digest, source)
            return None
        id_, number, old_source, key = known
        self._db.execute(
            "UPDATE records SET run = ?, number = ?, source = ? WHERE id = ?",
            (self._run, paper.source.record, source, id_),
        )
        if (number, old_source) != (paper.source.record, source):
            self._touch(key)
        return None

    def _add(self, file: str, paper: Paper, body: str, digest: str, source: str) -> None:
        signatures = list(dict.fromkeys(self._identity.signatures(paper)))
        key = self._same_paper(signatures) or self._identity.distinct(paper.key, _Taken(self._db))
        self._touch(key)
        cursor = self._db.execute(
            "INSERT INTO records (file, number, source, hash, paper_key, abstract, body, run)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (file, paper.source.record, source, digest, key, paper.abstract, body, self._run),
        )
        self._db.executemany(
            "INSERT INTO signatures VALUES (?, ?)", ((each, cursor.lastrowid) for each in signatures)
        )

    def _same_paper(self, signatures: list[str]) -> str | None:
        for signature in signatures:
            row = self._db.execute(
                "SELECT r.paper_key FROM signatures s JOIN records r ON r.id = s.record"
                " WHERE s.signature = ? ORDER BY r.id LIMIT 1",
                (signature,),
            ).fetchone()
            if row:
                return str(row[0])
        return None

    def _drop_records(self, where: str, values: tuple[object, ...]) -> None:
        for id_, key in self._db.execute(
            f"SELECT id, paper_key FROM records WHERE {where}", values
        ).fetchall():
            self._touch(key)
            self._db.execute("DELETE FROM signatures WHERE record = ?", (id_,))
            self._db.execute("DELETE FROM records WHERE id = ?", (id_,))

    def _touch(self, key: str) -> None:
        self._db.execute(
            "INSERT OR IGNORE INTO temp.touched VALUES (?1, (SELECT hash FROM papers WHERE key = ?1))", (key,)
        )

    def _remember(self, name: str, state: tuple[int, int, int, str, str], *, failed: bool) -> None:
        self._db.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", (name, *state, failed))

    def _settle(self, key: str) -> None:
        paper = self._merged(key)
        if paper is None:
            self._db.execute("DELETE FROM papers WHERE key = ?", (key,))
            self._replace_passages(key, [])
            return
        body, _ = rows.pack(paper)
        self._db.execute(
            "INSERT OR REPLACE INTO papers VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                key,
                paper.abstract,
                body,
                rows.pack_sources([paper.source, *paper.also]),
                paper.venue.strip().casefold() if paper.venue else None,
                paper.year,
                rows.folded_authors(paper.authors),
                rows.paper_hash(paper),
            ),
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


class _Unreadable(Exception):
    """A file could not be read to its end."""


class _Taken:
    """The keys in use, asked one by one."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __contains__(self, key: object) -> bool:
        # Records, since those of this run have no paper yet.
        return self._db.execute("SELECT 1 FROM records WHERE paper_key = ?", (key,)).fetchone() is not None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reason(error: BaseException) -> str:
    if isinstance(error, RagError):
        return str(error)
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"{type(error).__name__}: {error}"
