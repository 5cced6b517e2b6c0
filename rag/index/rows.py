"""Papers as rows: JSON bodies, hashes and the folded columns that filters compare.

body, hash = pack(paper)         # everything but key, abstract and sources
unpack(key, abstract, body, sources) == paper
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable

from rag.records import Paper, Source

_WORD = re.compile(r"[^\W_]+")
_YEARS = range(1, 10_000)


def pack(paper: Paper) -> tuple[str, str]:
    """Return (body, hash) of a paper; the hash covers all but key and sources.

    Raises:
        ValueError: the paper cannot be stored: broken Unicode, no text, an impossible year.
        TypeError: ``extra`` holds something that is not JSON.
    """
    if not paper.abstract.strip() and not (paper.title or "").strip():
        raise ValueError("neither a title nor an abstract")
    if paper.year is not None and paper.year not in _YEARS:
        raise ValueError(f"the year {paper.year} is impossible")
    body = json.dumps(
        [
            paper.title,
            list(paper.authors),
            paper.venue,
            paper.year,
            paper.url,
            paper.doi,
            paper.arxiv_id,
            paper.raw,
            dict(paper.extra),
        ],
        ensure_ascii=False,
        separators=(",", ":"),
    )
    try:
        return body, record_hash(body, paper.abstract)
    except UnicodeEncodeError:
        raise ValueError("broken Unicode (half of a surrogate pair)") from None


def record_hash(body: str, abstract: str) -> str:
    """Hash of what a record says, wherever it stands."""
    return hashlib.sha256(f"{body}\0{abstract}".encode()).hexdigest()


def unpack(key: str, abstract: str, body: str, sources: Iterable[Source]) -> Paper:
    """Rebuild the paper that was packed; ``sources`` are its places, the first one leading."""
    title, authors, venue, year, url, doi, arxiv_id, raw, extra = json.loads(body)
    first, *also = sources
    return Paper(
        key=key,
        abstract=abstract,
        source=first,
        title=title,
        authors=tuple(authors),
        venue=venue,
        year=year,
        url=url,
        doi=doi,
        arxiv_id=arxiv_id,
        raw=raw,
        also=tuple(also),
        extra=extra,
    )


def pack_sources(sources: Iterable[Source]) -> str:
    return json.dumps([[each.file, each.record] for each in sources], ensure_ascii=False)


def unpack_sources(text: str) -> list[Source]:
    return [Source(file, record) for file, record in json.loads(text)]


def paper_row(paper: Paper, body: str, sources: str) -> tuple[object, ...]:
    """Return the row of the table ``papers``."""
    return (
        paper.key,
        paper.abstract,
        body,
        sources,
        paper.venue.strip().casefold() if paper.venue else None,
        paper.year,
        folded_authors(paper.authors),
        paper_hash(paper),
    )


def paper_hash(paper: Paper) -> str:
    """Hash of what answers can depend on: all but the sources and the raw text."""
    shown = [paper.key, paper.abstract, paper.title, paper.authors, paper.venue, paper.year, paper.url]
    rest = [paper.doi, paper.arxiv_id, dict(paper.extra)]
    return hashlib.sha256(json.dumps([*shown, *rest], sort_keys=True).encode()).hexdigest()


def folded(text: str) -> str:
    """Case- and accent-folded words joined by one space: ``Krähenbühl, P.`` becomes ``krahenbuhl p``."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(_WORD.findall("".join(c for c in plain if not unicodedata.combining(c))))


def folded_authors(authors: Iterable[str]) -> str:
    """All names folded, each between ``|`` signs and blanks: ``| hyunseok lee | p krahenbuhl |``."""
    names = [name for name in map(folded, authors) if name]
    return f"| {' | '.join(names)} |" if names else ""


def author_matches(names: str, wanted: str) -> bool:
    """Whether one name of ``folded_authors`` holds all words of ``wanted``."""
    words = set(folded(wanted).split())
    return bool(words) and any(words <= set(name.split()) for name in names.split("|"))
