"""Parquet tables, batch by batch, where pyarrow is installed (the extra "parquet")."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

from rag.corpus import fields
from rag.corpus.drafts import Broken, Draft
from rag.corpus.streams import Head, Stream

NAME = "Parquet"


def detects(head: Head) -> bool:
    return head.data.startswith(b"PAR1")


def read(stream: Stream) -> Iterator[Draft | Broken]:
    if find_spec("pyarrow") is None:
        yield Broken(0, "is a Parquet file, which needs pyarrow: pip install pyarrow")
        return
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        table = parquet.ParquetFile(arrow.BufferReader(stream.data()))
        columns = fields.guess(table.schema_arrow.names) | dict(stream.mapping)
        record = 0
        for batch in table.iter_batches(batch_size=1000):
            for row in batch.to_pylist():
                record += 1
                yield fields.draft(record, row, columns)
    except (arrow.ArrowException, OSError) as error:
        yield Broken(0, f"is a damaged Parquet file: {str(error).splitlines()[0][:200]}")
