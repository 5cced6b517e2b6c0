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
    """A heading row with columns that mean something, or at least rows that are as long as their heading."""
    if head.start[:1] in ("{", "[", "<", "@"):
        return False
    lines = head.start.splitlines(keepends=True)
    names = _split(lines[0], _delimiter(lines[0], head.mapping)) if lines and len(lines[0]) < 10_000 else []
    columns = fields.guess(names) | dict(head.mapping)
    telling = "abstract" in columns or "title" in columns
    return len(names) > 1 and ((telling and len(columns) > 1) or _is_regular(lines, names))


def read(stream: Stream) -> Iterator[Draft | Broken]:
    lines = (line.lstrip("\ufeff") if number == 0 else line for number, line in enumerate(stream.lines()))
    start = next((line for line in lines if line.strip()), "")
    delimiter = _delimiter(start, stream.mapping)
    names = _split(start, delimiter)
    columns = fields.guess(names) | _checked(stream.mapping, names)
    if "abstract" not in columns:
        shown = ", ".join(names)[:200]
        yield Broken(0, f"has no column for abstracts; name it with --map abstract=COLUMN, of {shown}")
        if "title" not in columns:
            return
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


def _is_regular(lines: list[str], names: list[str]) -> bool:
    """Three short names or more, and a first row of as many cells: no sentence looks like that."""
    if len(names) < 3 or any(len(name) > 40 or name.endswith(".") or not name for name in names):
        return False
    try:
        row = next(csv.reader(lines[1:], delimiter=_delimiter(lines[0], {})), [])
    except csv.Error:
        return False
    return len(row) == len(names)


def _paired(names: list[str], row: list[str]) -> dict[str, object]:
    """Cells by column; what stands beyond the last column is kept under "more"."""
    paired: dict[str, object] = dict(zip(names, (cell.strip() for cell in row), strict=False))
    if len(row) > len(names):
        paired["more"] = row[len(names) :]
    return paired


def _checked(mapping: Mapping[str, str], names: list[str]) -> dict[str, str]:
    for column in mapping.values():
        if column not in names:
            raise UsageError(
                f"The table has no column {column!r}.", f"Its columns are {', '.join(names[:30])}."
            )
    return dict(mapping)


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
