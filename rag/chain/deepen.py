"""``--depth deep``: a question is split into parts, each part is searched for, and more papers are read.

    "How do AnyEdit and VinePPO differ in cost?"
    ->  "What does AnyEdit cost?", "What does VinePPO cost?", ...  ->  8 whole abstracts, 16 more in short

"In short" are the sentences of an abstract that have most to do with the question and its parts, in the
abstract's own words, so that quotations can still be found in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest

from rag.chain.evidence import Chosen, Search
from rag.ports import ChatModel, ChatRequest
from rag.prompts import Prompts
from rag.records import Filters, Hit

_MOST_PARTS = 4
_LONGEST_PART = 200
_PART_TOKENS = 200
_TIMES = 3  # as many papers as without
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d+[.):])?\s*")


def parts(question: str, model: ChatModel, prompts: Prompts) -> tuple[str, ...]:
    """Have the model split ``question``; nothing when it makes nothing of it.

    Raises:
        ProviderError: the model cannot be had.
    """
    messages = prompts.load("subquestions").messages(question=question)
    text = ""
    for delta in model.stream(ChatRequest(messages, _PART_TOKENS)):
        text = delta.text if delta.restart else text + delta.text
    lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
    asked = dict.fromkeys(line for line in lines if line.endswith("?") and len(line) <= _LONGEST_PART)
    return tuple(part for part in asked if part.casefold() != question.casefold())[:_MOST_PARTS]


def deepen(chosen: Chosen, asked: Sequence[str], search: Search, top: int, filters: Filters) -> Chosen:
    """Add the papers on the parts of a question to those chosen for the whole, in turn, best first."""
    found = [search.search(part, top=_TIMES * top, filters=filters) for part in asked]
    known = {hit.paper.key for hit in chosen.hits}
    more: dict[str, Hit] = {}
    for hit in _in_turn(found):
        if hit.paper.key not in known:
            more.setdefault(hit.paper.key, hit)
    added = list(more.values())[: max(_TIMES * top - len(known), 0)]
    return replace(
        chosen,
        hits=(*chosen.hits, *added),
        brief=frozenset(hit.paper.key for hit in added),
        asked=tuple(asked),
    )


def _in_turn(lists: Iterable[Sequence[Hit]]) -> Iterable[Hit]:
    return (hit for row in zip_longest(*lists) for hit in row if hit is not None)
