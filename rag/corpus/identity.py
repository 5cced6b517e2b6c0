"""Which records are one paper, and what they make together.

Two records are the same paper when they share one signature: a DOI, an arXiv id, the address of a record
page, a normalised title with its first author, or a near-identical abstract. Signatures are short texts, so
that an index of any size finds the paper of a new record by looking up a handful of them. An address or a DOI
may be that of a list of papers: what two records say can contradict it (``contradicted``).

>>> from rag.records import Source
>>> preprint = Paper("a", "We think so.", Source("f", 1), arxiv_id="2501.00001v1")
>>> published = Paper("b", "We know so.", Source("f", 2), arxiv_id="2501.00001", venue="ICML", year=2025)
>>> merge(preprint, published).abstract
'We know so.'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from hashlib import sha256
from urllib.parse import SplitResult, parse_qs, urlsplit
from zlib import crc32

from rag.corpus import keys, venues
from rag.records import Paper
from rag.text.words import word_set

_MIN_WORDS = 40  # a shorter abstract ("This paper was withdrawn.") is shared by papers that are not one
_BANDS, _ROWS = 4, 5
_BINS = _BANDS * _ROWS
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.IGNORECASE)
_CODE_HOSTS = ("github.com", "gitlab.com", "huggingface.co", "twitter.com", "x.com", "youtube.com")
_VIRTUAL = r"(virtual/\d{4}/(?:poster|oral|spotlight|paper)/\d+)"
# Where these sites have a page for each record; all else there is a volume, a conference or a person.
_SITES = {
    "arxiv.org": r"(?:abs|pdf|html)/(.+?)(?:v\d+)?",
    "aclanthology.org": r"([A-Z]\d\d-\d{4,}|\d{4}\.[\w-]+\.\d+)(?:v\d+)?",
    "proceedings.mlr.press": r"(v\d+/[^/]*\D\d\d[a-z]*)(?:/[^/]+)?",
    "openaccess.thecvf.com": r"content.*/(?:html|papers)/(.+_paper)",
    "dblp.org": r"(rec/.+)",
    **dict.fromkeys(("icml.cc", "iclr.cc", "neurips.cc", "nips.cc", "mlsys.org", "aistats.org"), _VIRTUAL),
}
_LISTS = word_set(
    "volume volumes vol issue issues toc book books group groups event events session sessions workshop",
    "list lists search tag tags category author authors profile profiles people journal journals",
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_VOLUME = re.compile(r"(?:v|vol|volume|no|issue)[-_.]?\d+", re.IGNORECASE)
_SHARED = 0.1  # of three-word runs: papers of one field share 2%, a rewritten abstract keeps more than this


def signatures(paper: Paper) -> tuple[str, ...]:
    """Return what identifies ``paper``, strongest first; records that share one are the same paper."""
    found = [
        _doi(paper),
        _arxiv(paper),
        _url(paper),
        _title(paper),
        *(near(paper.abstract) or [_whole(paper)]),
    ]
    return tuple(signature for signature in found if signature)


def contradicted(signature: str, paper: Paper, others: Iterable[Paper]) -> bool:
    """Return whether ``others``, the records of one paper, speak against ``paper`` being one of them.

    Only an address and a DOI can be contradicted, since they may be those of a list or a volume: by title and
    abstract that agree with none of ``others``, and an address by another DOI. These are not asked for any
    other ``signature``.
    """
    if not signature.startswith(("url:", "doi:")):
        return False
    known = list(others)
    doi = _doi(paper)
    dois = {_doi(other) for other in known} - {None}
    if doi and dois and doi not in dois:
        return True
    return bool(known) and all(_tell_of_two(paper, other) for other in known)


def merge(first: Paper, second: Paper) -> Paper:
    """Return the paper that two records of it make; the key of ``first`` is kept.

    The newer record's text wins (published over preprint, then later year, then higher arXiv version, then
    the longer abstract); another field is the newer's, or the older's where the newer has none or says less.
    What was overruled is recorded in ``extra["conflicts"]``; the sources of both are kept.
    """
    newer, older = (second, first) if _age(second) > _age(first) else (first, second)
    conflicts = _conflicts(newer, older)
    extra = {**older.extra, **newer.extra}
    if conflicts:
        extra["conflicts"] = conflicts
    sources = dict.fromkeys([first.source, *first.also, second.source, *second.also])
    return replace(
        newer,
        key=first.key,
        source=first.source,
        also=tuple(source for source in sources if source != first.source),
        title=newer.title or older.title,
        authors=_fuller(newer.authors, older.authors),
        venue=newer.venue or older.venue,
        year=newer.year if newer.year is not None else older.year,
        url=newer.url or older.url,
        doi=_published_doi(newer, older),
        arxiv_id=_later_version(newer.arxiv_id, older.arxiv_id),
        extra=extra,
    )


def _doi(paper: Paper) -> str | None:
    return f"doi:{paper.doi.lower()}" if paper.doi and not _ARXIV_DOI.match(paper.doi) else None


def _arxiv(paper: Paper) -> str | None:
    match = _ARXIV_DOI.match(paper.doi or "")
    number = paper.arxiv_id or (match[1] if match else None)
    return f"arxiv:{re.sub(r'v[0-9]+$', '', number.lower())}" if number else None


def _url(paper: Paper) -> str | None:
    """The address of a record's own page, the same for its PDF; None for a page of a venue or a volume."""
    if not paper.url:
        return None
    try:
        parts = urlsplit(paper.url)
    except ValueError:
        return None
    host = (parts.hostname or "").removeprefix("www.")
    path = re.sub(r"\.(?:pdf|html?)$", "", parts.path.rstrip("/"), flags=re.IGNORECASE)
    if host in _CODE_HOSTS:
        return None
    if host == "openreview.net":
        number = parse_qs(parts.query).get("id")
        return f"url:{host}/forum?{number[0]}" if number and path in ("/forum", "/pdf") else None
    if host in _SITES:
        match = re.fullmatch(_SITES[host], path.lstrip("/"))
        return f"url:{host}/{match[1]}" if match else None
    return _guessed(host, path, parts)


