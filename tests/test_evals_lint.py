"""Lint by mutation: each fault put into a sound gold set is found and named. Drafts, sweeps, judges."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from chain_fakes import ScriptedModel
from evals_fakes import GATE, PAPERS

from rag.adapters.ir_scores import scores as rank
from rag.errors import UsageError
from rag.evals import judge, sweep
from rag.evals.cases import Case, Fact, Number, Quote, Turn, parse
from rag.evals.draft import draft
from rag.evals.lint import lint
from rag.evals.rows import Row

SOUND = parse(
    {
        "id": "gain",
        "question": "How much does Gatekeeper raise accuracy on GSM-Long?",
        "kind": "named",
        "split": "tune",
        "answerable": True,
        "papers": ["lee2025gate"],
        "facts": [{"text": "7.4 %", "number": {"value": 7.4, "unit": "%", "tolerance": 0.05}}],
        "evidence": [{"key": "lee2025gate", "quote": GATE}],
    },
    "gold.jsonl:1",
)
OTHER = replace(SOUND, id="hours", question="And how long is its training?", where="gold.jsonl:2",
                facts=(Fact("12 hours", number=Number(12, "h")),),
                evidence=(Quote("lee2025gate", "Training takes 12 hours on one machine."),))  # fmt: skip


def checks(*cases: Case, prompts: dict[str, str] | None = None) -> set[str]:
    return {finding.check for finding in lint(cases, PAPERS, prompts or {})}


def test_a_sound_set_has_no_faults() -> None:
    assert lint([SOUND, OTHER], PAPERS, {"answer": "Use only the papers given."}) == []


@pytest.mark.parametrize(
    ("case", "check"),
    [
        (replace(SOUND, papers=("lee2025gate", "nobody2020")), "missing paper"),
        (replace(SOUND, evidence=(Quote("lee2025gate", GATE.replace("halves", "doubles")),)), "evidence"),
        (replace(SOUND, evidence=(Quote("lee2025gate", "raises"),)), "evidence"),
        (replace(SOUND, evidence=(Quote("wu2024mosaic", "needs no labels"),)), "evidence"),
        (replace(SOUND, evidence=()), "evidence"),
        (replace(SOUND, facts=(Fact("4.7 %", number=Number(4.7, "%")),)), "fact not there"),
        (replace(SOUND, facts=(Fact("it filters tables", aliases=(("tables",),)),)), "fact not there"),
        (replace(SOUND, facts=(Fact("accuracy", aliases=(("accuracy",),)),)), "given away"),
        (replace(SOUND, question="DRAFT: ask for this"), "draft"),
        (replace(SOUND, history=(Turn("What?", "That.", ("nobody2020",)),)), "missing paper"),
    ],
)
def test_each_fault_is_found(case: Case, check: str) -> None:
    assert checks(case) == {check}


def test_duplicates_and_near_duplicates() -> None:
    same = replace(SOUND, id="again", question="how much does GATEKEEPER raise  accuracy on GSM-Long?")
    near = replace(SOUND, id="near", question="How much then does Gatekeeper raise its accuracy on GSM-Long?")
    assert checks(SOUND, same) == {"duplicate"}
    assert checks(SOUND, near) == {"near-duplicate"}
    follow = replace(OTHER, history=(Turn("What is Gatekeeper?", "A filter."),))
    assert checks(OTHER, replace(follow, id="then", history=(Turn("What is Mosaic?", "Experts."),))) == set()


def test_questions_and_evidence_must_not_leak_into_prompts() -> None:
    assert checks(SOUND, prompts={"answer": f"Example: {SOUND.question}"}) == {"leak"}
    assert checks(SOUND, prompts={"answer": f"Example: {GATE}"}) == {"leak"}


def test_a_paper_is_on_one_side_of_the_split() -> None:
    found = lint([SOUND, replace(OTHER, split="test")], PAPERS, {})
    assert [one.check for one in found] == ["split"]
    assert found[0].where == "gold.jsonl:2"
    assert "tune in gain and test here" in found[0].message


def test_drafts_are_cases_that_only_lack_a_question() -> None:
    records = list(draft(PAPERS.values(), per_paper=2))
    cases = [parse(json.loads(json.dumps(record))) for record in records]
    assert len(cases) == 6
    assert checks(*cases) == {"draft"}
    (first, *_) = cases
    assert first.facts[0].number == Number(7.4, "%", 0.05)
    assert first.evidence[0].quote == GATE


class TestSweep:
    def row(self, name: str, split: str, right: float, confidence: float, answerable: bool = True) -> Row:
        retrieved = (
            {"key": "gold", "score": 0.5, "scores": {"keyword": 9.0, "dense": 0.1}},
            {"key": "other", "score": 0.6, "scores": {"keyword": 1.0, "dense": 0.9}},
        )
        scores = {"right": right} | ({"mrr@10": 0.5, "recall@10": 1.0} if answerable else {})
        answer = {"status": "answered", "confidence": confidence}
        return Row(
            name, 1, "", "fact", (), split, name, answerable, scores, answer, retrieved, {"papers": ["gold"]}
        )

    def test_only_the_tune_half_is_looked_at(self) -> None:
        assert sweep.weights([self.row("a", "test", 1, 0.9)], rank) == []
        assert sweep.tops([self.row("a", "test", 1, 0.9)]) == []
        assert sweep.thresholds([self.row("a", "test", 1, 0.9)]) == []

    def test_weights_are_tried_on_stored_scores(self) -> None:
        trials = {
            trial.value: trial.scores["mrr@10"]
            for trial in sweep.weights([self.row("a", "tune", 1, 0.9)], rank)
        }
        assert (trials[0.0], trials[1.0]) == (0.5, 1.0)

    def test_tops_and_thresholds(self) -> None:
        rows = [
            self.row("a", "tune", 1, 0.9),
            self.row("b", "tune", 0, 0.4),
            self.row("c", "tune", 0, 0.4, False),
        ]
        assert [trial.scores["recall"] for trial in sweep.tops(rows, 2)] == [1.0, 1.0]
        lax, strict = sweep.thresholds(rows)
        assert (lax.value, lax.scores["coverage"], lax.scores["false_answer"]) == (0.4, 1.0, 1.0)
        assert (strict.scores["risk"], strict.scores["false_refusal"], strict.scores["false_answer"]) == (
            0.0,
            0.5,
            0.0,
        )


class TestJudge:
    LABEL = judge.Label("gain", "r1", "How much?", ("7.4 %",), "By 7.4 %.", (GATE,), "right")

    def test_agreement_and_kappa(self) -> None:
        found = judge.agreement(["right"] * 5 + ["wrong"] * 5, ["right"] * 5 + ["wrong"] * 4 + ["right"])
        assert found is not None
        assert (found.share, found.n) == (0.9, 10)
        assert found.kappa == pytest.approx(0.8)

    def test_always_saying_right_agrees_often_and_means_nothing(self) -> None:
        found = judge.agreement(["right"] * 9 + ["wrong"], ["right"] * 10)
        assert found is not None
        assert found.share == 0.9
        assert found.kappa == pytest.approx(0.0)

    def test_a_reply_without_a_grade_is_unscored(self) -> None:
        assert judge.agreement(["right"], [None]) is None
        assert judge.read_grade("I would say it is right or wrong.") is None
        assert judge.read_grade('{"reason": "wrong unit", "grade": "partly"}') == "partly"
        assert judge.read_grade("Grade: wrong") == "wrong"

    def test_the_rubric_is_filled_and_asked(self) -> None:
        model = ScriptedModel(['{"reason": "says it", "grade": "right"}'])
        assert judge.ask(model, self.LABEL, judge.rubric()) == "right"
        sent = model.requests[0].messages[-1].content
        assert "- 7.4 %" in sent
        assert "By 7.4 %." in sent
        assert GATE in sent

    def test_the_licence_needs_labels_agreement_and_more_than_chance(self, tmp_path: Path) -> None:
        file = tmp_path / "labels.jsonl"
        file.write_text("{}", "utf-8")
        good = judge.Agreement(0.9, 0.75, 60)
        assert judge.licence("m", [file], good).granted
        for bad in (
            replace(good, n=59),
            replace(good, share=0.79),
            replace(good, kappa=0.5),
            replace(good, kappa=None),
        ):
            assert not judge.licence("m", [file], bad).granted

    def test_another_model_or_another_label_file_voids_the_licence(self, tmp_path: Path) -> None:
        file = tmp_path / "labels.jsonl"
        file.write_text("{}", "utf-8")
        judge.save(tmp_path / "licence.json", judge.licence("m", [file], judge.Agreement(0.9, 0.75, 60)))
        kept = json.loads((tmp_path / "licence.json").read_text("utf-8"))
        assert judge.valid(kept, "m", [file])
        assert not judge.valid(kept, "other", [file])
        file.write_text("{} ", "utf-8")
        assert not judge.valid(kept, "m", [file])

    def test_labels_are_read_and_faults_named(self, tmp_path: Path) -> None:
        file = tmp_path / "labels.jsonl"
        record = {
            "case": "gain",
            "reader": "r1",
            "question": "?",
            "facts": [],
            "answer": "a",
            "evidence": [],
            "grade": "right",
        }
        file.write_text(json.dumps(record) + "\n" + json.dumps({**record, "grade": "good"}), "utf-8")
        with pytest.raises(UsageError, match=r"labels\.jsonl:2: grade 'good'"):
            judge.load_labels([file])
