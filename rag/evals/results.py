"""The result of a run: one JSON file with every dial, digest, version and question; all else is made of it.

result = Result(suite="extractive", rows=rows, dials={...}, digests={...}, versions={...})
result.save(path); again = load(path); summary(again.rows)["right"].mean
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rag.errors import UsageError
from rag.evals import files
from rag.evals.abstention import Answered, area, coverage_at, curve
from rag.evals.metrics import METRICS
from rag.evals.rows import Row, from_json, to_json
from rag.evals.stats import RESAMPLES, Estimate, Values, estimate

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Result:
    """A run. ``dials`` are all settings, ``digests`` of prompts, corpus, gold set and index."""

    suite: str
    rows: tuple[Row, ...]
    created: str = ""
    tag: str | None = None
    mode: str = "extractive"
    model: str | None = None
    seconds: float = 0.0
    replayed: bool = False
    dials: Mapping[str, Any] = field(default_factory=dict)
    digests: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    papers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def errors(self) -> list[Row]:
        return [row for row in self.rows if row.error]

    def save(self, path: Path) -> None:
        """Write the result whole or not at all."""
        files.write(path, json.dumps(as_json(self), ensure_ascii=False, indent=1) + "\n")


def as_json(result: Result) -> dict[str, Any]:
    """Return the whole result as plain values; ``summary`` is there for readers of the file."""
    table = {name: value for name in Result.__slots__ if name != "rows" for value in [getattr(result, name)]}
    return {
        "format": FORMAT,
        **{name: dict(value) if isinstance(value, Mapping) else value for name, value in table.items()},
        "summary": {name: asdict(found) for name, found in summary(result.rows).items()},
        "abstention": abstention(result.rows),
        "errors": len(result.errors),
        "rows": [to_json(row) for row in result.rows],
    }


def load(path: Path) -> Result:
    """Read a result.

    Raises:
        UsageError: it is missing, or not what ``save`` writes.
        EnvironmentFault: it may not be read.
    """
    if not os.path.exists(path):
        raise UsageError(f"There is no result {path}.", "Make one: rag eval run SUITE --out FILE.")
    try:
        tree = json.loads(files.read(path))
        if tree["format"] != FORMAT:
            raise ValueError(f"format {tree['format']}, this program reads {FORMAT}")
        known = {name: tree[name] for name in Result.__slots__ if name != "rows"}
        return Result(**known, rows=tuple(from_json(row) for row in tree["rows"]))
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{path} is not the result of a run: {error}.", "Make it again: rag eval run."
        ) from error


def values(rows: Sequence[Row], metric: str) -> Values:
    """Return the scored values of a metric by case; several samples of one case count as their mean."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if metric in row.scores:
            found.setdefault(row.case, []).append(row.scores[metric])
    return {case: sum(several) / len(several) for case, several in found.items()}


def clusters(rows: Sequence[Row]) -> dict[str, str]:
    """Return the unit of resampling of each case."""
    return {row.case: row.cluster for row in rows}


def summary(rows: Sequence[Row], resamples: int = RESAMPLES) -> dict[str, Estimate]:
    """Return each metric that was scored at all, with its interval, n scored and n asked."""
    asked, units = len({row.case for row in rows}), clusters(rows)
    found = {name: estimate(values(rows, name), units, asked, resamples) for name in METRICS}
    return {name: one for name, one in found.items() if one.n}


def slices(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows by kind, split and tag, in this order; a slice of everything is left out."""
    named: list[tuple[str, Callable[[Row], Sequence[str]]]] = [
        ("kind", lambda row: [row.kind]),
        ("split", lambda row: [row.split]),
        ("tag", lambda row: row.tags),
    ]
    found: dict[str, list[Row]] = {}
    for group, of in named:
        for name in sorted({name for row in rows for name in of(row)}):
            found[f"{group} {name}"] = [row for row in rows if name in of(row)]
    return {name: some for name, some in found.items() if len(some) < len(rows)}


def judged(rows: Sequence[Row]) -> list[Answered]:
    """Return confidence and rightness of what was answered (first samples): the points of the curve."""
    return [
        Answered(row.confidence, row.scores["right"] == 1.0)
        for row in rows
        if row.answered and row.sample == 1 and row.confidence is not None and "right" in row.scores
    ]


def abstention(rows: Sequence[Row], risk: float = 0.05) -> dict[str, Any]:
    """Return coverage at a risk, area, and the curve, up to the coverage that the run had.

    Coverage counts all questions asked; those that were declined never enter, since nobody knows whether
    their answers would have been right.
    """
    firsts = [row for row in rows if row.sample == 1 and not row.error]
    answers = judged(firsts)
    share = len(answers) / len(firsts) if firsts else 0.0
    reached = coverage_at(answers, risk)
    return {
        "coverage": share if answers else None,
        f"coverage_at_{risk:.0%}_risk": None if reached is None else reached * share,
        "area": area(answers),
        "curve": [[point.threshold, point.coverage * share, point.risk] for point in curve(answers)],
    }
