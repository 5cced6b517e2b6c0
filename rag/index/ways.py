"""How files are to be read besides what they say: the columns and the catalogue of titles that were given.

    ways = Ways.recalled(folder)                                # as the index remembers them
    ways = ways.given("/pile", columns={"title": "Name"})       # from now on, for all that is below
    ways.of("/pile/2025/export.csv").columns                    # (("title", "Name"),)

They are remembered by the path that was given, so that the same ingest without its options, or with a file
that is new in the folder, reads as before. A catalogue is kept whole, since its file may be gone by then.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from rag.errors import IndexMissing
from rag.index.database import faults, open_readonly

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS ways (path TEXT PRIMARY KEY, columns TEXT NOT NULL, catalog TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS catalogs (id TEXT PRIMARY KEY, titles BLOB NOT NULL)",
)


@dataclass(frozen=True, slots=True)
class Way:
    """Columns by hand as (field, column), and the id of a catalogue, empty for none."""

    columns: tuple[tuple[str, str], ...] = ()
    catalog: str = ""

    def __str__(self) -> str:
        """Differs for ways that may read differently; empty for the ordinary one."""
        return json.dumps([self.columns, self.catalog]) if self != _ORDINARY else ""


_ORDINARY = Way()


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways by path, as the records call files; ``changed`` and ``catalogs`` are yet to be kept."""

    known: Mapping[str, Way] = field(default_factory=dict)
    changed: Mapping[str, Way] = field(default_factory=dict)
    catalogs: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def recalled(cls, folder: Path) -> Ways:
        """Return what the index in ``folder`` remembers; nothing if there is no index.

        Raises:
            IndexMismatch, EnvironmentFault: as for ``rag.index.database.open_readonly``.
        """
        try:
            with closing(open_readonly(folder)) as db, faults(folder):
                rows = db.execute("SELECT path, columns, catalog FROM ways") if _has_table(db) else ()
                return cls({path: Way(_pairs(columns), catalog) for path, columns, catalog in rows})
        except IndexMissing:
            return cls()

    def of(self, path: str) -> Way:
        """Return the way of the nearest folder, or of the file itself."""
        return next((self.known[each] for each in _upwards(path) if each in self.known), _ORDINARY)

    def given(
        self, path: str, *, columns: Mapping[str, str] | None = None, catalog: tuple[str, bytes] | None = None
    ) -> Ways:
        """Return the ways after ``columns`` or a catalogue (id, titles) were given for what is at ``path``.

        What is not given stays; an empty id takes the catalogue back.
        """
        changed = {each: way for each, way in self.known.items() if path in _upwards(each)}
        changed[path] = self.of(path)
        for each, way in changed.items():
            changed[each] = Way(
                way.columns if columns is None else tuple(sorted(columns.items())),
                way.catalog if catalog is None else catalog[0],
            )
        kept = {**self.catalogs, **dict([catalog] if catalog and catalog[0] else [])}
        return Ways({**self.known, **changed}, {**self.changed, **changed}, kept)

    def keep(self, db: sqlite3.Connection) -> None:
        """Remember them in the records, within the caller's transaction."""
        if not self.changed and not _has_table(db):
            return
        for table in _SCHEMA:
            db.execute(table)
        db.executemany(
            "INSERT OR REPLACE INTO ways VALUES (?, ?, ?)",
            (
                # A name that is no Unicode cannot be stored, and no record has it.
                (path.encode(errors="replace").decode(), json.dumps(way.columns), way.catalog)
                for path, way in self.changed.items()
            ),
        )
        db.executemany("INSERT OR IGNORE INTO catalogs VALUES (?, ?)", self.catalogs.items())
        db.execute("DELETE FROM catalogs WHERE id NOT IN (SELECT catalog FROM ways)")


def titles(folder: Path, catalog: str) -> bytes | None:
    """Return the catalogue of that id, None if it is gone."""
    with closing(open_readonly(folder)) as db, faults(folder):
        row = db.execute("SELECT titles FROM catalogs WHERE id = ?", (catalog,)).fetchone()
    return row[0] if row else None


def _upwards(path: str) -> Iterator[str]:
    """The path and the folders above it; a machine's name in front of the first one stays there."""
    yield path
    yield from map(str, PurePath(path).parents)


def _pairs(columns: str) -> tuple[tuple[str, str], ...]:
    return tuple((field, column) for field, column in json.loads(columns))


def _has_table(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'ways'").fetchone() is not None
