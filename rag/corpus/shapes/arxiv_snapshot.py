"""The arXiv metadata snapshot: one JSON object a line, with ``authors_parsed`` and ``versions``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag.corpus import fields
from rag.corpus.drafts import Draft

NAME = "arXiv snapshot"


def matches(value: Mapping[str, object]) -> bool:
    return "id" in value and "abstract" in value and ("authors_parsed" in value or "update_date" in value)


def draft(record: int, value: Mapping[str, object], line: int | None) -> Draft:
    versions = value.get("versions")
    versions = [item for item in versions if isinstance(item, Mapping)] if isinstance(versions, list) else []
    identifier = fields.text(value.get("id"))
    journal = fields.text(value.get("journal-ref"))
    return Draft(
        record,
        abstract=fields.prose(value.get("abstract")),
        title=fields.text(value.get("title")),
        authors=_authors(value.get("authors_parsed")) or fields.people(value.get("authors")),
        venue=journal or "arXiv",
        year=fields.text(versions[0].get("created")) if versions else fields.text(value.get("update_date")),
        url=f"https://arxiv.org/abs/{identifier}",
        doi=fields.text(value.get("doi")),
        arxiv_id=identifier + (fields.text(versions[-1].get("version")) if versions else ""),
        extra={name: value.get(name) for name in ("categories", "comments", "license", "update_date")},
        line=line,
    )


def _authors(parsed: object) -> tuple[str, ...]:
    """[["Balázs", "C.", "", "affiliation"], ...]: family, given, suffix."""
    if not isinstance(parsed, list):
        return ()
    names = (
        " ".join(filter(None, (fields.text(part[1]), fields.text(part[0]), fields.text(part[2]))))
        for part in parsed
        if isinstance(part, Sequence) and len(part) > 2
    )
    return tuple(name for name in names if name)
