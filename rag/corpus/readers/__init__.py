"""One small module per format. A reader has a ``NAME``, ``detects(head)`` and ``read(stream)``.

To add a format: add its module here, name it in ``READERS`` before anything more general, add its test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from rag.corpus.drafts import Broken, Draft
from rag.corpus.readers import (
    atom,
    bare_list,
    bibtex,
    fielded,
    json_file,
    markdown,
    medline,
    parquet,
    pdf,
    pubmed_xml,
    ris,
    table,
)
from rag.corpus.streams import Head, Stream


class Reader(Protocol):
    """What a module of this package offers."""

    NAME: str

    def detects(self, head: Head, /) -> bool:
        """Whether a file that starts with ``head`` is of this format."""
        ...

    def read(self, stream: Stream, /) -> Iterator[Draft | Broken]:
        """Yield the records of a file, uncleaned, numbered from 1."""
        ...


# The first that detects its format reads the file: the distinctive before the general.
READERS: tuple[Reader, ...] = (
    pdf,
    parquet,
    pubmed_xml,
    atom,
    json_file,
    ris,
    medline,
    bibtex,
    table,
    fielded,
    markdown,
    bare_list,
)
