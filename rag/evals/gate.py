"""Whether a run may pass: no gated metric significantly worse than the baseline in git, none below its floor.

    verdict = judge(result.rows, gate, read_baseline(path))
    if verdict.reasons: print(*verdict.reasons, sep="\\n")      # then exit 1

A plain "worse by more than 0.01 fails" cries wolf in a third of harmless changes; a paired test, adjusted
for the number of gated metrics (Holm), does in ``alpha`` of them. What this set is too small to see is
printed beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.errors import UsageError
from rag.evals import files
from rag.evals.compare import Difference, Report, compare
from rag.evals.metrics import METRICS
from rag.evals.results import Result, values
from rag.evals.rows import Row
from rag.evals.stats import RESAMPLES
from rag.evals.suites import Gate

SHARED = 0.9
"""Share of the questions that a baseline must know to be worth comparing with."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``reasons`` why the run fails, each naming its metric; empty when it passes."""

    reasons: tuple[str, ...]
    notes: tuple[str, ...] = ()
    report: Report | None = None


def judge(
    rows: Sequence[Row],
    gate: Gate,
    baseline: Sequence[Row] | None,
    resamples: int = RESAMPLES,
    *,
    part: bool = False,
) -> Verdict:
    """Decide. Errors fail, floors fail, significant drops fail; a drop too small to be seen is a note.

    Args:
        baseline: may know more questions than were asked; only those in common are looked at.
        part: whether only some questions of the suite were asked, which need not score every floor.
    """
    asked = {row.case for row in rows}
    shared = [row for row in baseline or () if row.case in asked]
    open_floors = _not_scorable(rows, shared, gate.floors) if part else []
    floors = {name: bar for name, bar in gate.floors.items() if name not in open_floors}
    reasons = [f"{row.case}: {row.error['type']}: {row.error['message']}" for row in rows if row.error]
    reasons += _below_floors(rows, floors)
    notes = [f"{name}: these questions do not score it, its bar was not looked at." for name in open_floors]
    if baseline is None:
        notes.append("There is no baseline yet: --update-baseline writes one.")
        return Verdict(tuple(reasons), tuple(notes))
    known = len({row.case for row in shared})
    if known < SHARED * len(asked):
        reasons.append(
            f"The baseline knows {known} of {len(asked)} questions: it is of another gold set. "
            "Write a new one with --update-baseline."
        )
        return Verdict(tuple(reasons), tuple(notes))
    report = compare(shared, rows, gate.metrics, resamples, gate.slices)
    worse = {name: found for name, found in report.metrics.items() if significant(found, gate.alpha)}
    reasons += [_drop(name, found, gate.alpha) for name, found in worse.items()]
    reasons += [
        f"{name}: nothing was scored, the baseline has it." for name in _lost(rows, shared, gate.metrics)
    ]
    return Verdict(tuple(reasons), (*notes, *_notes(report, gate.alpha)), report)


def significant(found: Difference, alpha: float) -> bool:
    """Return whether B is worse and the adjusted p is below ``alpha``."""
    return found.better < 0 and found.adjusted is not None and found.adjusted < alpha


def write_baseline(path: Path, result: Result) -> None:
    """Write what later runs are compared with: scores by case, one line a case, so that diffs can be read."""
    head = {name: getattr(result, name) for name in ("suite", "created", "mode", "model")}
    head |= {"dials": dict(result.dials), "digests": dict(result.digests), "versions": dict(result.versions)}
    lines = [f" {json.dumps(name)}: {json.dumps(value, sort_keys=True)}," for name, value in head.items()]
    names = [name for name, metric in METRICS.items() if metric.unit == "share"]
    found = {name: values(result.rows, name) for name in names}
    rows = []
    for first in {row.case: row for row in reversed(result.rows)}.values():
        own = {name: round(found[name][first.case], 4) for name in names if first.case in found[name]}
        rows.append("  " + json.dumps({"case": first.case, "cluster": first.cluster, "scores": own}))
    text = "\n".join(["{", *lines, ' "rows": [', ",\n".join(sorted(rows)), " ]", "}"]) + "\n"
    files.write(path, text)


def read_baseline(path: Path) -> list[Row] | None:
    """Read a baseline as rows; None if there is none yet.

    Raises:
        UsageError: it is not what ``write_baseline`` writes.
        EnvironmentFault: it may not be read.
    """
    if not os.path.exists(path):
        return None
    try:
        rows: list[Mapping[str, Any]] = json.loads(files.read(path))["rows"]
        return [
            Row(row["case"], 1, "", "", (), "", row["cluster"], True, scores=dict(row["scores"]))
            for row in rows
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"The baseline {path} cannot be read: {error!r}.", "Restore it from git.") from error


def _below_floors(rows: Sequence[Row], floors: Mapping[str, float]) -> list[str]:
    reasons = []
    for name, bar in floors.items():
        found = values(rows, name)
        if not found:
            reasons.append(f"{name}: nothing was scored, and {bar:g} is asked for.")
            continue
        mean, sign = sum(found.values()) / len(found), METRICS[name].better or 1
        if (mean - bar) * sign < -1e-9:
            reasons.append(f"{name} is {mean:.3f} (n {len(found)}), {_side(sign)} the bar of {bar:g}.")
    return reasons


def _not_scorable(rows: Sequence[Row], shared: Sequence[Row], names: Iterable[str]) -> list[str]:
    """The metrics that these questions score neither now nor in the baseline."""
    return [name for name in names if not values(rows, name) and not values(shared, name)]


def _side(sign: int) -> str:
    return "below" if sign > 0 else "above"


def _drop(name: str, found: Difference, alpha: float) -> str:
    pair = found.paired
    return (
        f"{name} got worse: {pair.mean_a:.3f} -> {pair.mean_b:.3f} ({pair.difference:+.3f}, "
        f"95 % interval {pair.low:+.3f} to {pair.high:+.3f}, n {pair.n}; {found.test}, "
        f"p after Holm {found.adjusted:.4f} < {alpha:g})."
    )


def _notes(report: Report, alpha: float) -> list[str]:
    return [
        f"{name}: {found.paired.difference:+.3f} may be chance (p after Holm {found.adjusted:.2f}); "
        f"drops of {found.paired.detectable:.3f} would be seen."
        for name, found in report.metrics.items()
        if found.better < 0 and not significant(found, alpha) and found.paired.detectable is not None
    ]


def _lost(rows: Sequence[Row], shared: Sequence[Row], metrics: Sequence[str]) -> list[str]:
    return [name for name in metrics if values(shared, name) and not values(rows, name)]
