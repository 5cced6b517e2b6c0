"""Statistics against worked examples, and their false alarms and power by simulation."""

from __future__ import annotations

import random

import pytest

from rag.evals import stats

ALONE: dict[str, str] = {}


def runs(n: int, rate_a: float, rate_b: float, seed: int) -> tuple[dict[str, float], dict[str, float]]:
    chance = random.Random(seed)
    a = {f"q{i}": float(chance.random() < rate_a) for i in range(n)}
    return a, {f"q{i}": float(chance.random() < rate_b) for i in range(n)}


def test_nothing_scored_is_none_and_not_zero() -> None:
    assert stats.estimate({}, ALONE, 7) == stats.Estimate(None, None, None, 0, 7)
    assert stats.compare({}, {"a": 1.0}, ALONE).difference is None
    assert stats.mcnemar({}, {"a": 1.0}) is None


def test_the_interval_holds_the_mean_and_narrows_with_n() -> None:
    few, many = (stats.estimate(runs(n, 0.7, 0.7, 1)[0], ALONE, n, 2000) for n in (30, 480))
    for found in (few, many):
        assert found.low is not None
        assert found.mean is not None
        assert found.high is not None
        assert found.low < found.mean < found.high
    assert few.low is not None
    assert few.high is not None
    assert many.low is not None
    assert many.high is not None
    assert many.high - many.low < (few.high - few.low) / 2


def test_a_perfect_score_still_has_a_width() -> None:
    found = stats.estimate({f"q{i}": 1.0 for i in range(40)}, ALONE, 40)
    assert found.high == 1.0
    assert found.low == pytest.approx(0.9124, abs=1e-3)  # Wilson, 40 of 40


def test_clusters_widen_the_interval() -> None:
    values = {f"q{i}": float(i // 4 % 2) for i in range(80)}
    clusters = {f"q{i}": f"p{i // 4}" for i in range(80)}
    alone, grouped = stats.estimate(values, ALONE, 80, 2000), stats.estimate(values, clusters, 80, 2000)
    assert alone.high is not None
    assert alone.low is not None
    assert grouped.high is not None
    assert grouped.low is not None
    assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)


def test_the_order_of_the_cases_does_not_matter() -> None:
    a, b = runs(50, 0.6, 0.8, 3)
    mixed = dict(reversed(b.items()))
    assert stats.compare(a, b, ALONE, 1000) == stats.compare(dict(reversed(a.items())), mixed, ALONE, 1000)


def test_equal_runs_have_p_one_and_a_real_drop_is_seen() -> None:
    a, _ = runs(120, 0.85, 0.85, 4)
    assert stats.compare(a, a, ALONE).p == 1.0
    worse = {case: 0.0 if i % 6 == 0 else value for i, (case, value) in enumerate(a.items())}
    found = stats.compare(a, worse, ALONE)
    assert found.p is not None
    assert found.high is not None
    assert found.p < 0.01
    assert found.high < 0


def test_only_cases_scored_in_both_are_compared() -> None:
    found = stats.compare({"a": 1.0, "b": 0.0}, {"a": 1.0, "c": 1.0}, ALONE)
    assert (found.n, found.mean_a, found.mean_b) == (1, 1.0, 1.0)


def test_false_alarms_stay_near_the_level() -> None:
    """Two runs of equal quality differ by chance; a test at 5 % may cry wolf in about 5 % of 200 pairs."""
    alarms = 0
    for seed in range(200):
        p = stats.compare(*runs(60, 0.8, 0.8, seed), ALONE, 400).p
        alarms += p is not None and p < 0.05
    assert alarms <= 22


@pytest.mark.parametrize(
    ("won", "lost", "p"), [(0, 0, 1.0), (0, 6, 0.03125), (1, 9, 0.021484375), (5, 5, 1.0)]
)
def test_mcnemar_against_the_binomial_table(won: int, lost: int, p: float) -> None:
    a = {f"w{i}": 0.0 for i in range(won)} | {f"l{i}": 1.0 for i in range(lost)} | {"same": 1.0}
    b = {f"w{i}": 1.0 for i in range(won)} | {f"l{i}": 0.0 for i in range(lost)} | {"same": 1.0}
    assert stats.mcnemar(a, b) == pytest.approx(p)


def test_holm_against_a_worked_example() -> None:
    adjusted = stats.holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert adjusted == pytest.approx({"d": 0.02, "a": 0.03, "c": 0.06, "b": 0.06})


def test_detectable_is_2_8_sd_over_root_n() -> None:
    differences = {f"q{i}": float(i % 2) for i in range(100)}
    sd = (0.25 * 100 / 99) ** 0.5
    assert stats.detectable(differences, ALONE) == pytest.approx(2.8 * sd / 10)
    assert stats.detectable({"a": 1.0}, ALONE) is None
