"""Two runs against each other: metric by metric with paired statistics, and question by question.

found = compare(before, after)
found.metrics["right"].difference.p, found.changes[0].case
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rag.evals.metrics import METRICS
from rag.evals.results import clusters, values
from rag.evals.rows import Row
from rag.evals.stats import RESAMPLES, Comparison, holm, mcnemar
from rag.evals.stats import compare as paired
from rag.evals.suites import Slice

HEADLINES = ("right", "vital_recall", "citation_precision", "mrr@10")
"""What decides whether a question got better or worse, first difference first."""


NO_SLICES: Mapping[str, Slice] = {}


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric: the paired comparison, the p that counts, and that p adjusted for the number of metrics.

    ``p`` is McNemar's where all values are 0 or 1, the bootstrap's otherwise. ``better`` is +1 if B is
    better.
    """

    metric: str
    paired: Comparison
    test: str
    p: float | None
    adjusted: float | None
    better: int


@dataclass(frozen=True, slots=True)
class Change:
    """A question that got better (+1) or worse (-1), by its first headline metric that differs."""

    case: str
    question: str
    direction: int
    metric: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that differs between two runs."""

    metrics: Mapping[str, Difference]
    changes: tuple[Change, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


def compare(
    before: Sequence[Row],
    after: Sequence[Row],
    metrics: Sequence[str] = tuple(METRICS),
    resamples: int = RESAMPLES,
    slices: Mapping[str, Slice] = NO_SLICES,
) -> Report:
    """Compare two runs over the cases that both have; Holm's adjustment is over ``metrics`` and slices."""
    units = clusters(before) | clusters(after)
    raw = {name: _difference(name, before, after, units, resamples) for name in metrics}
    for label, one in slices.items():
        chosen = {row.case for row in after if row.kind in one.kinds}
        a, b = ([row for row in rows if row.case in chosen] for rows in (before, after))
        raw |= {f"{name} of {label}": _difference(name, a, b, units, resamples) for name in one.metrics}
    scored = {name: found for name, found in raw.items() if found.paired.n}
    adjusted = holm({name: found.p for name, found in scored.items() if found.p is not None})
    differences = {name: replace(found, adjusted=adjusted.get(name)) for name, found in scored.items()}
    cases = {row.case for row in before}, {row.case for row in after}
    return Report(
        differences,
        tuple(_changes(before, after)),
        tuple(sorted(cases[0] - cases[1])),
        tuple(sorted(cases[1] - cases[0])),
    )


def _difference(
    name: str, before: Sequence[Row], after: Sequence[Row], units: Mapping[str, str], resamples: int
) -> Difference:
    a, b = values(before, name), values(after, name)
    found = paired(a, b, units, resamples)
    binary = METRICS[name].binary and {*a.values(), *b.values()} <= {0.0, 1.0}
    p = mcnemar(a, b) if binary else found.p
    sign = METRICS[name].better * (0 if not found.difference else 1 if found.difference > 0 else -1)
    return Difference(name, found, "McNemar" if binary else "bootstrap", p, None, sign)


def _changes(before: Sequence[Row], after: Sequence[Row]) -> list[Change]:
    """Worse first, then better, each by the size of the difference."""
    questions = {row.case: row.question for row in after}
    changes: dict[str, Change] = {}
    for name in HEADLINES:
        a, b = values(before, name), values(after, name)
        for case in a:
            if case in b and a[case] != b[case] and case not in changes:
                direction = METRICS[name].better * (1 if b[case] > a[case] else -1)
                changes[case] = Change(case, questions[case], direction, name, a[case], b[case])
    return sorted(changes.values(), key=lambda c: (c.direction, -abs(c.after - c.before), c.case))
