"""Tries dials on the stored scores of a run, without a new call, on the tune half only.

    for trial in weights(rows, rank): print(trial.value, trial.scores["mrr@10"])

The test half is not looked at: a dial chosen on the questions that report it reports its own luck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.chain.retrieve import fuse
from rag.evals.results import judged
from rag.evals.rows import Rank, Row

STEPS = tuple(step / 10 for step in range(11))


@dataclass(frozen=True, slots=True)
class Trial:
    """One value of a dial and the means it would have had."""

    dial: str
    value: float
    scores: Mapping[str, float]


def tuned(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that may be looked at: the tune half, first samples, without errors."""
    return [row for row in rows if row.split == "tune" and row.sample == 1 and not row.error]


def weights(rows: Sequence[Row], rank: Rank) -> list[Trial]:
    """Fuse the stored dense and keyword scores anew with each weight of the keyword score."""
    asked = [row for row in tuned(rows) if "mrr@10" in row.scores]
    trials = []
    for weight in STEPS if asked else ():
        ranked = {row.case: _fused(row, weight) for row in asked}
        found = rank({row.case: row.gold["papers"] for row in asked}, ranked)
        trials.append(Trial("weight", weight, _means(list(found.values()))))
    return trials


def tops(rows: Sequence[Row], most: int = 12) -> list[Trial]:
    """Return, for each number of papers read, the share of gold papers and of questions that have all."""
    asked = [row for row in tuned(rows) if "recall@10" in row.scores]
    trials = []
    for top in range(1, most + 1) if asked else ():
        shares = [row.found(top) for row in asked]
        whole = sum(share == 1 for share in shares) / len(shares)
        trials.append(Trial("top", float(top), {"recall": sum(shares) / len(shares), "all there": whole}))
    return trials


def thresholds(rows: Sequence[Row]) -> list[Trial]:
    """Return what a stricter threshold would do; a laxer one would need answers nobody has given."""
    asked = [row for row in tuned(rows) if row.confidence is not None]
    yes, no = [row for row in asked if row.answerable], [row for row in asked if not row.answerable]
    trials = []
    for bar in sorted({round(answer.confidence, 2) for answer in judged(asked)}):
        passed = [row for row in asked if row.answered and (row.confidence or 0) >= bar]
        wrong = [row for row in passed if row.scores["right"] < 1]
        scores = {"coverage": len(passed) / len(asked), "risk": len(wrong) / len(passed) if passed else 0.0}
        if yes:
            scores["false_refusal"] = 1 - sum(row.answerable for row in passed) / len(yes)
        if no:
            scores["false_answer"] = sum(not row.answerable for row in passed) / len(no)
        trials.append(Trial("threshold", bar, scores))
    return trials


def _fused(row: Row, weight: float) -> list[str]:
    fused = fuse(_stored(row, "keyword"), _stored(row, "dense"), weight)
    return sorted(fused, key=lambda key: (-fused[key], key))


def _stored(row: Row, name: str) -> dict[str, float]:
    return {hit["key"]: hit["scores"][name] for hit in row.retrieved if name in hit["scores"]}


def _means(table: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: sum(row[name] for row in table) / len(table) for name in table[0]}
