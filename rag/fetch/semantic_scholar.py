"""Semantic Scholar's Graph API: papers by identifier, 500 in one request, written as they come.

>>> identifier("10.18653/v1/N18-3011"), identifier("arxiv.org/abs/1706.03762v5"), identifier("13756489")
('DOI:10.18653/v1/N18-3011', 'ARXIV:1706.03762', 'CorpusId:13756489')

With a key one request a second is allowed; without one all callers share a pool, often an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rag.errors import ProviderError, UsageError
from rag.fetch import arxiv
from rag.fetch.source import Page, Record, message, parsed
from rag.ports import Service

BASE_URL = "https://api.semanticscholar.org/graph/v1"
PAUSE = 1.0
_PAGE = 500
_FIELDS = (
    "paperId,corpusId,externalIds,url,title,abstract,venue,year,publicationDate,journal,authors,"
    "citationCount,fieldsOfStudy,tldr"
)
_KINDS = {kind.upper(): kind for kind in ("DOI", "ARXIV", "PMID", "PMCID", "ACL", "MAG", "URL", "CorpusId")}


class SemanticScholar:
    """The papers of ``ids`` (made by ``identifier``)."""

    who = "Semantic Scholar"

    def __init__(self, service: Service, ids: Sequence[str]) -> None:
        self._service = service
        self._ids = tuple(dict.fromkeys(ids))

    @property
    def request(self) -> Mapping[str, object]:
        return {"service": "s2", "ids": list(self._ids), "fields": _FIELDS}

    def page(self, cursor: str | None) -> Page:
        start = int(cursor or 0)
        asked = self._ids[start : start + _PAGE]
        found = self._batch(asked)
        after = start + len(asked)
        return Page(
            tuple(each for each in found if each is not None),
            str(after) if after < len(self._ids) else None,
            len(self._ids),
            tuple(id_ for id_, each in zip(asked, found, strict=True) if each is None),
        )

    def identifier(self, record: Record) -> str:
        return str(record.get("paperId"))

    def nothing(self) -> tuple[str, str]:
        return f"Semantic Scholar knows none of these {len(self._ids)} papers.", "Check the identifiers."

    def _batch(self, ids: Sequence[str]) -> list[Record | None]:
        reply = self._service.ask("paper/batch", {"fields": _FIELDS}, body={"ids": list(ids)})
        if reply.status == 400 and "no valid paper ids" in message(reply.body).lower():
            return [None] * len(ids)
        value = parsed(self.who, reply)
        if not isinstance(value, list) or len(value) != len(ids):
            raise ProviderError(
                f"Semantic Scholar did not answer with one paper for each of {len(ids)} identifiers.",
                "Check the address in the settings.",
            )
        return [each if isinstance(each, Mapping) else None for each in value]


def identifier(word: str) -> str:
    """Return ``word`` as the API names papers: a DOI, an arXiv id, addresses of either, a number, a hash.

    Raises:
        UsageError: it looks like none of these.
    """
    word = word.strip()
    kind, colon, rest = word.partition(":")
    if paper := arxiv.identifier(word):
        return "ARXIV:" + re.sub(r"v\d+$", "", paper)
    if colon and kind.upper() in _KINDS and rest:
        return f"{_KINDS[kind.upper()]}:{rest}"
    if doi := re.fullmatch(r"(?:https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/\S+)", word):
        return f"DOI:{doi[1]}"
    if paper_hash := re.fullmatch(r"(?:https?://\S*semanticscholar\.org/\S*?)?([0-9a-f]{40})/?", word):
        return paper_hash[1]
    if word.isdecimal():
        return f"CorpusId:{word}"
    if re.match(r"https?://", word):
        return f"URL:{word}"
    raise UsageError(
        f"{word!r} is no identifier that Semantic Scholar knows.",
        "Give DOIs, arXiv ids, addresses of papers, or forms such as PMID:19872477 and ACL:W12-3903.",
    )
