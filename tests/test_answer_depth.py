"""How much is read: quick, normal and deep; and what --dry-run tells before anything is spent."""

from __future__ import annotations

import json

import pytest

from rag.adapters.partial_json import read
from rag.chain import found
from rag.chain.abstain import Decision
from rag.chain.answer import Options, Writer, answer
from rag.chain.deepen import deepen, parts
from rag.chain.evidence import Chosen, pack, shortened
from rag.chain.fence import fence
from rag.chain.plan import plan
from rag.errors import UsageError
from rag.prompts import Prompts
from rag.records import Filters
from tests.chain_fakes import ScriptedModel, Shelf, hit, paper, pile_of

METHODS = [
    paper(f"m{i}", f"Method {i} edits models. It costs {i} hours. Nobody likes rain.") for i in range(12)
]
RAIN = paper("rain", "It is about weather. Rain falls on roofs. Snow falls in winter. Rain is wet.")
DECLINES = json.dumps({"answerable": False, "sentences": []})


@pytest.fixture(autouse=True)
def decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "judge", lambda weighed: Decision(True, 0.9))


def writer(model: ScriptedModel) -> Writer:
    return Writer(model, Prompts(), read, price=(1.0, 10.0))


def test_parts_of_a_question_are_lines_with_a_question_mark() -> None:
    model = ScriptedModel(
        ["Here they are:\n1. What does A cost?\n- What does B cost?\n(3) Why?\nWhy?\nDone."]
    )
    assert parts("Why?", model, Prompts()) == ("What does A cost?", "What does B cost?")


def test_papers_on_the_parts_are_added_in_turn_and_in_short() -> None:
    chosen = deepen(
        Chosen((hit(METHODS[0]),)), ["Method?", "Rain on roofs?"], Shelf([*METHODS, RAIN]), 2, Filters()
    )
    keys = [h.paper.key for h in chosen.hits]
    assert keys[0] == "m0"
    assert "rain" in keys
    assert len(keys) == len(set(keys)) <= 6
    assert chosen.brief == set(keys) - {"m0"}


def test_a_shortened_abstract_keeps_what_was_asked_about_in_its_own_words() -> None:
    sent = shortened(fence(RAIN.abstract), ["What about rain on roofs?"])
    assert sent.text == "Rain falls on roofs. … Rain is wet."
    assert len(sent.text) == len(sent.origin)
    assert sent.original("Rain is wet.", RAIN.abstract) == "Rain is wet."


def test_brief_papers_are_packed_in_short() -> None:
    packed = pack(
        Chosen((hit(METHODS[1]), hit(RAIN)), brief=frozenset({"rain"}), asked=("rain on roofs",)), 4000
    )
    assert packed.texts[0].text == METHODS[1].abstract
    assert packed.texts[1].text == "Rain falls on roofs. … Rain is wet."


@pytest.mark.parametrize(("depth", "most"), [("quick", 4), ("normal", 8)])
def test_depths_without_a_further_request(depth: str, most: int) -> None:
    model = ScriptedModel([DECLINES])
    options = Options(depth=depth)  # type: ignore[arg-type]
    result = answer("What edits models in hours?", pile_of(*METHODS), writer=writer(model), options=options)
    assert result.read == most
    assert len(model.requests) == 1


def test_deep_asks_for_parts_and_reads_more() -> None:
    model = ScriptedModel(["What edits models?\nWhere does rain fall?", DECLINES])
    pile = pile_of(*METHODS, RAIN)
    result = answer(
        "What edits models in hours?", pile, writer=writer(model), options=Options(top=4, depth="deep")
    )
    assert result.read == 12
    assert "Rain falls on roofs." in model.requests[1].messages[-1].content
    assert result.usage.prompt_tokens == 200


def test_a_plan_tells_papers_and_price_and_asks_nobody() -> None:
    model = ScriptedModel([DECLINES])
    planned = plan("What edits models in hours?", pile_of(*METHODS), writer(model), options=Options(top=3))
    assert len(planned.papers) == 3
    assert planned.usage.completion_tokens == 700
    expected = (planned.usage.prompt_tokens * 1.0 + 700 * 10.0) / 1e6
    assert planned.usage.cost_usd == pytest.approx(expected)
    assert model.requests == []


def test_a_plan_for_a_question_that_needs_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    pile = pile_of(*METHODS)
    assert plan("How many papers are there?", pile, writer(ScriptedModel([]))).usage.cost_usd == 0.0
    assert "matches" in (plan("Zebras?", pile, writer(ScriptedModel([]))).decision.reason or "")
    monkeypatch.setattr(found, "judge", lambda weighed: Decision(False, 0.1, "Not stated."))
    refused = plan("What edits models in hours?", pile, writer(ScriptedModel([])))
    assert (refused.papers, refused.decision.reason) == ((), "Not stated.")


def test_max_cost_holds_for_the_whole_answer() -> None:
    model = ScriptedModel([DECLINES])
    with pytest.raises(UsageError, match="more than --max-cost"):
        answer("What edits models?", pile_of(*METHODS), writer=writer(model), options=Options(max_cost=0.001))
    assert model.requests == []


def test_the_evidence_leaves_room_in_the_context_window() -> None:
    long = [
        paper(f"l{i}", " ".join(f"Method {i} edits models in {n} hours." for n in range(80)))
        for i in range(8)
    ]
    model = ScriptedModel([DECLINES], context_window=2048)
    options = Options(evidence_tokens=100_000, max_tokens=500)
    result = answer("What edits models in hours?", pile_of(*long), writer=writer(model), options=options)
    assert result.read == 1
    size = sum(len(message.content) for message in model.requests[0].messages)
    assert size / 3.5 + 500 < 2048
