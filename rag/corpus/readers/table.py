"""CSV and TSV with a heading row; columns are guessed by name or given by hand ({"title": "Name"})."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping

from rag.corpus import fields
from rag.corpus.drafts import Broken, Draft
from rag.corpus.streams import Head, Stream
from rag.errors import UsageError

NAME = "table"
_DELIMITERS = ",\t;|"


def detects(head: Head) -> bool:
    names = _header(head.start, head.mapping)
    if len(names) < 2 or head.start[:1] in ("{", "[", "<", "@"):
        return False
    columns = fields.guess(names) | dict(head.mapping)
    return (
        columns.get("abstract") in names
        or (bool(head.mapping) and set(head.mapping.values()) <= set(names))
        or ("title" in columns and len(columns) > 1)
    )


def read(stream: Stream) -> Iterator[Draft | Broken]:
    lines = (line.lstrip("\ufeff") if number == 0 else line for number, line in enumerate(stream.lines()))
    start = next((line for line in lines if line.strip()), "")
    delimiter = _delimiter(start, stream.mapping)
    names = _split(start, delimiter)
    columns = fields.guess(names) | _checked(stream.mapping, names)
    rows = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    record = 0
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            record += 1
            yield Broken(record, f"is not a valid row: {error}", rows.line_num + 1)
            continue
        if any(cell.strip() for cell in row):
            record += 1
            yield fields.draft(record, _paired(names, row), columns, rows.line_num + 1)


def _paired(names: list[str], row: list[str]) -> dict[str, object]:
    """Cells by column; what stands beyond the last column is kept under "more"."""
    paired: dict[str, object] = dict(zip(names, (cell.strip() for cell in row), strict=False))
    if len(row) > len(names):
        paired["more"] = row[len(names) :]
    return paired


def _checked(mapping: Mapping[str, str], names: list[str]) -> dict[str, str]:
    for name, column in mapping.items():
        if name not in fields.FIELDS:
            raise UsageError(
                f"There is no field {name!r} to map.", f"The fields are {', '.join(fields.FIELDS)}."
            )
        if column not in names:
            raise UsageError(
                f"The table has no column {column!r}.", f"Its columns are {', '.join(names[:30])}."
            )
    return dict(mapping)


def _header(text: str, mapping: Mapping[str, str]) -> list[str]:
    line = text.split("\n", 1)[0].rstrip("\r")
    return _split(line, _delimiter(line, mapping)) if len(line) < 10_000 else []


def _delimiter(line: str, mapping: Mapping[str, str]) -> str:
    """The one that parts the heading row into the most columns that mean something."""

    def known(delimiter: str) -> tuple[int, int]:
        names = _split(line, delimiter)
        return len(fields.guess(names)) + sum(column in names for column in mapping.values()), len(names)

    return max(_DELIMITERS, key=known)


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []
