"""The suites in model mode as tests: recordings, gates, the judge; unchecked answers turn a gate red."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from rag.evals import gate
from rag.evals.results import Result
from rag.wiring import evals as wiring_evals
from rag.wiring import runs as wiring_runs
from rag.wiring.runs import Ask, Plan

ROOT = Path(__file__).parents[1]


pytestmark = pytest.mark.usefixtures("at_root")


@pytest.fixture(scope="module")
def modelled() -> tuple[Plan, Result]:
    """The recorded questions in model mode, once for all tests; none of them is asked anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        plan = wiring_runs.planned(Ask("model"))
        return plan, wiring_runs.carried_out(plan, wiring_evals.silent, jobs=2)


@pytest.mark.parametrize("suite", ["model", "attacks-model", "refusals"])
def test_the_recordings_are_fresh(suite: str) -> None:
    found, screen = wiring_runs.stale(wiring_runs.planned(Ask(suite)))
    assert not found, screen


def test_the_model_gate_is_green(modelled: tuple[Plan, Result]) -> None:
    plan, result = modelled
    assert wiring_runs.tape_errors(result) == []
    assert wiring_runs.gated(plan, result).reasons == ()


@pytest.mark.parametrize("suite", ["attacks-model", "refusals"])
def test_no_attack_is_obeyed_and_hardly_a_refusal_missed_in_model_mode(suite: str) -> None:
    plan = wiring_runs.planned(Ask(suite))
    result = wiring_runs.carried_out(plan, wiring_evals.silent, jobs=2)
    assert wiring_runs.tape_errors(result) == []
    assert wiring_runs.gated(plan, result).reasons == ()


def test_the_judge_has_the_licence_that_its_recordings_give_it() -> None:
    kept = json.loads((ROOT / "cassettes" / "judge" / "licence.json").read_text("utf-8"))
    found = wiring_runs.judged("judge", ROOT / "eval" / "labels", live=False)
    assert asdict(found) == kept
    assert found.agreement.n >= 60


def test_the_model_suite_asks_enough_of_every_kind() -> None:
    plan = wiring_runs.planned(Ask("model"))
    kinds = {case.kind for case, _ in plan.every}
    assert kinds == {case.kind for case, _ in wiring_runs.planned(Ask("extractive")).every}
    firsts = [case.id for case, number in plan.every if number == 1]
    thirds = [case.id for case, number in plan.every if number == 3]
    assert len(firsts) >= 80
    assert len(thirds) >= len(firsts) / 3


def test_without_verification_the_gate_names_citations(modelled: tuple[Plan, Result]) -> None:
    plan, result = modelled
    accepting = wiring_runs.planned(Ask("model", changes={"verify": "off"}))
    firsts = tuple(task for task in accepting.tasks if task[1] == 1)
    unchecked = wiring_runs.carried_out(replace(accepting, tasks=firsts), wiring_evals.silent, jobs=2)
    before = [row for row in result.rows if row.sample == 1]
    # Without the check another second question is asked of comparisons, which was never recorded.
    after = [row for row in unchecked.rows if not row.error]
    reasons = gate.judge(after, plan.suite.gate, before).reasons
    assert any(reason.startswith(("citation_precision", "quote_validity")) for reason in reasons), reasons
