"""Restrictions to some papers, held against the papers there are.

known(store, "lee2025revize")       # UsageError: No paper has the key ... Did you mean lee2025revise?
left(store, filters)                # how many papers pass
"""

from __future__ import annotations

import difflib

from rag.chat.commands import described
from rag.errors import UsageError
from rag.ports import PaperStore
from rag.records import Filters, Paper

LISTING = "See: rag papers list"


def known(store: PaperStore, key: str, listing: str = LISTING) -> Paper:
    """Return the paper of ``key``.

    Raises:
        UsageError: there is none; the nearest keys are named or, if none is near, what lists them.
    """
    paper = store.paper(key)
    if paper is None:
        near = difflib.get_close_matches(key, store.keys(Filters()), n=3, cutoff=0.5)
        raise UsageError(
            f"No paper has the key {key!r}.", f"Did you mean {', '.join(near)}?" if near else listing
        )
    return paper


def left(store: PaperStore, filters: Filters, listing: str = LISTING) -> int:
    """Return how many papers pass.

    Raises:
        UsageError: a key that no paper has.
    """
    for key in filters.papers:
        known(store, key, listing)
    return len(store.keys(filters)) if filters else store.count_papers()


def none(filters: Filters) -> str:
    """Say that no paper passes."""
    return f"No paper passes {described(filters)!r}."
