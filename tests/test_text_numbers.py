"""Quantities: read with unit, sign and bound; formatting is forgiven, another figure is not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.text.normalise import defuse, fold, plain
from rag.text.numbers import agreement, enumerators, find


def read(text: str) -> list[tuple[float, str, str]]:
    return [(q.value, q.unit, q.bound) for q in find(text) if not q.inside]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("up to 7.66× faster", [(7.66, "x", "upper")]),
        ("60% and 60 percent and 60 per cent", [(60.0, "%", "")] * 3),
        ("7.3 percentage points", [(7.3, "points", "")]),
        ("8B, 8 billion, 8-billion-parameter", [(8e9, "", "")] * 3),
        ("5.85/4.70 points", [(5.85, "points", ""), (4.7, "points", "")]),
        ("1.5-2x gains", [(1.5, "x", ""), (2.0, "x", "")]),
        ("3/8/32B models", [(3e9, "", ""), (8e9, "", ""), (32e9, "", "")]),
        ("from 50.5% to 57.8%", [(50.5, "%", ""), (57.8, "%", "")]),
        ("(-16.49%)", [(-16.49, "%", "")]),
        ("level-5 problems, 10-shot", [(5.0, "", ""), (10.0, "", "")]),
        ("twice, half, an order of magnitude", [(2.0, "x", ""), (0.5, "", ""), (10.0, "x", "")]),
        ("2.5e-4 and 10^-5 and 3 × 10⁶", [(2.5e-4, "", ""), (1e-5, "", ""), (3e6, "", "")]),
        ("1,234 papers cost $5 million", [(1234.0, "", ""), (5e6, "usd", "")]),
        ("at least three tasks, 100+ runs", [(3.0, "", "lower"), (100.0, "", "lower")]),
        ("approx. 5 ms, 3-5 days", [(5.0, "ms", "near"), (3.0, "day", ""), (5.0, "day", "")]),
        ("32×32 images", [(32.0, "", ""), (32.0, "", "")]),
        ("GPT-4o, o1, Qwen2, F2S and FP8", []),
        ("steps: (1) read, (2) write; 3) stop", []),
        ("no one knows", []),
        (
            "12\u202f345, 1\u00a0234\u00a0567 and 1\u2009000.5",
            [(12345.0, "", ""), (1234567.0, "", ""), (1000.5, "", "")],
        ),
        ("a total of 12 345 patients", [(12345.0, "", "")]),
        ("Among 25 777 (57%) men; 322 246 births", [(25777.0, "", ""), (57.0, "%", ""), (322246.0, "", "")]),
        ("in 2024 300 papers", [(2024.0, "", ""), (300.0, "", "")]),
        ("in phase 3 300 patients", [(3.0, "", ""), (300.0, "", "")]),
        ("sizes 1 200 300", [(1.0, "", ""), (200.0, "", ""), (300.0, "", "")]),
        ("0·75 (70·0%)", [(0.75, "", ""), (70.0, "%", "")]),
        ("2·10⁵ and 2·10^5", [(2e5, "", ""), (2e5, "", "")]),
        ("2·3·5", [(2.0, "", ""), (3.0, "", ""), (5.0, "", "")]),
        ("p<10⁻⁵, 1×10⁻⁴, 10^{-5}", [(1e-5, "", ""), (1e-4, "", ""), (1e-5, "", "")]),
        ("10^(-5) and $10^{-5}$ and 10^−5", [(1e-5, "", "")] * 3),
        ("150 x 10(9)/l and 10(-3)", [(1.5e11, "", ""), (1e-3, "", "")]),
        ("5½ hours, 2¼, 7¾ and 3⅓", [(5.5, "h", ""), (2.25, "", ""), (7.75, "", ""), (10 / 3, "", "")]),
        ("½ of them, 5 1/2 hours, phase 1/2", [(0.5, "", ""), (5.5, "h", ""), (1.0, "", ""), (2.0, "", "")]),
        ("2 and a half years, two and a half million", [(2.5, "year", ""), (2.5e6, "", "")]),
        ("75.4₃ and H₂O", [(75.4, "", ""), (3.0, "", "")]),
        ("by a factor of 3, by an average factor of 2", [(3.0, "x", ""), (2.0, "x", "")]),
        ("by a factor of up to 7.66, by a factor of about ten", [(7.66, "x", "upper"), (10.0, "x", "near")]),
        ("a capacity factor of 1.25", [(1.25, "", "")]),
        (
            "three quarters, two-thirds, about a fifth of it",
            [(0.75, "", ""), (2 / 3, "", ""), (0.2, "", "near")],
        ),
        ("a third model, two third parties, the one third", [(2.0, "", "")]),
        ("three hundred dialogues, 5 hundred", [(300.0, "", ""), (500.0, "", "")]),
        ("twenty-five patients, Seventy six more", [(25.0, "", ""), (76.0, "", "")]),
        ("two thousand five hundred", [(2500.0, "", "")]),
        ("one hundred and twenty", [(120.0, "", "")]),
        ("One-hundred-fourteen of one thousand ninety-nine", [(114.0, "", ""), (1099.0, "", "")]),
        ("seventeen thousand five hundred and thirty-one", [(17531.0, "", "")]),
        ("half a million, half a dozen, two dozen", [(5e5, "", ""), (6.0, "", ""), (24.0, "", "")]),
        ("between one hundred and two hundred", [(100.0, "", ""), (200.0, "", "")]),
        (
            "twenty two-layer nets, layers two and three",
            [(20.0, "", ""), (2.0, "", ""), (2.0, "", ""), (3.0, "", "")],
        ),
        ("thirty-two percent", [(32.0, "%", "")]),
        (r"a $7.66\times$ gain, 60\% and $5", [(7.66, "x", ""), (60.0, "%", ""), (5.0, "usd", "")]),
        ("(score 85), (n = 40) and (mean age 63)", [(85.0, "", ""), (40.0, "", ""), (63.0, "", "")]),
        ("[0, 1) holds", [(0.0, "", ""), (1.0, "", "")]),
        ("s⁻¹ and cm^-1", []),
    ],
)
def test_find(text: str, expected: list[tuple[float, str, str]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("7.66x", "7.66×"),
        ("7.66 times", "a 7.66-fold gain"),
        ("60 percent", "60%"),
        ("1,234", "1234"),
        ("8 billion parameters", "8B parameters"),
        ("2x", "twice"),
        ("a drop of 16.49%", "(-16.49%)"),
        ("−16.49%", "-16.49%"),
        ("about 7.7×", "7.66x"),
        ("by a factor of 7.66", "7.66x"),
        ("two thirds of tokens", "66.7% of tokens"),
        ("three quarters of them", "75%"),
        ("over 7×", "7.66x"),
        ("up to 7×", "7x"),
        ("four stages", "4 stages"),
        ("half the cost", "50% of the cost"),
        ("p of 0.00001", "p<10⁻⁵"),
        ("1e-5", "10^{-5}"),
        ("12,345 patients", "12\u00a0345 patients"),
        ("10^500 vacua", "10⁵⁰⁰ vacua"),
        ("1e-400", "10^-400"),
    ],
)
def test_agree(claim: str, evidence: str) -> None:
    assert agreement(find(claim)[0], find(evidence)) == 1.0


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("16.94%", "16.49%"),
        ("7.65x", "7.66x"),
        ("76.6%", "7.66%"),
        ("two thirds of tokens", "66% of tokens"),
        ("a quarter of them", "three quarters of them"),
        ("7.7×", "7.66x"),
        ("60×", "60%"),
        ("8M", "8B"),
        ("5 ms", "5 s"),
        ("+16.49%", "-16.49%"),
        ("-16.49%", "16.49%"),
        ("at least 7x", "up to 7x"),
        ("10B parameters", "10B tokens"),
        ("20 benchmarks", "20%"),
        ("4 steps", "GPT-4o"),
        ("345 patients", "12 345 patients"),
        ("three dialogues", "three hundred dialogues"),
        ("10^500 vacua", "10^400 vacua"),
        ("10^500 vacua", "10^-500 vacua"),
        ("-10^500", "10^500"),
        ("1e-400", "1e-500"),
        ("10^-400", "0"),
        ("9" * 5000, "9" * 5001),
        ("5 hours", "5½ hours"),
    ],
)
def test_disagree(claim: str, evidence: str) -> None:
    assert agreement(find(claim)[0], find(evidence)) == 0.0


def test_a_reservation_is_neither() -> None:
    assert agreement(find("7.3%")[0], find("7.3 percentage points")) == 0.5
    assert agreement(find("by 7.66")[0], find("7.66×")) == 0.5


@pytest.mark.parametrize(
    "text",
    ["10^500", "10⁵⁰⁰ vacua", "2^1024", "1e400", "0^-1", "0^0", "9" * 5000, "10^" + "9" * 5000, "9^-1.5",
     "9" * 5000 + "/5B", "0.1^9999999999999999999999", "1e-" + "9" * 5000, "9" * 3000 + "^" + "9" * 3000],
)  # fmt: skip
def test_no_number_is_too_large(text: str) -> None:
    begun = time.process_time()
    assert len(find(text)) >= 1
    assert time.process_time() - begun < 1


@given(st.text(alphabet="0123456789^-+.,eE×x·()[]{}$/%KMB ⁻⁵½₃\u00a0\u202fone hundred", max_size=40))
def test_no_text_raises_and_folding_is_one(text: str) -> None:
    for quantity in find(text):
        assert agreement(quantity, [quantity]) in (0.0, 1.0)
        assert quantity.value == quantity.value
    assert plain(text) == fold(text).text.rstrip()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("two stages: (1) read, and (2) write", [1, 2]),
        ("1) read, 2) write", [1, 2]),
        ("(1) read and (5) write", [1, 5]),
        ("GPT-4 (score 85) beats Llama (score 72)", []),
        ("GPT-4 (85) beats Llama (72)", []),
        ("A (9) beats B (7)", []),
        ("groups (n = 5) and [0, 1) too", []),
    ],
)
def test_only_what_stands_alone_numbers_a_list(text: str, numbers: list[int]) -> None:
    assert enumerators(text) == numbers


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("to the interval [0, 1].", "to the interval [0, 1]."),
        ("values in [1, 5] here", "values in [1, 5] here"),
        ("x ∈ [2, 9]", "x ∈ [2, 9]"),
        ("the range [1-5]", "the range [1-5]"),
        ("as shown in [1, 2]", "as shown in (1, 2)"),
        ("In [1, 2], we", "In (1, 2), we"),
        ("a link to [1, 2] and the model's way to [1, 2]", "a link to (1, 2) and the model's way to (1, 2)"),
        ("in the range [2, 1]", "in the range (2, 1)"),
        ("a range [3] and [1, 2, 3]", "a range (3) and (1, 2, 3)"),
        ("it wins [1–4]", "it wins (1–4)"),
        ("x[0]", "x(0)"),
    ],
)
def test_marks_are_defused_and_intervals_are_not(text: str, shown: str) -> None:
    assert defuse(text) == shown
