"""The gate: red for each real fault with its metric named, green for noise; and comparisons of runs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rag.errors import UsageError
from rag.evals.compare import compare
from rag.evals.gate import judge, read_baseline, write_baseline
from rag.evals.results import Result
from rag.evals.rows import Row
from rag.evals.suites import Gate, Slice

GATE = Gate(("right", "mrr@10", "citation_precision", "false_answer", "false_refusal"))
Change = Callable[[Row, random.Random], dict[str, float]]


def run(seed: int = 0, change: Change = lambda row, chance: {}) -> list[Row]:
    """160 answerable and 80 unanswerable questions on 60 papers, about as good as a good system."""
    chance = random.Random(7)
    rows = []
    for place in range(240):
        answerable = place % 3 != 0
        scores = {"right": float(chance.random() < 0.85), "citation_precision": 1.0}
        if answerable:
            scores |= {
                "mrr@10": 1 / chance.choice([1, 1, 1, 1, 1, 2, 3]),
                "false_refusal": float(chance.random() < 0.06),
            }
        else:
            scores |= {"false_answer": float(chance.random() < 0.1)}
        row = Row(
            f"q{place}", 1, f"Question {place}?", "fact", (), "test", f"p{place % 60}", answerable, scores
        )
        rows.append(row)
    noise = random.Random(seed)
    return [replace(row, scores={**row.scores, **change(row, noise)}) for row in rows]


def jitter(row: Row, chance: random.Random) -> dict[str, float]:
    """Harmless noise: one outcome in twenty is drawn anew, from the chances that all of them came from."""
    anew = {
        "right": float(chance.random() < 0.85),
        "mrr@10": 1 / chance.choice([1, 1, 1, 1, 1, 2, 3]),
        "false_answer": float(chance.random() < 0.1),
        "false_refusal": float(chance.random() < 0.06),
    }
    return {name: value for name, value in anew.items() if name in row.scores and chance.random() < 0.05}


def worse_ranks(row: Row, chance: random.Random) -> dict[str, float]:
    return {"mrr@10": row.scores["mrr@10"] / 2} if "mrr@10" in row.scores and chance.random() < 0.2 else {}


def accept_all(row: Row, chance: random.Random) -> dict[str, float]:
    return {"citation_precision": 0.5} if chance.random() < 0.1 else {}


def never_abstain(row: Row, chance: random.Random) -> dict[str, float]:
    return {"false_answer": 1.0} if "false_answer" in row.scores and chance.random() < 0.5 else {}


def over_cautious(row: Row, chance: random.Random) -> dict[str, float]:
    return {"false_refusal": 1.0} if "false_refusal" in row.scores and chance.random() < 0.1 else {}


@pytest.mark.parametrize(
    ("change", "metric"),
    [
        (worse_ranks, "mrr@10"),
        (accept_all, "citation_precision"),
        (never_abstain, "false_answer"),
        (over_cautious, "false_refusal"),
    ],
)
def test_a_fault_turns_the_gate_red_with_its_metric_named(change: Change, metric: str) -> None:
    verdict = judge(run(change=change), GATE, run(), 2000)
    assert len(verdict.reasons) == 1
    assert verdict.reasons[0].startswith(f"{metric} got worse: ")
    assert "p after Holm" in verdict.reasons[0]


def test_ten_seeds_of_noise_do_not() -> None:
    for seed in range(10):
        assert judge(run(seed, jitter), GATE, run(), 2000).reasons == ()


def test_a_drop_that_may_be_chance_is_a_note_with_what_would_be_seen() -> None:
    def slightly(row: Row, _: random.Random) -> dict[str, float]:
        return {"right": 0.0} if row.case in ("q1", "q2") else {}

    verdict = judge(run(change=slightly), GATE, run(), 2000)
    assert verdict.reasons == ()
    assert any(note.startswith("right: -0.00") and "would be seen" in note for note in verdict.notes)


def test_getting_better_is_no_reason() -> None:
    assert judge(run(), GATE, run(change=accept_all), 2000).reasons == ()


def test_floors_and_ceilings_are_absolute() -> None:
    gate = Gate(floors={"citation_precision": 1.0, "false_answer": 0.05})
    reasons = judge(run(), gate, run(), 500).reasons
    assert len(reasons) == 1
    assert reasons[0].startswith("false_answer is 0.")
    assert "above the bar of 0.05" in reasons[0]
    assert judge([], gate, None).reasons[0] == "citation_precision: nothing was scored, and 1 is asked for."


def test_errors_are_reasons() -> None:
    broken = replace(run()[0], scores={}, error={"type": "ProviderError", "message": "no such model"})
    assert judge([broken, *run()[1:]], GATE, run(), 500).reasons[0] == "q0: ProviderError: no such model"


def test_a_metric_that_vanished_is_a_reason() -> None:
    def without(row: Row) -> Row:
        return replace(row, scores={k: v for k, v in row.scores.items() if k != "citation_precision"})

    reasons = judge([without(row) for row in run()], GATE, run(), 500).reasons
    assert reasons == ("citation_precision: nothing was scored, the baseline has it.",)


def test_a_part_of_the_questions_is_not_asked_for_what_it_cannot_score() -> None:
    answerable = [row for row in run() if row.answerable]
    gate = replace(GATE, floors={"false_answer": 0.5, "citation_precision": 1.0})
    verdict = judge(answerable, gate, run(), 500, part=True)
    assert verdict.reasons == ()
    assert verdict.notes[0].startswith("false_answer: these questions do not score it")
    assert judge(answerable, gate, None, part=True).reasons == ()
    assert judge(answerable, gate, run(), 500).reasons == (
        "false_answer: nothing was scored, and 0.5 is asked for.",
    )


def test_a_part_of_the_questions_still_has_to_score_what_it_did() -> None:
    def without(row: Row) -> Row:
        return replace(row, scores={k: v for k, v in row.scores.items() if k != "citation_precision"})

    gate = replace(GATE, floors={"citation_precision": 1.0})
    assert judge([without(row) for row in run()[:40]], gate, run(), 500, part=True).reasons == (
        "citation_precision: nothing was scored, and 1 is asked for.",
        "citation_precision: nothing was scored, the baseline has it.",
    )


def test_a_baseline_of_another_gold_set_says_so() -> None:
    other = [replace(row, case=f"x{row.case}") for row in run()]
    assert "another gold set" in judge(other, GATE, run(), 500).reasons[0]
    assert judge(run(), GATE, None).notes[0].startswith("There is no baseline yet")


def test_a_baseline_survives_its_file_and_reads_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    write_baseline(path, Result("s", tuple(run()), dials={"top": 8}))
    back = read_baseline(path)
    assert back is not None
    assert judge(run(), GATE, back, 500).reasons == ()
    assert len(path.read_text("utf-8").splitlines()) > 240
    assert sum('"q17"' in line for line in path.read_text("utf-8").splitlines()) == 1
    assert read_baseline(tmp_path / "absent.json") is None
    path.write_text("{}", "utf-8")
    with pytest.raises(UsageError, match=r"b\.json cannot be read"):
        read_baseline(path)


def test_a_comparison_lists_the_questions_worse_first() -> None:
    def change(row: Row, _: random.Random) -> dict[str, float]:
        return {"right": 1 - row.scores["right"]} if row.case in ("q1", "q2", "q3", "q9") else {}

    found = compare(run(), [row for row in run(change=change) if row.case != "q5"], ("right",), 500)
    directions = [one.direction for one in found.changes]
    assert directions == sorted(directions)
    assert {one.case for one in found.changes} == {"q1", "q2", "q3", "q9"}
    assert (found.only_before, found.only_after) == (("q5",), ())
    assert found.metrics["right"].test == "McNemar"
    assert found.metrics["right"].paired.n == 239


def test_samples_of_a_case_are_compared_by_their_mean() -> None:
    three = [replace(row, sample=n, scores={"right": float(n == 1)}) for row in run()[:30] for n in (1, 2, 3)]
    found = compare(three, three, ("right",), 200).metrics["right"]
    assert found.test == "bootstrap"
    assert found.paired.mean_a == pytest.approx(1 / 3)


def test_a_slice_shows_what_the_mean_hides() -> None:
    """Facts get worse as paraphrases get better: only a gate that looks at one kind alone can see it."""

    def rows(fact: float, paraphrase: float) -> list[Row]:
        ranks = {"fact": fact, "paraphrase": paraphrase}
        kinds = ("fact", "paraphrase") * 60
        return [
            Row(f"q{i}", 1, "", kind, (), "test", f"p{i // 2}", True, {"mrr@10": ranks[kind]})
            for i, kind in enumerate(kinds)
        ]

    wide = Gate(("mrr@10",))
    narrow = replace(wide, slices={"facts": Slice(("fact",), ("mrr@10",))})
    before, after = rows(0.75, 0.75), rows(0.5, 1.0)
    assert judge(after, wide, before, 2000).reasons == ()
    assert judge(after, narrow, before, 2000).reasons[0].startswith("mrr@10 of facts got worse")
