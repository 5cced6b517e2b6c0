"""The SQLite files of an index: their tables, how they are opened, and what their errors mean to a user.

``papers.sqlite`` is the truth; an ingest, however long, is one transaction on it, so that readers see the
old state until it is complete and a killed one leaves no trace. ``vectors.sqlite`` keeps what was embedded,
by embedder and text, and is committed as the vectors come: a killed ingest does not embed anything twice.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

from rag.errors import EnvironmentFault, IndexMismatch, IndexMissing

FORMAT = 1
PAPERS = "papers.sqlite"
VECTORS = "vectors.sqlite"
_APPLICATION = 0x63697465  # "cite"
_PATIENCE = 30.0  # seconds for another process to let go

Value = TypeVar("Value")
_REFUSED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)

_PAPERS_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, checked_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL, reading TEXT NOT NULL, failed INTEGER NOT NULL);
CREATE TABLE records (
    id INTEGER PRIMARY KEY, file TEXT NOT NULL, number INTEGER NOT NULL, source TEXT NOT NULL,
    hash TEXT NOT NULL, paper_key TEXT NOT NULL, abstract TEXT NOT NULL, body TEXT NOT NULL,
    run INTEGER NOT NULL);
CREATE INDEX records_by_hash ON records (file, hash);
CREATE INDEX records_by_paper ON records (paper_key);
CREATE TABLE signatures (
    signature TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (signature, record)) WITHOUT ROWID;
CREATE INDEX signatures_by_record ON signatures (record);
CREATE TABLE papers (
    key TEXT PRIMARY KEY, abstract TEXT NOT NULL, body TEXT NOT NULL, sources TEXT NOT NULL,
    venue TEXT, year INTEGER, authors TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE passages (
    id TEXT PRIMARY KEY, paper_key TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
    titled INTEGER NOT NULL, text_hash TEXT NOT NULL);
CREATE INDEX passages_by_paper ON passages (paper_key);
CREATE INDEX passages_by_text ON passages (text_hash);
CREATE TABLE failures (file TEXT NOT NULL, record INTEGER NOT NULL, line INTEGER, error TEXT NOT NULL);
CREATE INDEX failures_by_file ON failures (file);
"""
_VECTORS_SCHEMA = """
CREATE TABLE vectors (
    embedder TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (embedder, text_hash));
"""


def open_papers(folder: Path) -> sqlite3.Connection:
    """Open the records of ``folder`` for writing, making them when they are not there."""
    return _open_for_writing(folder / PAPERS, _PAPERS_SCHEMA)


def open_vectors(folder: Path) -> sqlite3.Connection:
    """Open the stored vectors of ``folder`` for writing, making them when they are not there."""
    return _open_for_writing(folder / VECTORS, _VECTORS_SCHEMA)


def open_readonly(folder: Path) -> sqlite3.Connection:
    """Open the records of ``folder`` for reading.

    Raises:
        IndexMissing: there is no index.
        IndexMismatch: it has another format.
        EnvironmentFault: it cannot be read.
    """
    require_records(folder)
    path = folder / PAPERS
    with faults(folder):
        db = _connected_for_reading(path)
        try:
            finished = _check_format(db, path)
        except BaseException:
            db.close()
            raise
        if not finished:
            db.close()
            raise IndexMissing(f"The index in {folder} was never finished.", "Run the same rag ingest again.")
    return db


def require_records(folder: Path) -> None:
    """Refuse a folder that holds no index.

    Raises:
        IndexMissing: it does not.
    """
    path = folder / PAPERS
    if not path.is_file() or not path.stat().st_size:
        raise IndexMissing(
            f"There is no index in {folder}.", f"Make one with: rag ingest PATH --index {folder}"
        )


def _connected_for_reading(path: Path) -> sqlite3.Connection:
    """Open a database that others may write.

    A reader shares the files -wal and -shm with the writer, and SQLite makes them when they are not there.
    Who may not make them can still read what no writer has open. With ``immutable`` SQLite looks neither at
    locks nor at -wal: only then is nothing missed.
    """
    address = f"{path.resolve().as_uri()}?mode=ro"
    db = sqlite3.connect(address, timeout=_PATIENCE, uri=True, check_same_thread=False)
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        db.close()
        if _may_write(path.parent) or _primary(error) not in _REFUSED:
            raise
        if _has_content(path.with_name(f"{path.name}-wal")):
            raise EnvironmentFault(
                f"The index in {path.parent} has changes that cannot be read without rights to write there.",
                "Try again when its owner is done, or copy the folder and name the copy with --index.",
            ) from error
        return sqlite3.connect(f"{address}&immutable=1", uri=True, check_same_thread=False)
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db


