"""JSON lines, a JSON array, objects one after the other, or an API's answer that holds them in a field.

Lines and arrays are streamed, so that a million records take the memory of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from rag.corpus import fields, venues
from rag.corpus.drafts import Broken, Draft
from rag.corpus.shapes import SHAPES
from rag.corpus.streams import Head, Stream

NAME = "JSON"
_CONTAINERS = (
    "notes",
    "data",
    "results",
    "items",
    "papers",
    "records",
    "entries",
    "articles",
    "documents",
    "docs",
)
_CHUNK = 2**20
_ELEMENT_LIMIT = 64 * 2**20
_BETWEEN = re.compile(r"[ \t\r\n,\ufeff]*")


def detects(head: Head) -> bool:
    start = head.start[:1]
    return start in ("{", "[") and '"' in head.start[:2000]


def read(stream: Stream) -> Iterator[Draft | Broken]:
    for record, (line, value) in enumerate(_values(stream), 1):
        if isinstance(value, json.JSONDecodeError):
            yield Broken(record, f"is not valid JSON: {value.msg} at column {value.colno}", line)
        elif isinstance(value, Mapping):
            draft = _draft(record, value, stream.mapping, line)
            if draft is not None:
                yield draft
        else:
            yield Broken(record, f"is {type(value).__name__}, not an object with fields", line)


def _draft(
    record: int, value: Mapping[str, object], mapping: Mapping[str, str], line: int | None
) -> Draft | None:
    if not mapping:
        for shape in SHAPES:
            if shape.matches(value):
                return shape.draft(record, value, line)
    draft = fields.draft(record, value, fields.guess(value) | dict(mapping), line)
    venue, year = venues.from_address(draft.url)
    return replace(draft, venue=draft.venue or venue, year=draft.year or year)


def _values(stream: Stream) -> Iterator[tuple[int | None, Any]]:
    """Yield (line, record) of whichever framing the file has; an error stands in for a record it spoils."""
    first = next((line for line in stream.lines() if line.strip()), "")
    if first.lstrip("\ufeff \t").startswith("["):
        yield from _arrays(stream)
        return
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        yield from _document(stream)
    else:
        yield from _lines(stream)


def _lines(stream: Stream) -> Iterator[tuple[int | None, Any]]:
    for number, line in enumerate(stream.lines(), 1):
        if line.strip():
            for value in _unpacked(_parsed(line.lstrip("\ufeff"))):
                yield number, value


def _document(stream: Stream) -> Iterator[tuple[int | None, Any]]:
    """Objects over several lines, one after the other: an API's answer, or records as jq prints them."""
    text = stream.text()
    found: Iterable[tuple[int, Any]] = list(_decoded(text))
    if any(isinstance(value, json.JSONDecodeError) for _, value in found):
        found = _decoded_apart(text)
    for line, value in found:
        for item in _unpacked(value):
            yield (line if item is value else None), item  # within an API's answer it is not known


def _decoded(text: str) -> Iterator[tuple[int, Any]]:
    """Yield (line, value) of the values that follow one another; a fault is the last one, at its own line."""
    decoder, position, line = json.JSONDecoder(), 0, 1
    while (start := _next(text, position)) < len(text):
        line += text.count("\n", position, start)
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as caught:
            yield _line(caught, text, start), _fault(caught)
            return
        yield line, value
        line += text.count("\n", start, position)


def _decoded_apart(text: str) -> Iterator[tuple[int, Any]]:
    """As ``_decoded``, but after a fault the next value begins where a line does with a brace."""
    passed = 0
    for part in re.split(r"\n(?=\{)", text):
        yield from ((passed + line, value) for line, value in _decoded(part))
        passed += part.count("\n") + 1


def _unpacked(value: Any) -> list[Any]:
    """Return the records of an API's answer, {"total": 2, "data": [...]}, also one level down (Crossref)."""
    if isinstance(value, dict):
        inner = value.get("message") or value.get("response")
        for outer in (value, inner if isinstance(inner, dict) else {}):
            for name in _CONTAINERS:
                held = outer.get(name)
                if (
                    isinstance(held, list)
                    and held
                    and all(isinstance(item, dict) or item is None for item in held)
                    and not _is_record(value, held)
                ):
                    return [item for item in held if item is not None]  # null stands for an unknown id
    return [value]


def _is_record(value: dict[str, Any], held: list[Any]) -> bool:
    """Whether ``held`` is but a part of what is a paper itself: its results, its data sets.

    A feed too has a title and a description, which may be those of a paper; but so have its entries.
    """
    own = fields.guess(value)
    if "abstract" in own.get("abstract", "").casefold():
        return True
    return {"title", "abstract"} <= own.keys() and not any(
        {"title", "abstract"} <= fields.guess(item).keys() for item in held if item
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return error
    except (RecursionError, ValueError) as error:  # nested without end, or an integer of thousands of digits
        return _fault(error)


def _arrays(stream: Stream) -> Iterator[tuple[int | None, Any]]:
    """Yield the elements of a top-level array, and of what follows it, without reading the whole of it.

    A fault ends it: where the next element would start is anybody's guess. Only a fault has a line.
    """
    decoder, buffer, inside, passed = json.JSONDecoder(), "", False, 0
    fault: tuple[int | None, json.JSONDecodeError] | None = None
    for chunk in _chunks(stream):
        buffer += chunk
        position = 0
        while (position := _next(buffer, position)) < len(buffer):
            if buffer[position] == ("]" if inside else "["):
                inside, position, fault = not inside, position + 1, None
                continue
            try:
                value, end = decoder.raw_decode(buffer, position)
            except (ValueError, RecursionError) as caught:
                # A fault, or an element that goes on in the next chunk.
                fault = passed + _line(caught, buffer, position), _fault(caught)
                break
            if end == len(buffer) and isinstance(value, int | float):
                break  # a number could go on in the next chunk
            yield from ((None, each) for each in ([value] if inside else _unpacked(value)))
            position, fault = end, None
        passed += buffer.count("\n", 0, position)
        buffer = buffer[position:]
        if len(buffer) > _ELEMENT_LIMIT:
            break
    if fault or inside:
        yield fault or (passed, _fault(None))


def _line(error: ValueError | RecursionError, buffer: str, position: int) -> int:
    if isinstance(error, json.JSONDecodeError):
        return error.lineno
    return buffer.count("\n", 0, position) + 1


def _next(buffer: str, position: int) -> int:
    match = _BETWEEN.match(buffer, position)
    return match.end() if match else position


def _fault(error: ValueError | RecursionError | None) -> json.JSONDecodeError:
    if isinstance(error, json.JSONDecodeError):
        return error
    return json.JSONDecodeError(str(error or "the array has no end"), " ", 0)


def _chunks(stream: Stream) -> Iterator[str]:
    pending: list[str] = []
    size = 0
    for line in stream.lines():
        pending.append(line)
        size += len(line) + 1
        if size >= _CHUNK:
            yield "\n".join(pending) + "\n"  # a number at the very end ends there + "\n"
            pending, size = [], 0
    yield "\n".join(pending) + "\n"  # a number at the very end ends there
