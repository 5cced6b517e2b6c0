"""CSL-JSON (Zotero, Pandoc) and Crossref's works, which look alike: ``issued``, ``container-title``."""

from __future__ import annotations

from collections.abc import Mapping

from rag.corpus import fields
from rag.corpus.drafts import Draft

NAME = "CSL-JSON"
_USED = ("title", "author", "abstract", "container-title", "event-title", "issued", "URL", "DOI", "reference")


def matches(value: Mapping[str, object]) -> bool:
    return isinstance(value.get("issued"), Mapping) or "container-title" in value


def draft(record: int, value: Mapping[str, object], line: int | None) -> Draft:
    number = fields.text(value.get("number"))
    return Draft(
        record,
        abstract=fields.prose(value.get("abstract")),
        title=fields.text(value.get("title")),
        authors=fields.people(value.get("author")),
        venue=fields.text(value.get("container-title")) or fields.text(value.get("event-title")),
        year=_year(value.get("issued")),
        url=fields.text(value.get("URL")),
        doi=fields.text(value.get("DOI")),
        arxiv_id=number if number.lower().startswith("arxiv") else "",
        extra={name: item for name, item in value.items() if name not in _USED},
        line=line,
    )


def _year(issued: object) -> str:
    """{"date-parts": [[2025, 7]]}, or {"literal": "July 2025"}, or {"raw": ...}."""
    if not isinstance(issued, Mapping):
        return ""
    parts = issued.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
        return fields.text(parts[0][0])
    return fields.text(issued.get("literal") or issued.get("raw"))