def _guessed(host: str, path: str, parts: SplitResult) -> str | None:
    """The page of a site that is not known: a number names the record that is neither a year nor a volume."""
    query = parse_qs(parts.query)
    number = query.get("id") or query.get("paperId")
    segments = path.split("/")
    last = number[0] if number else segments[-1]
    if not _LISTS.isdisjoint(segment.casefold() for segment in segments) or _VOLUME.fullmatch(last):
        return None
    if len(re.findall(r"\d", _YEAR.sub("", last))) < 3:
        return None
    return f"url:{host}{path}{f'?{last}' if number else ''}"


def _title(paper: Paper) -> str | None:
    """The title with its first author; a title alone is not enough: "Design of Systems" names many.

    A record without authors is recognised by its abstract; one too short for that must agree wholly.
    """
    folded = keys.content_hash(paper.title or "")
    if paper.title and paper.authors:
        family = keys.ascii_fold(keys.family_name(paper.authors[0])) or paper.authors[0].casefold()
        return f"title:{folded[:20]}:{family[:40]}"
    return None


def _whole(paper: Paper) -> str:
    return "whole:" + keys.content_hash((paper.title or "") + paper.abstract)[:24]


def near(abstract: str) -> list[str]:
    """Return bands of a minhash of the abstract's three-word runs.

    Abstracts that agree in 95% of these runs share a band with probability .997, in 90% with .97, in half
    with .12, in 2% (two papers of one field) with 1e-8. One permutation hashing after Li, Owen and Zhang
    (2012): one hash a run, its low bits choose the bin, empty bins borrow from the next.
    """
    words = _words(abstract)
    if len(words) < _MIN_WORDS:
        return []
    bins: dict[int, int] = {}
    for value in sorted(_runs(words), reverse=True):
        bins[value % _BINS] = value // _BINS  # the last one stays: the smallest
    filled = [_borrowed(bins, at) for at in range(_BINS)]
    bands = (filled[start : start + _ROWS] for start in range(0, _BINS, _ROWS))
    return [f"text{at}:{sha256(repr(band).encode()).hexdigest()[:20]}" for at, band in enumerate(bands)]