def _may_write(folder: Path) -> bool:
    return os.access(folder, os.W_OK)


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def knows(folder: Path, files: Iterable[str]) -> bool:
    """Whether an index in ``folder`` has read one of ``files``, as the records call them, before.

    Raises:
        IndexMismatch, EnvironmentFault: as for ``open_readonly``.
    """
    try:
        with closing(open_readonly(folder)) as db, faults(folder):
            names = (file.encode(errors="replace").decode() for file in files)
            return any(db.execute("SELECT 1 FROM files WHERE path = ?", (name,)).fetchone() for name in names)
    except IndexMissing:
        return False


def _open_for_writing(path: Path, schema: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    if not _check_format(db, path):
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(
            f"BEGIN IMMEDIATE; {schema} PRAGMA application_id = {_APPLICATION};"
            f" PRAGMA user_version = {FORMAT}; COMMIT;"
        )
    db.execute("PRAGMA synchronous = NORMAL")
    return db


def _check_format(db: sqlite3.Connection, path: Path) -> bool:
    """Return whether the tables exist; raise when they are another program's or another version's."""
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if application == 0 and version == 0 and not db.execute("SELECT 1 FROM sqlite_master").fetchone():
        return False
    if application != _APPLICATION:
        raise EnvironmentFault(f"{path} is not a file of this program.", "Choose another index folder.")
    if version != FORMAT:
        raise wrong_format(path.parent, version)
    return True


def wrong_format(folder: Path, found: object) -> IndexMismatch:
    """The error for an index of another format version."""
    return IndexMismatch(
        f"The index in {folder} has format {found}; this program reads format {FORMAT}.",
        f"{_made_anew(folder)}, or use the program that made it.",
    )


def batched(values: Iterable[Value], size: int) -> Iterator[list[Value]]:
    """Yield lists of at most ``size``, since one statement or request takes no more at ease.

    ``itertools.batched`` is there from Python 3.12 on.

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    left = iter(values)
    while batch := list(islice(left, size)):
        yield batch


@contextmanager
def faults(folder: Path) -> Iterator[None]:
    """Turn errors of SQLite and the file system on an index into one line with a remedy."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)):
            raise
        raise _from_sqlite(folder, error) from error
    except OSError as error:
        raise _from_system(folder, error) from error


def _made_anew(folder: Path) -> str:
    """Say how a folder comes to a sound index. Who may not write there cannot delete it, and what such a
    reader finds damaged may just have been written by the owner.
    """
    if _may_write(folder):
        return f"Delete {folder} and run rag ingest again"
    return "Ask its owner to make it anew"


def _primary(error: sqlite3.DatabaseError) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _from_sqlite(folder: Path, error: sqlite3.DatabaseError) -> EnvironmentFault:
    primary = _primary(error)
    if primary == sqlite3.SQLITE_FULL:
        return _disk_full(folder)
    if primary in _REFUSED:
        return _not_writable(folder)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return EnvironmentFault(f"The index in {folder} is in use by another program.", "Try again later.")
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return EnvironmentFault(
            f"The records of the index in {folder} are damaged ({error}).",
            f"{'' if _may_write(folder) else 'Try again. '}{_made_anew(folder)}.",
        )
    return EnvironmentFault(
        f"The index in {folder} cannot be used: {error}.", "Check the disk and its rights."
    )


def _from_system(folder: Path, error: OSError) -> EnvironmentFault:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _disk_full(folder)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return _not_writable(folder)
    where = f" ({error.filename})" if error.filename else ""
    return EnvironmentFault(
        f"The index in {folder} cannot be used: {error.strerror or error}{where}.", "Check that folder."
    )


def _disk_full(folder: Path) -> EnvironmentFault:
    return EnvironmentFault(
        f"The disk of the index in {folder} is full; what was stored before is unchanged.",
        "Free some space, then run the same command again.",
    )


def _not_writable(folder: Path) -> EnvironmentFault:
    return EnvironmentFault(
        f"The index in {folder} cannot be opened or written.",
        "Check the folder's rights, or choose another with --index.",
    )
