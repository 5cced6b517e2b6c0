"""OpenAlex works; the abstract comes as an inverted index, word -> positions."""

from __future__ import annotations

from collections.abc import Mapping

from rag.corpus import fields
from rag.corpus.drafts import Draft

NAME = "OpenAlex"


def matches(value: Mapping[str, object]) -> bool:
    return "abstract_inverted_index" in value or "openalex.org/W" in str(value.get("id", ""))


def draft(record: int, value: Mapping[str, object], line: int | None) -> Draft:
    authorships = value.get("authorships")
    people = (
        [item.get("author") for item in authorships if isinstance(item, Mapping)]
        if isinstance(authorships, list)
        else []
    )
    place = value.get("primary_location")
    place = place if isinstance(place, Mapping) else {}
    source = place.get("source")
    return Draft(
        record,
        abstract=from_inverted(value.get("abstract_inverted_index")),
        title=fields.text(value.get("title")) or fields.text(value.get("display_name")),
        authors=tuple(
            fields.text(person.get("display_name")) for person in people if isinstance(person, Mapping)
        ),
        venue=fields.text(source.get("display_name")) if isinstance(source, Mapping) else "",
        year=fields.text(value.get("publication_year")) or fields.text(value.get("publication_date")),
        url=fields.text(place.get("landing_page_url")) or fields.text(value.get("id")),
        doi=fields.text(value.get("doi")),
        extra={
            "openalex": value.get("id"),
            "type": value.get("type"),
            "cited_by_count": value.get("cited_by_count"),
        },
        line=line,
    )


def from_inverted(index: object) -> str:
    """Return the text of {"We": [0], "propose": [1], ...}.

    >>> from_inverted({"to": [0, 2], "be": [1]})
    'to be to'
    """
    if not isinstance(index, Mapping):
        return ""
    placed = [
        (position, str(word))
        for word, positions in index.items()
        if isinstance(positions, list)
        for position in positions
        if isinstance(position, int)
    ]
    return " ".join(word for _, word in sorted(placed))