def _tell_of_two(first: Paper, second: Paper) -> bool:
    """Whether title and abstract differ; where a title is missing, whether two full abstracts do."""
    one, other = _words(first.abstract), _words(second.abstract)
    are_full = min(len(one), len(other)) >= _MIN_WORDS
    if first.title and second.title:
        if keys.content_hash(first.title) == keys.content_hash(second.title):
            return False
    elif not are_full:
        return False
    if not are_full:
        return keys.content_hash(first.abstract) != keys.content_hash(second.abstract)
    shared = _runs(one) & _runs(other)
    return len(shared) < _SHARED * min(len(_runs(one)), len(_runs(other)))


def _words(abstract: str) -> list[str]:
    return re.findall(r"[^\W_]+", abstract.casefold())


def _runs(words: list[str]) -> set[int]:
    """The hashes of all runs of three words."""
    texts = [word.encode("utf-8", "replace") for word in words]
    return {crc32(c, crc32(b, crc32(a))) for a, b, c in zip(texts, texts[1:], texts[2:], strict=False)}


def _borrowed(bins: dict[int, int], at: int) -> int:
    for step in range(_BINS):
        value = bins.get((at + step) % _BINS)
        if value is not None:
            return value + step  # a borrowed value must not look like the lender's own
    return 0


def _age(paper: Paper) -> tuple[bool, int, int, int, str]:
    version = re.search(r"v(\d+)$", paper.arxiv_id or "")
    return (
        venues.is_published(paper.venue or ""),
        paper.year or 0,
        int(version[1]) if version else 0,
        len(paper.abstract),
        paper.abstract,
    )


def _conflicts(newer: Paper, older: Paper) -> dict[str, object]:
    """Return the overruled values by field, with those of earlier merges."""
    found: dict[str, object] = {}
    for paper in (newer, older):
        recorded = paper.extra.get("conflicts")
        found.update(recorded if isinstance(recorded, Mapping) else {})
    for field in fields(Paper):
        if field.name in ("key", "source", "also", "extra", "raw", "arxiv_id"):
            continue
        kept, lost = getattr(newer, field.name), getattr(older, field.name)
        if kept and lost and _differ(kept, lost):
            earlier = found.get(field.name)
            values = list(earlier) if isinstance(earlier, list) else []
            value = list(lost) if isinstance(lost, tuple) else lost
            found[field.name] = values if value in values else [*values, value]
    return found


def _differ(kept: object, lost: object) -> bool:
    if isinstance(kept, str) and isinstance(lost, str):
        return keys.content_hash(kept) != keys.content_hash(lost)
    if isinstance(kept, tuple) and isinstance(lost, tuple):
        return [keys.ascii_fold(keys.family_name(name)) for name in kept] != [
            keys.ascii_fold(keys.family_name(name)) for name in lost
        ]
    return kept != lost


def _fuller(newer: tuple[str, ...], older: tuple[str, ...]) -> tuple[str, ...]:
    """More authors, or the same with names written out: "Hyunseok Lee" over "Lee H"."""
    if len(older) > len(newer) or (len(older) == len(newer) and len("".join(older)) > len("".join(newer))):
        return older
    return newer


def _published_doi(newer: Paper, older: Paper) -> str | None:
    found = [paper.doi for paper in (newer, older) if paper.doi]
    return next((doi for doi in found if not _ARXIV_DOI.match(doi)), found[0] if found else None)


def _later_version(first: str | None, second: str | None) -> str | None:
    def version(number: str) -> int:
        match = re.search(r"v(\d+)$", number)
        return int(match[1]) if match else 0

    found = [number for number in (first, second) if number]
    return max(found, key=version) if found else None
