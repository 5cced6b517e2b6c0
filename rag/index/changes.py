"""Brings records into line with files, inside one transaction that the caller ends.

Files are compared first by size and time, then by content; records by content, so that one inserted at the
top of a list leaves the others alone. A new record belongs to the paper with which it shares a signature, or
else is a paper of its own; papers between which it is the link become one.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from rag.errors import RagError
from rag.index import rows
from rag.index.derive import Derivation
from rag.index.parts import Identity, Read
from rag.index.shared import FileNames
from rag.index.ways import Ways
from rag.records import Failure, Paper

# A file written again within this time of being read may keep its size and its time.
_CLOCK_TICK = 50_000_000
_COARSE_CLOCK = 2_000_000_000
# What thousands of records share says nothing of any of them, and all of them would be asked each time.
_ASKED = 8
_MOST_RECORDS = 20


class Changes:
    """One run of bringing papers into line.

    Args:
        db: the records, in a transaction.
        papers: told which papers a change of records concerns.
        read: yields the papers and failures of a file.
        reading: a name for how files are read; files read under another one are read again.
        ways: what was given for reading some of them, which is part of how they are read.
        files: what files are called in the records.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        papers: Derivation,
        *,
        read: Read,
        identity: Identity,
        reading: str,
        ways: Ways,
        files: FileNames,
    ) -> None:
        self._db = db
        self._read = read
        self._identity = identity
        self._papers = papers
        self._reading = reading
        self._ways = ways
        self._files = files
        self._run = int(db.execute("SELECT coalesce(max(run), 0) + 1 FROM records").fetchone()[0])
        self.failed: list[Failure] = []

    def take_file(self, path: Path) -> None:
        """Read ``path`` if it changed; a file that cannot be read keeps what it gave before.

        One that could not be read as a whole, or one of whose members could not, is read again in any case:
        what it lacked (an extra, rights, memory) may be there by now. A bad record stays as bad as it was.
        """
        name, shown = self._files.name(path), str(path.absolute())
        if not _is_text(name):
            self.failed.append(Failure(ascii(shown), 0, "the file's name is not valid Unicode"))
            return
        reading = self._reading_of(name)
        checked = time.time_ns()
        try:
            stat = path.stat()
            if self._is_unchanged(name, stat.st_size, stat.st_mtime_ns, reading):
                self._fail_again(path, name)
                return
            digest = _digest(path)
        except OSError as error:
            self.failed.append(Failure(shown, 0, reason(error)))
            return
        state = (stat.st_size, stat.st_mtime_ns, checked, digest, reading)
        if self._db.execute(
            "SELECT 1 FROM files WHERE path = ? AND sha256 = ? AND reading = ? AND NOT failed",
            (name, digest, reading),
        ).fetchone():
            self._remember(name, state, failed=False)
            self._fail_again(path, name)
        else:
            self._read_again(path, name, state)

    def drop_missing_files(self) -> None:
        """Drop the records of files that are no longer there; those of other machines may be there."""
        known = "SELECT path FROM files UNION SELECT file FROM records ORDER BY 1"
        for (name,) in self._db.execute(known).fetchall():
            path = self._files.path(name)
            if path is not None and not path.exists():
                drop_records(self._db, self._papers, "file = ?", (name,))
                self._db.execute("DELETE FROM files WHERE path = ?", (name,))
                self._db.execute("DELETE FROM failures WHERE file = ?", (name,))

    def _reading_of(self, name: str) -> str:
        way = str(self._ways.of(name))
        return hashlib.sha256(f"{self._reading} {way}".encode()).hexdigest()[:16] if way else self._reading

    def _is_unchanged(self, name: str, size: int, mtime_ns: int, reading: str) -> bool:
        row = self._db.execute(
            "SELECT checked_ns FROM files WHERE path = ? AND size = ? AND mtime_ns = ? AND reading = ?"
            " AND NOT failed",
            (name, size, mtime_ns, reading),
        ).fetchone()
        tick = _COARSE_CLOCK if mtime_ns % 1_000_000_000 == 0 else _CLOCK_TICK
        return row is not None and mtime_ns + tick < row[0]

    def _read_again(self, path: Path, name: str, state: tuple[int, int, int, str, str]) -> None:
        self._db.execute("SAVEPOINT file")
        try:
            failures = self._take_all(path, name)
        except _Unreadable as error:
            self._db.execute("ROLLBACK TO file")
            self._db.execute("RELEASE file")
            self.failed += error.failures
            return
        lost = [failure.error for failure in failures if failure.record == 0]
        self._drop_unseen(name, lost)
        self._remember(name, state, failed=bool(lost))
        self._db.execute("DELETE FROM failures WHERE file = ?", (name,))
        self._db.executemany(
            "INSERT INTO failures VALUES (?, ?, ?, ?)", ((name, f.record, f.line, f.error) for f in failures)
        )
        self._db.execute("RELEASE file")
        self.failed += failures

    def _fail_again(self, path: Path, name: str) -> None:
        """Report the records that failed when an unchanged file was read."""
        known = "SELECT record, line, error FROM failures WHERE file = ? ORDER BY rowid"
        for record, line, error in self._db.execute(known, (name,)).fetchall():
            self.failed.append(Failure(str(path), record, error, line))

    def _take_all(self, path: Path, name: str) -> list[Failure]:
        """Take the papers of a file and return the failures in it.

        A failure with record 0 is that of the whole file, except among papers of its members: there it is
        one of the members, and a zip with a note among its papers is no file that cannot be read.
        """
        failures: list[Failure] = []
        has_members = False
        try:
            for item in self._read_safely(path):
                failure = item if isinstance(item, Failure) else self._take(name, item)
                if failure is not None:
                    failures.append(failure)
                elif isinstance(item, Paper) and "member" in item.extra:
                    has_members = True
        except _Unreadable as error:
            raise _Unreadable([*failures, *error.failures]) from error
        if not has_members and any(failure.record == 0 for failure in failures):
            raise _Unreadable(failures)
        return failures

    def _drop_unseen(self, name: str, lost: list[str]) -> None:
        """Drop the records that are no longer in a file; those of a member that was ``lost`` stay."""
        gone, values = "file = ? AND run <> ?", (name, self._run)
        if not lost:
            drop_records(self._db, self._papers, gone, values)
            return
        for id_, body in self._db.execute(f"SELECT id, body FROM records WHERE {gone}", values).fetchall():
            member = json.loads(body)[-1].get("member")
            if not any(error.startswith(f"{member}: ") for error in lost):
                drop_records(self._db, self._papers, "id = ?", (id_,))

    def _read_safely(self, path: Path) -> Iterator[Paper | Failure]:
        """What ``read`` yields. Whatever it raises concerns this one file and must not cost the others."""
        items: Iterator[Paper | Failure] | None = None
        while True:
            try:
                items = self._read(path) if items is None else items
                item = next(items)
            except StopIteration:
                return
            except Exception as error:  # a reader's bug on odd input, reported with its type
                raise _Unreadable([Failure(str(path.absolute()), 0, reason(error))]) from error
            yield item

    def _take(self, file: str, paper: Paper) -> Failure | None:
        try:
            body, digest = rows.pack(paper)
            source = rows.pack_sources([paper.source])
            (paper.key + source).encode()  # SQLite refuses half a surrogate pair
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
            self._papers.touch(key)
        return None

    def _add(self, file: str, paper: Paper, body: str, digest: str, source: str) -> None:
        signatures = list(dict.fromkeys(self._identity.signatures(paper)))
        same = self._same_papers(paper, signatures)
        key = same[0] if same else self._identity.distinct(paper.key, _Taken(self._db))
        self._papers.touch(key)
        for other in same[1:]:
            self._papers.touch(other)
            self._db.execute("UPDATE records SET paper_key = ? WHERE paper_key = ?", (key, other))
        cursor = self._db.execute(
            "INSERT INTO records (file, number, source, hash, paper_key, abstract, body, run)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (file, paper.source.record, source, digest, key, paper.abstract, body, self._run),
        )
        self._db.executemany(
            "INSERT INTO signatures VALUES (?, ?)", ((each, cursor.lastrowid) for each in signatures)
        )

    def _same_papers(self, paper: Paper, signatures: list[str]) -> list[str]:
        """The papers of which ``paper`` is a record; where they are several, it shows that they are one."""
        found: list[str] = []
        for signature in signatures:
            rows_ = self._db.execute(
                "SELECT r.paper_key FROM signatures s JOIN records r ON r.id = s.record"
                " WHERE s.signature = ? ORDER BY s.record LIMIT ?",
                (signature, _ASKED),
            )
            for key in dict.fromkeys(str(key) for (key,) in rows_.fetchall()):
                if key not in found and self._agrees(signature, paper, key, found):
                    found.append(key)
        return found

    def _agrees(self, signature: str, paper: Paper, key: str, found: list[str]) -> bool:
        """Whether nothing speaks against that ``paper``, and the papers ``found``, are the paper ``key``."""
        if self._identity.contradicted(signature, paper, self._records_of(key)):
            return False
        return not any(
            self._identity.contradicted(signature, record, self._records_of(other))
            for other in found
            for record in self._records_of(key)
        )

    def _records_of(self, key: str) -> Iterator[Paper]:
        """The records of a paper, as many as are asked whether another one is of that paper."""
        query = "SELECT abstract, body, source FROM records WHERE paper_key = ? ORDER BY id LIMIT ?"
        for abstract, body, source in self._db.execute(query, (key, _MOST_RECORDS)).fetchall():
            yield rows.unpack(key, abstract, body, rows.unpack_sources(source))

    def _remember(self, name: str, state: tuple[int, int, int, str, str], *, failed: bool) -> None:
        self._db.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", (name, *state, failed))


