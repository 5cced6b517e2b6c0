"""Settings -> the services that publish papers; part of ``rag.wiring``.

fetch_arxiv(load(), ["2502.14565"], Path("revise.jsonl"), note=print).records
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rag.errors import UsageError
from rag.settings import Settings
from rag.wiring.index import Note, progress

if TYPE_CHECKING:
    from rag.adapters.polite_http import PoliteHttp
    from rag.fetch import Report
    from rag.fetch.source import Source


def fetch_arxiv(
    settings: Settings,
    words: Sequence[str],
    out: Path | None,
    note: Note,
    *,
    most: int = 1000,
    newest: bool = False,
    again: bool = False,
) -> Report:
    """Fetch papers by identifier if all words are some, else by query."""
    from rag.fetch import arxiv

    split = [part for word in words for part in word.split(",") if part]
    ids = [found for found in map(arxiv.identifier, split) if found]
    ids = ids if len(ids) == len(split) else []
    query = "" if ids else " ".join(words)
    if not ids and not query.strip():
        raise UsageError(
            "There is nothing to look for.", "Try: rag fetch arxiv retrieval augmented generation"
        )
    with _service(settings, "arXiv", settings.arxiv_url or arxiv.BASE_URL, arxiv.PAUSE, note) as service:
        source = arxiv.ArXiv(service, query=query, ids=ids, most=most, newest=newest)
        return _fetched(source, out or _named("arxiv", ids or [query]), note, again)


def fetch_openreview(
    settings: Settings,
    venue: str,
    out: Path | None,
    note: Note,
    *,
    everything: bool = False,
    again: bool = False,
) -> Report:
    """Fetch the papers of a venue."""
    from rag.fetch import openreview

    v2, v1 = settings.openreview_url, settings.openreview_v1_url
    name, pause = "OpenReview", openreview.PAUSE
    account = None
    if settings.openreview_username and settings.openreview_password:
        account = openreview.Account(settings.openreview_username, settings.openreview_password)
    with (
        _service(settings, name, v2 or openreview.BASE_URL, pause, note) as new,
        _service(settings, name, v1 or openreview.BASE_URL_V1, pause, note) as old,
    ):
        source = openreview.OpenReview(new, old, venue, everything=everything, account=account)
        return _fetched(source, out or _named("openreview", [venue]), note, again)


def fetch_s2(
    settings: Settings, words: Sequence[str], out: Path | None, note: Note, *, again: bool = False
) -> Report:
    """Fetch papers from Semantic Scholar by identifier."""
    from rag.fetch import semantic_scholar

    ids = [semantic_scholar.identifier(part) for word in words for part in _parts(word)]
    if not ids:
        raise UsageError("There are no identifiers.", "Try: rag fetch s2 10.18653/v1/N18-3011 1706.03762")
    key = settings.s2_api_key
    with _service(
        settings,
        "Semantic Scholar",
        settings.s2_url or semantic_scholar.BASE_URL,
        semantic_scholar.PAUSE,
        note,
        headers={"x-api-key": key} if key else None,
        hint="" if key else "A key of your own (S2_API_KEY) is seldom kept waiting.",
    ) as service:
        source = semantic_scholar.SemanticScholar(service, ids)
        return _fetched(source, out or _named("s2", ids), note, again)


def _parts(word: str) -> list[str]:
    """Commas part identifiers, but a DOI and an address may hold some."""
    return [word] if "/" in word else [part for part in word.split(",") if part]


@contextmanager
def _service(
    settings: Settings,
    name: str,
    base_url: str,
    pause: float,
    note: Note,
    *,
    headers: Mapping[str, str] | None = None,
    hint: str = "",
) -> Iterator[PoliteHttp]:
    from rag.adapters.polite_http import PoliteHttp

    made = PoliteHttp(
        name,
        base_url,
        pause=pause,
        timeout=settings.timeout,
        retries=settings.retries,
        headers=headers,
        note=note,
        hint=hint,
    )
    with closing(made):
        yield made


def _fetched(source: Source, out: Path, note: Note, again: bool) -> Report:
    from rag.fetch import fetch

    with progress(f"Fetching from {source.who}", note) as told:
        return fetch(source, out, again=again, progress=told)


def _named(service: str, what: Sequence[str]) -> Path:
    """Name the file after what is fetched: ``arxiv-all-retrieval.jsonl``."""
    words = re.sub(r"[^a-z0-9.]+", "-", what[0].lower()).strip("-.")[:50] or "papers"
    if len(what) > 1:
        words = f"{len(what)}-papers-{hashlib.sha256(repr(list(what)).encode()).hexdigest()[:8]}"
    return Path(f"{service}-{words}.jsonl")
