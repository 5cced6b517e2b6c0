"""What a reader hands over, and how it becomes a ``Paper``: cleaning, years, identifiers and keys.

>>> paper(Draft(1, abstract="We propose ReVISE, ...", title="{ReVISE}", year="2025-07"), "/a/b.bib").year
2025
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from rag.corpus import clean, keys
from rag.records import Failure, Paper, Source


@dataclass(frozen=True, slots=True)
class Draft:
    """One record as it stands in a file, uncleaned. ``record`` counts from 1, as does ``line``."""

    record: int
    abstract: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()
    venue: str = ""
    year: str | int | None = None
    url: str = ""
    doi: str = ""
    arxiv_id: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """A record that a reader could not make sense of; ``error`` says why in a few words."""

    record: int
    error: str
    line: int | None = None


_DEPTH = 12
_YEAR = re.compile(r"(?<!\d)(1[6-9]\d\d|20\d\d)(?!\d)")
_DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"<>{}]+)")
_BOOK = re.compile(r"/(?:book|proceedings)/10\.", re.IGNORECASE)
_ARXIV = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf|html)/|arxiv[:.\s]*|^)((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)(?!\d)",
    re.IGNORECASE,
)


def paper(draft: Draft, file: str) -> Paper | Failure:
    """Return the record for ``draft``, or the reason why there is none."""
    if len(draft.abstract) > clean.LIMIT:
        return _failed(
            draft, file, f"its abstract has {len(draft.abstract):,} characters, more than {clean.LIMIT:,}"
        )
    abstract = clean.text(draft.abstract)
    title = clean.title(draft.title[: clean.LIMIT]) or None
    if not any(char.isalnum() for char in abstract):
        return _failed(draft, file, f"has no abstract{f': {title[:80]}' if title else ''}")
    authors = tuple(name for name in map(clean.name, draft.authors) if name)
    year = year_in(draft.year)
    return Paper(
        key=keys.propose(abstract, title, authors, year),
        abstract=abstract,
        source=Source(file, draft.record),
        title=title,
        authors=authors,
        venue=clean.title(draft.venue[:1000]) or None,
        year=year,
        url=address(draft.url),
        doi=doi_in(draft.doi) or doi_at(draft.url),
        arxiv_id=arxiv_in(draft.arxiv_id) or arxiv_in(draft.url) or arxiv_in(draft.doi),
        raw=clean.storable(draft.abstract),
        extra=_extra(draft, title),
    )


def year_in(value: str | int | None) -> int | None:
    """Return the year in "2025", "2025-07-13", "Jul 2025" or 2025; None for anything else."""
    match = _YEAR.search(str(value)) if value is not None else None
    return int(match[1]) if match else None


def doi_in(text: str) -> str | None:
    """Return the DOI in an address or text, in lower case as DOIs compare."""
    match = _DOI.search(text)
    return match[1].rstrip(".,;)").lower() if match else None


def doi_at(url: str) -> str | None:
    """Return the DOI in an address, unless it is that of the whole book or proceedings."""
    return None if _BOOK.search(url) else doi_in(url)


def arxiv_in(text: str) -> str | None:
    """Return the arXiv id, with its version if there is one, in an address, a DOI or "arXiv:2502.14565v2"."""
    match = _ARXIV.search(text.strip())
    return match[1] if match else None


def address(url: str) -> str | None:
    """Return ``url`` if it is an address of the web; None for anything else."""
    url = clean.storable(url).strip().strip("<>{}")
    return url if re.fullmatch(r"(?:https?|ftp)://[^\s\x00-\x20\x7f-\x9f]+", url) else None


def _extra(draft: Draft, title: str | None) -> dict[str, object]:
    kept = {
        name: plain(value)
        for name, value in draft.extra.items()
        if value not in (None, "", [], {}) and not _is_no_number(value)
    }
    raw_title = clean.storable(draft.title).strip()
    if raw_title and raw_title != title:
        kept["raw_title"] = raw_title[:2000]
    return kept


def plain(value: object, depth: int = 0) -> object:
    """Return ``value`` as a JSON value that can be stored: free of surrogates, NaN and foreign types."""
    if depth > _DEPTH:
        return "..."
    if isinstance(value, str):
        return clean.storable(value)[: clean.LIMIT]
    if isinstance(value, bool | int | float) or value is None:
        return None if _is_no_number(value) else value
    if isinstance(value, Mapping):
        held = ((name, item) for name, item in value.items() if not _is_no_number(item))
        return {clean.storable(str(name)): plain(item, depth + 1) for name, item in held}
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    return clean.storable(str(value))


def _is_no_number(value: object) -> bool:
    """Whether it is a float that JSON cannot hold: NaN, which tables write for "nothing", or infinity."""
    return isinstance(value, float) and not isfinite(value)


def _failed(draft: Draft, file: str, error: str) -> Failure:
    return Failure(file, draft.record, error, draft.line)