class _Unreadable(Exception):
    """A file could not be read as a whole; ``failures`` say why."""

    def __init__(self, failures: list[Failure]) -> None:
        super().__init__(failures)
        self.failures = failures


class _Taken:
    """The keys in use, asked one by one."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __contains__(self, key: object) -> bool:
        # Records, since those of this run have no paper yet.
        return self._db.execute("SELECT 1 FROM records WHERE paper_key = ?", (key,)).fetchone() is not None


def _is_text(name: str) -> bool:
    """Whether it can be stored; bytes of a file name that are no UTF-8 come as halves of surrogate pairs."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def reason(error: BaseException) -> str:
    """Return what went wrong with a file, in one line for its ``Failure``."""
    if isinstance(error, RagError):
        return str(error)
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"{type(error).__name__}: {error}"


def drop_paper(db: sqlite3.Connection, papers: Derivation, key: str) -> None:
    """Drop all records of a paper; the next ingest of a file that still holds it brings it back."""
    db.execute("DELETE FROM files WHERE path IN (SELECT file FROM records WHERE paper_key = ?)", (key,))
    drop_records(db, papers, "paper_key = ?", (key,))


def drop_records(db: sqlite3.Connection, papers: Derivation, where: str, values: tuple[object, ...]) -> None:
    """Drop the records that ``where`` selects."""
    for id_, key in db.execute(f"SELECT id, paper_key FROM records WHERE {where}", values).fetchall():
        papers.touch(key)
        db.execute("DELETE FROM signatures WHERE record = ?", (id_,))
        db.execute("DELETE FROM records WHERE id = ?", (id_,))
