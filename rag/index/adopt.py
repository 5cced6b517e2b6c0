"""Makes the records of this machine equal to those of a server, taking over only what differs.

The ids of the rows prove that the copy is a whole state: they are hashes of what the rows say, and the digest
of all of them is published with the state. Nothing of the copy changes until all of it is here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rag.errors import EnvironmentFault
from rag.index import paper_row
from rag.index.database import batched
from rag.index.shared import Server, Sharing, State, digest, row_id

if TYPE_CHECKING:
    from rag.index.writer import Writer

_BATCH = 300


class Moved(EnvironmentFault):
    """The rows of a state are not all there: another one was published meanwhile, or they are damaged."""


def adopt(writer: Writer, sharing: Sharing, state: State) -> None:
    """Make the records equal to ``state``, in a transaction of its own.

    Raises:
        Moved: not all rows of the state are there.
    """
    server = sharing.server
    with writer.transaction():
        live = server.live(state.generation) if state.manifest else set[str]()
        if state.manifest and digest(live) != state.rows:
            raise _moved(server)
        known = dict(writer.db.execute("SELECT id, key FROM shared").fetchall())
        for id_ in known.keys() - live:
            paper_row.drop(writer.db, known[id_])
            writer.db.execute("DELETE FROM shared WHERE id = ?", (id_,))
        for text in _texts(server, sorted(live - known.keys())):
            key = paper_row.store(writer.db, text, sharing.signatures)
            writer.db.execute("INSERT INTO shared VALUES (?, ?)", (row_id(text), key))
        _forget_files(writer.db)
        writer.take_over(state.manifest, state.token)


def _texts(server: Server, ids: list[str]) -> Iterator[str]:
    for batch in batched(ids, _BATCH):
        found = server.read(batch)
        for id_ in batch:
            if id_ not in found or row_id(found[id_]) != id_:
                raise _moved(server)
            yield found[id_]


def _moved(server: Server) -> Moved:
    return Moved(
        f"{server.name} does not hold all of what was published there.",
        "Run rag index verify on the machine that ingested last, or ingest anew into another collection.",
    )


def _forget_files(db: sqlite3.Connection) -> None:
    """What was known of files may not hold for these records: each is read once more when it is ingested."""
    for table in ("files", "failures"):
        db.execute(f"DELETE FROM {table}")
