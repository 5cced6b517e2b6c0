"""A paper with its records and passages as one text, and back into the tables of ``papers.sqlite``.

text = pack(db, "lee2025revise")                 # None when there is no such paper
store(other_db, text, signatures)                # other_db now says the same of that paper

The text is JSON, the same wherever the paper was put together, so that its hash can be its name.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence

from rag.index import rows
from rag.records import Paper

Signatures = Callable[[Paper], Sequence[str]]


def pack(db: sqlite3.Connection, key: str) -> str | None:
    """Return the text of the paper ``key``."""
    paper = db.execute("SELECT abstract, body, sources FROM papers WHERE key = ?", (key,)).fetchone()
    if paper is None:
        return None
    records = db.execute(
        "SELECT file, number, source, abstract, body FROM records WHERE paper_key = ?"
        " ORDER BY file, number, id",
        (key,),
    ).fetchall()
    passages = db.execute(
        "SELECT id, start, stop, titled, text_hash FROM passages WHERE paper_key = ? ORDER BY start, id",
        (key,),
    ).fetchall()
    # A paper of one record says the same as that record.
    merged = None if records and paper == (records[0][3], records[0][4], records[0][2]) else paper
    fields = {"key": key, "paper": merged, "records": records, "passages": passages}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def store(db: sqlite3.Connection, text: str, signatures: Signatures) -> str:
    """Write what ``text`` says into the tables, where nothing is known of that paper; return its key."""
    fields = json.loads(text)
    key = str(fields["key"])
    records = fields["records"]
    abstract, body, sources = fields["paper"] or (records[0][3], records[0][4], records[0][2])
    paper = rows.unpack(key, abstract, body, rows.unpack_sources(sources))
    db.execute("INSERT INTO papers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows.paper_row(paper, body, sources))
    db.executemany(
        "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)",
        ((id_, key, start, stop, titled, hash_) for id_, start, stop, titled, hash_ in fields["passages"]),
    )
    for record in records:
        _store_record(db, key, record, signatures)
    return key


def _store_record(
    db: sqlite3.Connection, key: str, record: tuple[str, int, str, str, str], signatures: Signatures
) -> None:
    file, number, source, abstract, body = record
    cursor = db.execute(
        "INSERT INTO records (file, number, source, hash, paper_key, abstract, body, run)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
        (file, number, source, rows.record_hash(body, abstract), key, abstract, body),
    )
    paper = rows.unpack(key, abstract, body, rows.unpack_sources(source))
    db.executemany(
        "INSERT INTO signatures VALUES (?, ?)",
        ((each, cursor.lastrowid) for each in dict.fromkeys(signatures(paper))),
    )


def drop(db: sqlite3.Connection, key: str) -> None:
    """Delete a paper from all tables."""
    db.execute("DELETE FROM signatures WHERE record IN (SELECT id FROM records WHERE paper_key = ?)", (key,))
    for table, column in (("records", "paper_key"), ("passages", "paper_key"), ("papers", "key")):
        db.execute(f"DELETE FROM {table} WHERE {column} = ?", (key,))
