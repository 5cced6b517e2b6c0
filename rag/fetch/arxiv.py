"""The arXiv API: papers by identifier or by query, as an Atom feed, written like the arXiv metadata snapshot.

>>> as_query("retrieval augmented")
'all:retrieval AND all:augmented'
>>> as_query("ti:retrieval AND cat:cs.CL")
'ti:retrieval AND cat:cs.CL'
>>> identifier("https://arxiv.org/abs/2502.14565v2"), identifier("BERT")
('2502.14565v2', None)

The user's manual (info.arxiv.org/help/api) asks for one request in three seconds, gives at most 30,000
results of a query, and reports errors as a feed with one entry named Error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element, ParseError

from defusedxml import ElementTree  # type: ignore[import-untyped]
from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]

from rag.errors import ProviderError, UsageError
from rag.fetch.source import Page, Record, excerpt, refusal
from rag.ports import Reply, Service

BASE_URL = "https://export.arxiv.org/api"
PAUSE = 3.0
MOST = 30_000
_PAGE = 200
_IDS = 100  # of nine characters and more, in an address
_TRIES = 3
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_SEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_ID = re.compile(
    r"(?:arxiv:|(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/)?"
    r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(v\d+)?(?:\.pdf)?/?",
    re.IGNORECASE,
)
_FIELDED = re.compile(
    r"\b(?:ti|au|abs|co|jr|cat|rn|id|all|submittedDate|lastUpdatedDate):|\b(?:AND|OR|ANDNOT)\b"
)


class ArXiv:
    """A query, or the papers of ``ids`` (``identifier`` tells which words are some).

    Args:
        most: how many results of a query are wanted.
        newest: latest first, instead of the best match first.
    """

    who = "arXiv"

    def __init__(
        self,
        service: Service,
        *,
        query: str = "",
        ids: Sequence[str] = (),
        most: int = 1000,
        newest: bool = False,
    ) -> None:
        self._service = service
        self._query = as_query(query)
        self._ids = tuple(dict.fromkeys(ids))
        self._most = most
        self._newest = newest

    @property
    def request(self) -> Mapping[str, object]:
        if self._ids:
            return {"service": "arxiv", "ids": list(self._ids)}
        return {"service": "arxiv", "query": self._query, "most": self._most, "newest": self._newest}

    def page(self, cursor: str | None) -> Page:
        start = int(cursor or 0)
        return self._named(start) if self._ids else self._found(start)

    def identifier(self, record: Record) -> str:
        return str(record["id"])

    def nothing(self) -> tuple[str, str]:
        if self._ids:
            return f"arXiv has none of these {len(self._ids)} papers.", "Check the identifiers."
        return f"arXiv finds nothing for {self._query}.", "Try fewer or other words."

    def _named(self, start: int) -> Page:
        asked = self._ids[start : start + _IDS]
        entries, _ = self._feed({"id_list": ",".join(asked), "max_results": str(len(asked))})
        records = tuple(map(_record, entries))
        known = {record["id"] for record in records}
        after = start + len(asked)
        return Page(
            records,
            str(after) if after < len(self._ids) else None,
            len(self._ids),
            tuple(id_ for id_ in asked if _bare(id_) not in known),
        )

    def _found(self, start: int) -> Page:
        size = min(_PAGE, self._most - start)
        params = {
            "search_query": self._query,
            "start": str(start),
            "max_results": str(size),
            "sortBy": "submittedDate" if self._newest else "relevance",
            "sortOrder": "descending",
        }
        for _ in range(_TRIES):
            entries, total = self._feed(params)
            wanted = min(total, self._most)
            if entries or start >= wanted:
                after = start + len(entries)
                more = entries and after < wanted
                return Page(tuple(map(_record, entries)), str(after) if more else None, wanted)
        # Known to happen now and then; taken for the end it would lose the rest in silence.
        raise ProviderError(
            f"arXiv sent an empty page {_TRIES} times at result {start:,} of {wanted:,}.",
            "Run the same command again later: it goes on where it stopped.",
        )

    def _feed(self, params: Mapping[str, str]) -> tuple[list[Element], int]:
        reply = self._service.ask("query", params)
        feed = _parsed(reply)
        entries = feed.findall(f"{_ATOM}entry")
        if entries and "/api/errors" in _text(entries[0], f"{_ATOM}id"):
            reason = _text(entries[0], f"{_ATOM}summary") or "no reason given"
            raise UsageError(f"arXiv refused: {reason}.", "Correct the query or the identifiers.")
        if reply.status != 200:
            raise refusal("arXiv", reply)
        total = _text(feed, f"{_SEARCH}totalResults")
        return entries, int(total) if total.isdecimal() else len(entries)


def identifier(word: str) -> str | None:
    """Return the arXiv identifier that ``word`` is, bare or within an address, or None."""
    match = _ID.fullmatch(word.strip())
    return (match[1] + (match[2] or "").lower()) if match else None


def as_query(words: str) -> str:
    """Turn plain words into a query for papers that hold all of them; a query with fields stays as it is."""
    words = words.strip()
    if _FIELDED.search(words):
        return words
    return " AND ".join(f"all:{term}" for term in re.findall(r'"[^"]+"|[^\s"]+', words))


def _parsed(reply: Reply) -> Element:
    try:
        feed: Element = ElementTree.fromstring(reply.body)
        if feed.tag == f"{_ATOM}feed":
            return feed
    except (ParseError, DefusedXmlException, ValueError):
        pass
    if reply.status != 200:
        raise refusal("arXiv", reply)
    raise ProviderError(
        f"arXiv did not answer with a feed: {excerpt(reply.body)!r}.",
        "Check the address in the settings, or try again later.",
    )


def _record(entry: Element) -> Record:
    """Write an entry as the snapshot has it; ``versions`` names the first and the one that was sent."""
    page = _text(entry, f"{_ATOM}id")
    found = _ID.fullmatch(page)
    bare, version = (found[1], found[2] or "v1") if found else (page, "v1")
    published, updated = _text(entry, f"{_ATOM}published"), _text(entry, f"{_ATOM}updated")
    versions = [{"version": "v1", "created": published}]
    if version != "v1":
        versions.append({"version": version, "created": updated})
    return {
        "id": bare,
        "title": _text(entry, f"{_ATOM}title"),
        "authors": _texts(entry.findall(f"{_ATOM}author/{_ATOM}name")),
        "abstract": _text(entry, f"{_ATOM}summary"),
        "categories": " ".join(node.get("term", "") for node in entry.findall(f"{_ATOM}category")),
        "comments": _text(entry, f"{_ARXIV}comment") or None,
        "journal-ref": _text(entry, f"{_ARXIV}journal_ref") or None,
        "doi": _text(entry, f"{_ARXIV}doi") or None,
        "versions": versions,
        "update_date": updated[:10],
    }


def _texts(nodes: Iterable[Element]) -> list[str]:
    return [text for text in (" ".join((node.text or "").split()) for node in nodes) if text]


def _text(parent: Element, name: str) -> str:
    return " ".join(_texts(parent.findall(name)))


def _bare(identifier_: str) -> str:
    return re.sub(r"v\d+$", "", identifier_)
