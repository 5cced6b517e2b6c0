"""OpenReview notes, API v1 (``content.title``) and v2 (``content.title.value``)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from rag.corpus import fields, venues
from rag.corpus.drafts import Draft

NAME = "OpenReview"
_USED = ("title", "abstract", "authors", "venue", "pdf")


def matches(value: Mapping[str, object]) -> bool:
    return isinstance(value.get("content"), Mapping) and (
        "forum" in value or "invitation" in value or "invitations" in value
    )


def draft(record: int, value: Mapping[str, object], line: int | None) -> Draft | None:
    content = value["content"]
    assert isinstance(content, Mapping)
    plain = {
        name: item["value"] if isinstance(item, Mapping) and "value" in item else item
        for name, item in content.items()
    }
    forum = fields.text(value.get("forum")) or fields.text(value.get("id"))
    if "abstract" not in plain and fields.text(value.get("id")) != forum:
        return None  # a review, a comment or a decision
    venue, year = venues.split(fields.text(plain.get("venue")))
    return Draft(
        record,
        abstract=fields.prose(plain.get("abstract")),
        title=fields.text(plain.get("title")),
        authors=fields.people(plain.get("authors")),
        venue=venue,
        year=year or _year(value),
        url=f"https://openreview.net/forum?id={forum}" if forum else "",
        extra={name: item for name, item in plain.items() if name not in _USED}
        | {"venue_as_given": fields.text(plain.get("venue"))},
        line=line,
    )


def _year(value: Mapping[str, object]) -> int | None:
    """Of publication, else of creation; OpenReview counts milliseconds."""
    for name in ("pdate", "odate", "cdate", "tcdate"):
        stamp = value.get(name)
        if isinstance(stamp, int | float) and 0 < stamp < 4e12:
            return datetime.fromtimestamp(stamp / 1000, UTC).year
    return None
