"""Everything that comes before an answer is written: which papers are read, and whether they answer.

found = find("How does ReVISE verify?", pile, Options(), Filters())
found.decision.answer, [hit.paper.title for hit in found.chosen.hits]
"""

from __future__ import annotations

from dataclasses import dataclass

from rag.chain.abstain import Decision, judge
from rag.chain.evidence import Chosen, choose
from rag.chain.setup import Options, Pile
from rag.chain.weigh import Weighed, candidates, weigh
from rag.records import Filters


@dataclass(frozen=True, slots=True)
class Found:
    """What the search gave.

    Attributes:
        chosen: the papers for a model to read, in the order of the search.
        weighed: those to take sentences from, in the order in which they bear on the question.
        decision: made on ``weighed``.
    """

    chosen: Chosen
    weighed: Weighed
    decision: Decision


def find(question: str, pile: Pile, options: Options, filters: Filters) -> Found | None:
    """Search, weigh what is found, and decide; None when nothing is found."""
    hits = pile.retriever.search(question, top=candidates(options.papers), filters=filters)
    chosen = choose(question, hits[: options.papers], pile.retriever, filters)
    if not chosen.hits:
        return None
    everything = {hit.paper.key: hit for hit in (*hits, *chosen.hits)}
    weighed = weigh(
        question, tuple(everything.values()), pile.similarity, top=options.papers, named=chosen.named
    )
    return Found(chosen.with_best(weighed.hits[0]), weighed, judge(weighed))
