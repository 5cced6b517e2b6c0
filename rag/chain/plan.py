"""``--dry-run``: what would be read and what it would cost at most, without asking any model.

    plan("How does ReVISE verify?", pile, writer).usage      # Usage(2100, 700, 0.00073)

What it says is an estimate: nobody counts tokens like the model itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag.chain.abstain import Decision
from rag.chain.answer import NOTHING_FOUND
from rag.chain.found import find
from rag.chain.meter import cost, expected
from rag.chain.pile import count
from rag.chain.setup import Options, Pile, Writer
from rag.chain.written import first_request, packed_for
from rag.records import Evidence, Filters, Usage


@dataclass(frozen=True, slots=True)
class Plan:
    """Papers that would be put before the model, and the most that the request would use.

    ``decision`` tells whether the model would be asked at all; ``papers`` is empty where the records answer
    or nothing is found. ``usage.cost_usd`` is None when the price is unknown. What ``--depth deep`` and
    ``--verify model`` add is not known beforehand and not in it.
    """

    papers: tuple[Evidence, ...]
    usage: Usage
    decision: Decision


def plan(
    question: str,
    pile: Pile,
    writer: Writer,
    *,
    filters: Filters | None = None,
    options: Options | None = None,
) -> Plan:
    """Do everything that comes before the first request of ``answer``."""
    question, filters, options = " ".join(question.split()), filters or Filters(), options or Options()
    nothing = Usage(cost_usd=0.0)
    if count(question, pile.store, filters):
        return Plan((), nothing, Decision(True, 1.0, "The records answer this; no model is asked."))
    found = find(question, pile, options, filters)
    if not found or not found.decision.answer:
        return Plan((), nothing, found.decision if found else NOTHING_FOUND)
    packed = packed_for(question, found.chosen, writer, options)
    most = expected(first_request(question, packed, writer, options))
    return Plan(packed.papers, replace(most, cost_usd=cost(most, writer.price)), found.decision)
