"""The suites without a model as tests: gold set, gates; and real faults turn a gate red."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rag.chain import found
from rag.evals import gate
from rag.evals.pipeline import Pipeline
from rag.evals.results import Result
from rag.evals.rows import Row, Tools, ask, ranked
from rag.settings import Settings
from rag.wiring import evals as wiring_evals
from rag.wiring import runs as wiring_runs
from rag.wiring.runs import Ask, Plan

ROOT = Path(__file__).parents[1]


pytestmark = pytest.mark.usefixtures("at_root")


@pytest.fixture(scope="module")
def extractive() -> Iterator[tuple[Plan, Result]]:
    """All questions in extractive mode, once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        plan = wiring_runs.planned(Ask("extractive"))
        yield plan, wiring_runs.carried_out(plan, wiring_evals.silent, jobs=2)


@pytest.fixture(scope="module")
def opened(extractive: tuple[Plan, Result]) -> Iterator[tuple[Pipeline, Tools]]:
    with wiring_evals.opened(extractive[0].spec, wiring_evals.silent) as made:
        yield made


@pytest.mark.parametrize("suite", ["extractive", "attacks"])
def test_the_gold_set_has_no_faults(suite: str) -> None:
    found, _ = wiring_runs.linted(Ask(suite))
    assert [f"{one.where} {one.check}: {one.message}" for one in found] == []


def test_an_index_belongs_to_the_code_that_made_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = wiring_evals.indexing_code()
    assert {path.parent.name for path in code} >= {*wiring_evals.INDEXING, "readers", "shapes"}
    suite = wiring_runs.planned(Ask("extractive")).suite
    before = wiring_evals.settings_of(suite, None, Settings()).index
    changed = tmp_path / "clean.py"
    changed.write_text("# another way to clean\n")
    monkeypatch.setattr(wiring_evals, "indexing_code", lambda: [*code, changed])
    assert wiring_evals.settings_of(suite, None, Settings()).index != before


def test_the_gold_set_is_large_and_of_every_kind() -> None:
    cases = [case for case, _ in wiring_runs.planned(Ask("extractive")).every]
    assert len(cases) >= 240
    answerable = {case.kind for case in cases if case.answerable}
    assert answerable == {"fact", "paraphrase", "named", "compare", "list", "pile", "followup", "injected"}
    assert {"near-miss", "no-paper", "far", "false-premise"} <= {
        case.kind for case in cases if not case.answerable
    }


def test_the_extractive_gate_is_green(extractive: tuple[Plan, Result]) -> None:
    plan, result = extractive
    assert wiring_runs.gated(plan, result).reasons == ()


def test_the_attack_gate_is_green() -> None:
    plan = wiring_runs.planned(Ask("attacks"))
    assert len({case.attack.paper for case, _ in plan.every if case.attack and case.attack.paper}) >= 30
    result = wiring_runs.carried_out(plan, wiring_evals.silent)
    assert wiring_runs.gated(plan, result).reasons == ()


def judged(plan: Plan, before: Result, rows: list[Row]) -> list[str]:
    """The gate's reasons for a run in which some rows were replaced, against the same run without a fault."""
    changed = {row.case: row for row in rows}
    after = [changed.get(row.case, row) for row in before.rows]
    return list(gate.judge(after, plan.suite.gate, before.rows).reasons)


def test_without_keyword_search_the_gate_names_retrieval(
    extractive: tuple[Plan, Result], opened: tuple[Pipeline, Tools]
) -> None:
    plan, result = extractive
    pipeline, tools = opened
    dense = replace(pipeline.pile.retriever, weight=0.0)  # type: ignore[type-var]
    cases = {case.id: case for case, _ in plan.tasks}
    rows = []
    for row in result.rows:
        if "mrr@10" in row.scores:
            question = str((row.answer or {})["question"])
            scores = ranked(cases[row.case], dense.search(question, 50), tools.rank)
            rows.append(replace(row, scores={**row.scores, **scores}))  # type: ignore[dict-item]
    reasons = judged(plan, result, rows)
    assert reasons
    named = {reason.split(" got worse")[0] for reason in reasons}
    assert named <= {"mrr@10", "mrr@10 of papers' words", "recall@5 of papers' words"}


def test_without_abstention_the_gate_names_false_answers(
    extractive: tuple[Plan, Result], opened: tuple[Pipeline, Tools], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, result = extractive
    decide = found.judge
    monkeypatch.setattr(found, "judge", lambda *a, **k: replace(decide(*a, **k), answer=True))
    cases = [case for case, _ in plan.tasks if not case.answerable][::4]
    reasons = judged(plan, result, [ask(case, 1, *opened) for case in cases])
    assert any(reason.startswith("false_answer got worse") for reason in reasons)


def test_a_second_run_in_one_process_scores_the_same(
    extractive: tuple[Plan, Result], opened: tuple[Pipeline, Tools]
) -> None:
    plan, result = extractive
    some = plan.tasks[::40]
    again = [ask(case, sample, *opened) for case, sample in some]
    first = {row.case: row for row in result.rows}
    for row in again:
        assert drop_time(row) == drop_time(first[row.case])


def drop_time(row: Row) -> dict[str, float]:
    return {name: value for name, value in row.scores.items() if name != "latency_s"}
