"""Results and comparisons as plain text and as Markdown (for a GitHub step summary): every mean with its n.

metric              mean   95 % interval   scored
right              0.912   0.871 to 0.949  240 of 240
"""

from __future__ import annotations

from collections.abc import Sequence

from rag.evals.compare import Change, Report
from rag.evals.metrics import METRICS
from rag.evals.results import Result, abstention, slices, summary, values
from rag.evals.stats import Estimate, Values

SLICED = ("right", "vital_recall", "paper_recall", "citation_recall", "false_answer", "false_refusal")
Table = list[tuple[str, ...]]


def summary_table(result: Result) -> Table:
    """Return one row a metric, under a heading."""
    rows: Table = [("metric", "mean", "95 % interval", "scored")]
    for name, found in summary(result.rows).items():
        rows.append((name, number(found.mean, name), interval(found, name), f"{found.n} of {found.total}"))
    return rows


def slice_table(result: Result) -> Table:
    """Return one row a slice: questions, and the mean of the metrics that are looked at by slice."""
    rows: Table = [("slice", "n", *SLICED)]
    for name, some in slices(result.rows).items():
        means = [_mean(values(some, metric)) for metric in SLICED]
        rows.append((name, str(len({row.case for row in some})), *(number(mean, "") for mean in means)))
    return rows


def compare_table(report: Report) -> Table:
    """Return one row a metric that differs; the last column says whether B is better."""
    rows: Table = [("metric", "A", "B", "difference", "95 % interval", "n", "p (Holm)", "would see", "")]
    for name, found in report.metrics.items():
        pair = found.paired
        if not pair.difference:
            continue
        bounds = (
            f"{pair.low:+.3f} to {pair.high:+.3f}" if pair.low is not None and pair.high is not None else ""
        )
        p = "" if found.adjusted is None else f"{found.adjusted:.4f}"
        seen = "" if pair.detectable is None else f"{pair.detectable:.3f}"
        ends = number(pair.mean_a, name), number(pair.mean_b, name)
        rows.append(
            (
                name,
                *ends,
                f"{pair.difference:+.3f}",
                bounds,
                str(pair.n),
                p,
                seen,
                verdict(found.better, found.adjusted),
            )
        )
    return rows


def unchanged(report: Report) -> str:
    """Return a line about the metrics that do not differ."""
    same = [name for name, found in report.metrics.items() if not found.paired.difference]
    return f"Unchanged: {', '.join(same)}." if same else ""


def changes_table(changes: Sequence[Change], most: int = 40) -> Table:
    """Return the questions that got worse, then those that got better."""
    rows: Table = [("", "question", "metric", "A", "B")]
    for change in changes[:most]:
        word = "worse" if change.direction < 0 else "better"
        ends = f"{change.before:.2f}", f"{change.after:.2f}"
        rows.append((word, f"{change.case}: {change.question}"[:90], change.metric, *ends))
    if len(changes) > most:
        rows.append(("", f"and {len(changes) - most} more", "", "", ""))
    return rows


def text(table: Table) -> str:
    """Lay a table out in columns, numbers to the right."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [
            _padded(cell, width, first=not place)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown(table: Table) -> str:
    """Return a Markdown table."""
    rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
    rule = "|" + "|".join(" --- " if not place else " ---: " for place in range(len(table[0]))) + "|"
    return "\n".join([rows[0], rule, *rows[1:]])


def step_summary(result: Result, reasons: Sequence[str], notes: Sequence[str] = ()) -> str:
    """Return the page that a CI run shows: verdict first, then the numbers."""
    head = "✗ failed" if reasons or result.errors else "✓ passed"
    parts = [f"## Evals: {result.suite} {head}", headline(result)]
    parts += ["\n".join(f"- **{reason}**" for reason in reasons)] if reasons else []
    parts += ["\n".join(f"- {note}" for note in notes)] if notes else []
    parts += [
        markdown(summary_table(result)),
        "<details><summary>By slice</summary>",
        markdown(slice_table(result)),
    ]
    return "\n\n".join([*parts, "</details>"]) + "\n"


def headline(result: Result) -> str:
    """Return one sentence about the run."""
    curve = abstention(result.rows)
    asked = len({row.case for row in result.rows})
    who = result.model if result.mode == "model" else "extractive mode"
    said = f"{asked} questions, {len(result.rows)} answers by {who}"
    said += " from recordings" if result.replayed else ""
    said += f", {len(result.errors)} errors" if result.errors else ""
    reached = curve["coverage_at_5%_risk"]
    said += f"; answers {curve['coverage']:.0%} of all questions" if curve["coverage"] is not None else ""
    return said + (f", {reached:.0%} at 5 % risk." if reached is not None else ".")


def number(value: float | None, metric: str) -> str:
    """Return a mean for people; a dash where nothing was scored."""
    if value is None:
        return "–"
    unit = METRICS[metric].unit if metric in METRICS else "share"
    return f"{value:,.0f}" if unit == "tokens" else f"{value:.3f}"


def interval(found: Estimate, metric: str) -> str:
    """Return "low to high"."""
    return f"{number(found.low, metric)} to {number(found.high, metric)}"


def verdict(better: int, adjusted: float | None, alpha: float = 0.05) -> str:
    """Return "better", "worse", or that nothing can be said."""
    if not better or adjusted is None or adjusted >= alpha:
        return "" if not better else "not significant"
    return "better" if better > 0 else "worse"


def _padded(cell: str, width: int, first: bool) -> str:
    return cell.ljust(width) if first or not cell[:1].isdigit() else cell.rjust(width)


def _mean(found: Values) -> float | None:
    return sum(found.values()) / len(found) if found else None
