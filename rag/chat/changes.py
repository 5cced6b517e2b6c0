"""What became of the papers a stored conversation cites: still there, changed, or gone from the index.

for change in changes(conversation.numbers.papers, entries, pile.store): ...
change.lost       # quotations shown then that no longer stand in the abstract
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from rag.chat.entries import Entry, digest
from rag.ports import PaperStore
from rag.records import Paper


@dataclass(frozen=True, slots=True)
class Change:
    """``paper`` is as it was cited; ``quotes`` of it were shown, ``lost`` of them are no longer in it."""

    ref: int
    paper: Paper
    kind: Literal["changed", "vanished"]
    quotes: int = 0
    lost: int = 0


def changes(cited: Mapping[int, Paper], entries: Iterable[Entry], store: PaperStore) -> list[Change]:
    """Compare the papers of a conversation with the index as it is now."""
    quotes = _quotes(entries)
    found = []
    for ref, paper in sorted(cited.items()):
        now = store.paper(paper.key)
        shown = quotes.get(paper.key, set())
        if now is None:
            found.append(Change(ref, paper, "vanished", len(shown), len(shown)))
        elif digest(now) != digest(paper):
            lost = sum(quote not in now.abstract for quote in shown)
            found.append(Change(ref, paper, "changed", len(shown), lost))
    return found


def _quotes(entries: Iterable[Entry]) -> dict[str, set[str]]:
    quotes: dict[str, set[str]] = {}
    for entry in entries:
        for sentence in entry.answer.sentences if entry.answer else ():
            for citation in sentence.citations:
                if citation.quote:
                    quotes.setdefault(citation.key, set()).add(citation.quote)
    return quotes
