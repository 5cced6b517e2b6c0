"""The SQLite file of the sessions: its tables, how it is opened, and what its errors mean to a user.

Every write is committed at once (write-ahead log, full sync): whatever ends the program, what was shown is
there.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.errors import EnvironmentFault

FORMAT = 1
NAME = "sessions.sqlite"
_APPLICATION = 0x63697473  # "cits"
_SCHEMA = """
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, started REAL NOT NULL,
    changed REAL NOT NULL, dials TEXT NOT NULL);
CREATE TABLE papers (
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE, ref INTEGER NOT NULL, key TEXT NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (session, ref)) WITHOUT ROWID;
CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    question TEXT NOT NULL, meant TEXT NOT NULL, status TEXT NOT NULL, about TEXT NOT NULL,
    started REAL NOT NULL, undone INTEGER NOT NULL DEFAULT 0);
CREATE INDEX turns_by_session ON turns (session, id);
CREATE TABLE sentences (
    turn INTEGER NOT NULL REFERENCES turns ON DELETE CASCADE, number INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (turn, number)) WITHOUT ROWID;
"""


def connect(folder: Path | None) -> sqlite3.Connection:
    """Open the sessions in ``folder``, making the file when there is none; None keeps them in memory only.

    Raises:
        EnvironmentFault: the file cannot be used, or is another program's or another version's.
    """
    with faults(folder):
        path = ":memory:" if folder is None else str(_private(folder / NAME))
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA busy_timeout = 10000")
        _prepare(db, path)
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA synchronous = FULL")
        return db


def _private(path: Path) -> Path:
    """What a researcher asks is nobody else's business: only the owner may read the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    return path


def _prepare(db: sqlite3.Connection, path: str) -> None:
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if (application, version) == (_APPLICATION, FORMAT):
        return
    if application or version or db.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise EnvironmentFault(
            f"{path} was not made by this version of the program.", "Move it away; a new one is begun."
        )
    db.execute("PRAGMA journal_mode = WAL")
    stamp = f"PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {FORMAT};"
    # Two programs may meet a new file at once; the second finds the tables made when its turn comes.
    schema = _SCHEMA.replace("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ")
    schema = schema.replace("CREATE INDEX ", "CREATE INDEX IF NOT EXISTS ")
    db.executescript(f"BEGIN IMMEDIATE; {schema} {stamp} COMMIT;")


@contextmanager
def faults(folder: Path | None) -> Iterator[None]:
    """Turn errors of SQLite and the file system into one line with a remedy."""
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.DatabaseError, OSError) as error:
        if isinstance(error, (sqlite3.IntegrityError, sqlite3.ProgrammingError)):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise EnvironmentFault(
            f"Sessions cannot be kept in {folder}: {reason}.",
            "Set RAG_DATA_DIR to a folder that can be written, or use: rag chat --no-save",
        ) from error


@contextmanager
def transaction(db: sqlite3.Connection, folder: Path | None) -> Iterator[None]:
    """All of the block's writes or none of them."""
    with faults(folder):
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
