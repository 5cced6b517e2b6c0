"""From a path to uncleaned records: unpacked, recognised by content, handed to the reader of that format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rag.corpus import packed
from rag.corpus.drafts import Broken, Draft
from rag.corpus.files import STDIN
from rag.corpus.readers import READERS, Reader
from rag.corpus.streams import HEAD, Head, Stream, TooLarge, head_of


@dataclass(frozen=True, slots=True)
class Item:
    """A record, or what is wrong with one, and the name of the format it was read as ('' for none)."""

    format: str
    record: Draft | Broken


def items(path: Path, mapping: Mapping[str, str] | None = None) -> Iterator[Item]:
    """Yield the records of ``path``, numbered through all members of a zip; never raises for bad content.

    What concerns a whole file is a ``Broken`` with record 0.
    """
    if path == STDIN:
        with packed.standard_input() as copy:
            yield from items(copy, mapping)
        return
    last = 0
    try:
        for source in packed.sources(path):
            first = last
            for item in _safely(source, mapping or {}):
                record = _numbered(item.record, first, source.member)
                last = max(last, record.record)
                yield replace(item, record=record)
    except (TooLarge, OSError, *packed.DAMAGED) as error:
        yield Item("", Broken(0, _wrong(error)))


def _safely(source: packed.Source, mapping: Mapping[str, str]) -> Iterator[Item]:
    """What ``_of`` yields, and last what stopped it: a damaged file in a zip does not cost those after it."""
    format_ = ""
    try:
        for item in _of(source, mapping):
            format_ = item.format
            yield item
    except (TooLarge, OSError, *packed.DAMAGED) as error:
        yield Item(format_, Broken(0, _wrong(error)))


def _wrong(error: Exception) -> str:
    if isinstance(error, TooLarge):
        return "is too large for a format that cannot be read piece by piece"
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    return f"is damaged: {str(error).rstrip('.') or type(error).__name__}"


def _of(source: packed.Source, mapping: Mapping[str, str]) -> Iterator[Item]:
    with source.open() as opened:
        head, encoding = head_of(opened, mapping)
    reader = _reader(head)
    if isinstance(reader, str):
        yield Item("", Broken(0, reader))
        return
    found = False
    for record in reader.read(Stream(source.open, encoding, mapping)):
        found = True
        yield Item(reader.NAME, record)
    if not found:
        yield Item(reader.NAME, Broken(0, f"holds no records ({reader.NAME})"))


def _reader(head: Head) -> Reader | str:
    """Return the reader for a source that starts with ``head``, or why there is none."""
    if not head.data.strip():
        return "is empty" if len(head.data) < HEAD else "starts with nothing but blanks"
    for reader in READERS:
        if reader.detects(head):
            return reader
    if head.data[257:262] == b"ustar":
        return "is a tar archive; unpack it and name the folder"
    return "holds no papers in a known format" if head.text else "is a binary file of no known format"


def _numbered(record: Draft | Broken, first: int, member: str) -> Draft | Broken:
    number = first + record.record if record.record else 0
    if isinstance(record, Draft):
        extra = {**record.extra, "member": member} if member else record.extra
        return replace(record, record=number, extra=extra)
    error = f"{member}: {record.error}" if member else record.error
    return replace(record, record=number, error=error)
