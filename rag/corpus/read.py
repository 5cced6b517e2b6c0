"""A file to papers: opened, recognised, read, cleaned; one bad record never stops the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from rag.corpus import drafts
from rag.corpus.drafts import Broken
from rag.corpus.readers import READERS, Reader
from rag.corpus.streams import Head, Stream, head_of
from rag.records import Failure, Paper


def read(path: Path, mapping: Mapping[str, str] | None = None) -> Iterator[Paper | Failure]:
    """Yield the papers of ``path``, and a ``Failure`` for each record that is none.

    Args:
        path: a file in any format that ``rag.corpus.readers`` knows, recognised by its content.
        mapping: fields by hand where a table's columns have unusual names, {"title": "Name"}.

    A file that cannot be read at all (empty, binary, unreadable, of no known format) yields one ``Failure``
    with record 0. ``Source.file`` is ``str(path)``.
    """
    file = str(path)
    try:
        with path.open("rb") as source:
            head, encoding = head_of(source)
        reader = _reader(head, encoding)
        if isinstance(reader, str):
            yield Failure(file, 0, reader)
            return
        stream = Stream(file, lambda: path.open("rb"), encoding or "binary", mapping or {})
        yield from _papers(reader, stream)
    except OSError as error:
        yield Failure(file, 0, f"cannot be read: {error.strerror or error}")


def _reader(head: Head, encoding: str | None) -> Reader | str:
    """Return the reader for a file that starts with ``head``, or why there is none."""
    if not head.data.strip():
        return "is empty"
    for reader in READERS:
        if reader.detects(head):
            return reader
    if encoding is None:
        return "is a binary file of no known format"
    return "holds no papers in a known format"


def _papers(reader: Reader, stream: Stream) -> Iterator[Paper | Failure]:
    found = False
    for item in reader.read(stream):
        found = True
        if isinstance(item, Broken):
            yield Failure(stream.name, item.record, item.error, item.line)
        else:
            yield drafts.paper(item, stream.name)
    if not found:
        yield Failure(stream.name, 0, f"holds no records ({reader.NAME})")
