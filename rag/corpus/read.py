"""A file to papers: opened, recognised, read, cleaned; one bad record never stops the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rag.corpus import drafts
from rag.corpus.drafts import Broken
from rag.corpus.open import Item, items
from rag.records import Failure, Paper


@dataclass(frozen=True, slots=True)
class Description:
    """What reading a file would give: its format ('' if none was recognised) and its first records."""

    file: str
    format: str
    records: tuple[Paper | Failure, ...]


def read(path: Path, mapping: Mapping[str, str] | None = None) -> Iterator[Paper | Failure]:
    """Yield the papers of ``path``, and a ``Failure`` for each record that is none.

    Args:
        path: a file in any format that ``rag.corpus.readers`` knows, plain or packed; ``-``: standard input.
        mapping: columns by hand where a table has unusual ones, {"title": "Name"}.

    A file that cannot be read at all (empty, binary, unreadable, of no known format) yields one ``Failure``
    with record 0. ``Source.file`` is ``str(path)``.
    """
    for item in items(path, mapping):
        yield _paper(item, str(path))


def describe(path: Path, mapping: Mapping[str, str] | None = None, records: int = 3) -> Description:
    """Return what ``read`` would make of ``path``, from its first ``records`` records only."""
    first = list(islice(items(path, mapping), records))
    return Description(
        str(path), first[0].format if first else "", tuple(_paper(item, str(path)) for item in first)
    )


def _paper(item: Item, file: str) -> Paper | Failure:
    if isinstance(item.record, Broken):
        return Failure(file, item.record.record, item.record.error, item.record.line)
    return drafts.paper(item.record, file)
