"""Semantic Scholar's API: ``paperId``, ``externalIds``, ``tldr``."""

from __future__ import annotations

from collections.abc import Mapping

from rag.corpus import fields
from rag.corpus.drafts import Draft

NAME = "Semantic Scholar"


def matches(value: Mapping[str, object]) -> bool:
    return "paperId" in value or "externalIds" in value or ("corpusid" in value and "title" in value)


def draft(record: int, value: Mapping[str, object], line: int | None) -> Draft:
    ids = value.get("externalIds") or value.get("externalids")
    ids = ids if isinstance(ids, Mapping) else {}
    journal = value.get("journal")
    page = fields.text(value.get("url"))
    paper = fields.text(value.get("paperId"))
    return Draft(
        record,
        abstract=fields.prose(value.get("abstract")),
        title=fields.text(value.get("title")),
        authors=fields.people(value.get("authors")),
        venue=fields.text(value.get("venue")) or (fields.text(journal) if journal else ""),
        year=fields.text(value.get("year")) or fields.text(value.get("publicationDate")),
        url=page or (f"https://www.semanticscholar.org/paper/{paper}" if paper else ""),
        doi=fields.text(ids.get("DOI")),
        arxiv_id=fields.text(ids.get("ArXiv")),
        extra={
            name: value.get(name)
            for name in ("paperId", "corpusId", "citationCount", "fieldsOfStudy", "tldr")
        },
        line=line,
    )
