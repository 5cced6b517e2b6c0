"""Whether to answer: the risk-coverage curve, and coverage at a risk.

After El-Yaniv and Wiener 2010 (JMLR 11) and Geifman and El-Yaniv 2017 (NeurIPS).

Every question has a confidence and is right or wrong once answered (an answered unanswerable one is wrong).
Letting through the questions in order of confidence, coverage = let through / all, risk = wrong / let
through.

    >>> [point.risk for point in curve([Answered(0.9, True), Answered(0.5, False)])]
    [0.0, 0.5]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with the program's confidence and whether answering it is (or would be) right."""

    confidence: float
    right: bool


@dataclass(frozen=True, slots=True)
class Point:
    """What happens at one threshold: answer when confidence >= threshold."""

    threshold: float
    coverage: float
    risk: float


def curve(answers: Sequence[Answered]) -> list[Point]:
    """Return one point a distinct confidence, from the strictest threshold down; equals enter together."""
    points = []
    wrong = 0
    ordered = sorted(answers, key=lambda answer: -answer.confidence)
    for passed, answer in enumerate(ordered, 1):
        wrong += not answer.right
        if passed == len(ordered) or ordered[passed].confidence < answer.confidence:
            points.append(Point(answer.confidence, passed / len(ordered), wrong / passed))
    return points


def coverage_at(answers: Sequence[Answered], risk: float = 0.05) -> float | None:
    """Return the largest coverage at a risk of at most ``risk``: 0 if none is, None without answers."""
    if not answers:
        return None
    return max((point.coverage for point in curve(answers) if point.risk <= risk), default=0.0)


def area(answers: Sequence[Answered]) -> float | None:
    """Return the area under the curve (mean risk over coverage; lower is better), None without answers."""
    if not answers:
        return None
    total, before = 0.0, 0.0
    for point in curve(answers):
        total += point.risk * (point.coverage - before)
        before = point.coverage
    return total
