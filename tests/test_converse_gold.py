"""How often a follow-up finds its paper once the rules have reworded it: the follow-up slice of the gold set.

The rules are general; what was changed in them was judged by the split ``tune`` only. A question that stands
on its own must not be spoilt either: every such question is asked after a turn about another paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag import wiring
from rag.chain.converse import standalone
from rag.chain.reword import turns_of, understood
from rag.chain.setup import Pile
from rag.evals.cases import Case, load
from rag.records import Paper
from rag.settings import load as settings

GOLD = Path(__file__).parents[1] / "eval" / "gold"
TOP = 3
WANTED = 0.85


@pytest.fixture(scope="module")
def pile(sample_index: Path) -> Iterator[Pile]:
    with wiring.open_pile(settings({"index": sample_index}, environ={}, files=()), print) as opened:
        yield opened


@pytest.fixture(scope="module")
def papers(pile: Pile) -> dict[str, Paper]:
    return {paper.key: paper for paper in pile.store.papers()}


def cases(split: str) -> list[Case]:
    return [case for case in load([GOLD]) if case.split == split and case.answerable and case.papers]


def finds(pile: Pile, question: str, case: Case) -> bool:
    found = {hit.paper.key for hit in pile.retriever.search(question, TOP)}
    return set(case.papers[:TOP]) <= found


@pytest.mark.parametrize("split", ["tune", "test"])
def test_follow_ups_find_their_paper(split: str, pile: Pile, papers: dict[str, Paper]) -> None:
    followups = [case for case in cases(split) if case.kind == "followup"]
    missed = []
    for case in followups:
        history = [(turn.question, turn.answer, turn.papers) for turn in case.history]
        question = understood(case.question, turns_of(history, papers)).question
        if not finds(pile, question, case):
            missed.append(f"{case.id}: {question}")
    assert len(followups) >= 10
    assert len(missed) <= (1 - WANTED) * len(followups), missed


def test_fragments_typed_in_conversations_find_their_paper(pile: Pile, papers: dict[str, Paper]) -> None:
    followups = [case for case in load([GOLD.parent / "followups"]) if len(case.papers) <= TOP]
    missed = []
    for case in followups:
        history = [(turn.question, turn.answer, turn.papers) for turn in case.history]
        meant = understood(case.question, turns_of(history, papers))
        if not any(finds(pile, one.question, case) for one in (meant, meant.otherwise) if one):
            missed.append(f"{case.id}: {meant.question}")
    assert len(followups) >= 80
    assert len(missed) <= (1 - WANTED) * len(followups), missed


@pytest.mark.parametrize("split", ["tune", "test"])
def test_other_questions_are_not_spoilt(split: str, pile: Pile, papers: dict[str, Paper]) -> None:
    histories = [case.history[-1] for case in cases(split) if case.kind == "followup"]
    alone = [
        case for case in cases(split) if case.kind not in ("followup", "pile") and len(case.papers) <= TOP
    ]
    lost = []
    for number, case in enumerate(alone):
        others = [turn for turn in histories if not set(turn.papers) & set(case.papers)]
        turn = others[number % len(others)]
        rewrite = standalone(case.question, turns_of([(turn.question, turn.answer, turn.papers)], papers))
        changed = rewrite.by is not None
        if changed and finds(pile, case.question, case) and not finds(pile, rewrite.question, case):
            lost.append(f"{case.id}: {rewrite.question}")
    assert len(alone) >= 80
    assert len(lost) <= 0.03 * len(alone), lost
