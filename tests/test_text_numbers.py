"""Quantities: read with unit, sign and bound; formatting is forgiven, another figure is not."""

from __future__ import annotations

import pytest

from rag.text.numbers import agreement, find


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
        ("over 7×", "7.66x"),
        ("up to 7×", "7x"),
        ("four stages", "4 stages"),
        ("half the cost", "50% of the cost"),
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
    ],
)
def test_disagree(claim: str, evidence: str) -> None:
    assert agreement(find(claim)[0], find(evidence)) == 0.0


def test_a_reservation_is_neither() -> None:
    assert agreement(find("7.3%")[0], find("7.3 percentage points")) == 0.5
    assert agreement(find("by 7.66")[0], find("7.66×")) == 0.5
