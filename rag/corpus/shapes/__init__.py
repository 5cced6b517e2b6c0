"""The shapes of JSON records that services give: one small module each, tried in order on every record.

A shape has ``matches(value)`` and ``draft(record, value, line)``; the last one guesses by field names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rag.corpus.drafts import Draft
from rag.corpus.shapes import arxiv_snapshot, csl, openalex, openreview, semantic_scholar

Value = Mapping[str, object]


class Shape(Protocol):
    """What a module of this package offers."""

    NAME: str

    def matches(self, value: Value, /) -> bool:
        """Whether ``value`` is a record of this shape."""
        ...

    def draft(self, record: int, value: Value, line: int | None, /) -> Draft | None:
        """Return the record; None for what is no paper (a review among submissions) and is passed over."""
        ...


SHAPES: tuple[Shape, ...] = (openreview, openalex, arxiv_snapshot, semantic_scholar, csl)
