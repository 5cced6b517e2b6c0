"""A run as one self-contained HTML page: no file beside it, nothing fetched, readable without scripts.

page = render(result)                       # one run
page = render(after, before, reasons)       # B against A, and why the gate failed
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from rag.evals.cases import ID
from rag.evals.compare import compare
from rag.evals.metrics import METRICS
from rag.evals.report.plots import A, B, Line, lines, whisker
from rag.evals.report.question import question, safe
from rag.evals.results import Result, abstention, summary, values
from rag.evals.rows import Row
from rag.evals.stats import Estimate
from rag.evals.tables import Table, changes_table, compare_table, headline, number, slice_table, unchanged

METRIC_HEAD = "<th>metric<th class=num>mean<th class=num>95 % interval<th><th class=num>scored<th>what it is"
FIVE = (0.05, "5 % risk")
TILES = {
    "right": "questions handled rightly",
    "vital_recall": "vital facts stated",
    "citation_precision": "citation precision",
    "quote_validity": "quotes that stand there",
    "false_answer": "unanswerable, yet answered",
    "false_refusal": "answerable, yet declined",
    "mrr@10": "MRR@10 of retrieval",
    "attack_success": "attacks obeyed",
}


def render(
    result: Result, before: Result | None = None, reasons: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:
    """Return the page of a run, compared with ``before`` (run A) if given."""
    found = summary(result.rows)
    old = summary(before.rows) if before else {}
    parts = [
        f"<h1>{safe(result.suite)}</h1><p class='dim'>{safe(headline(result))} {safe(result.created)}</p>",
        _gate(reasons, notes),
        _tiles(found, old),
        _plots(result, before),
        "<h2>Metrics</h2>" + _metrics(found, old),
        _comparison(result, before) if before else "",
        "<h2>By slice</h2>" + _slices(slice_table(result)),
        _questions(result, before),
        _dials(result),
    ]
    return _page(f"rag eval: {result.suite}", "".join(parts))


def _page(title: str, body: str) -> str:
    here = Path(__file__).parent
    style, script = ((here / name).read_text("utf-8") for name in ("page.css", "page.js"))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{safe(title)}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{style}</style></head><body><main>{body}</main><script>{script}</script></body></html>\n"
    )


def _gate(reasons: Sequence[str], notes: Sequence[str]) -> str:
    if not reasons and not notes:
        return ""
    items = "".join(f"<li>{safe(item)}</li>" for item in [*reasons, *notes])
    head = "The gate is red." if reasons else "The gate is green."
    return f'<div class="gate {"bad" if reasons else ""}"><b>{head}</b><ul>{items}</ul></div>'


def _tiles(found: dict[str, Estimate], old: dict[str, Estimate]) -> str:
    tiles = []
    for name, words in TILES.items():
        one = found.get(name)
        if one is None or one.mean is None or one.low is None or one.high is None:
            continue
        was = old[name].mean if name in old else None
        delta = "" if was is None else f'<span class="delta">A: {was:.1%}</span>'
        tiles.append(
            f'<div class="tile"><span>{safe(words)}</span><b>{one.mean:.1%}</b>{delta} '
            f"<span>{one.low:.0%} to {one.high:.0%}, n {one.n} of {one.total}</span></div>"
        )
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _plots(result: Result, before: Result | None) -> str:
    runs = [(before, "A", B), (result, "B", A)] if before else [(result, "this run", A)]
    risk = [
        Line(name, colour, [(c, r) for _, c, r in abstention(run.rows)["curve"]])
        for run, name, colour in runs
        if run
    ]
    top = math.ceil(5 * max([0.2, *(y for line in risk for _, y in line.points)])) / 5
    found = [Line(name, colour, _recall_by_k(run.rows), dots=True) for run, name, colour in runs if run]
    ticks = [(float(k), str(k)) for k in range(1, 11)]
    charts = [
        _figure(
            "Risk and coverage",
            lines(
                risk,
                x="questions answered (coverage)",
                y="wrong among them (risk)",
                top=top,
                bar=FIVE,
            ),
            "The most confident questions first. The line ends where the program stops and declines.",
        )
        if any(line.points for line in risk)
        else "",
        _figure(
            "Retrieval",
            lines(found, x="papers looked at (k)", y="gold papers among them", span=(1.0, 10.0), ticks=ticks),
            "Recall@k: share of the gold papers found among the first k.",
        )
        if any(line.points for line in found)
        else "",
    ]
    return f'<div class="plots">{"".join(charts)}</div>'


def _figure(title: str, svg: str, caption: str) -> str:
    return f"<figure><b>{safe(title)}</b>{svg}<figcaption>{safe(caption)}</figcaption></figure>"


def _recall_by_k(rows: Sequence[Row]) -> list[tuple[float, float]]:
    scored = [row for row in rows if "recall@10" in row.scores and row.sample == 1]
    points = []
    for k in range(1, 11) if scored else ():
        shares = [row.found(k) for row in scored]
        points.append((float(k), sum(shares) / len(shares)))
    return points


def _metrics(found: dict[str, Estimate], old: dict[str, Estimate]) -> str:
    rows = [f"<tr>{METRIC_HEAD}</tr>"]
    for name, one in found.items():
        if one.mean is None or one.low is None or one.high is None:
            continue
        metric = METRICS[name]
        was = old[name].mean if name in old else None
        picture = whisker(one.mean, one.low, one.high, was) if metric.unit == "share" else ""
        sense = {1: " ↑", -1: " ↓", 0: ""}[metric.better]
        unit = "" if metric.unit == "share" else f" {metric.unit}"
        rows.append(
            f"<tr><td class=name>{safe(name)}{sense}<td class=num>{number(one.mean, name)}{unit}"
            f"<td class=num>{number(one.low, name)} to {number(one.high, name)}<td>{picture}"
            f"<td class=num>{one.n} of {one.total}<td class=dim>{safe(metric.meaning)}</tr>"
        )
    return f'<div class="scroll"><table>{"".join(rows)}</table></div>'


def _comparison(result: Result, before: Result) -> str:
    report = compare(before.rows, result.rows)
    lost = [f"only in A: {', '.join(report.only_before)}"] if report.only_before else []
    lost += [f"only in B: {', '.join(report.only_after)}"] if report.only_after else []
    names = f"A is {_name(before)}, B is {_name(result)}. {'; '.join(lost)}"
    head = f"<h2>A against B</h2><p class=dim>{safe(names)}</p>"
    changes = changes_table(report.changes)
    moved = _table(changes) if len(changes) > 1 else "<p>No question changed sides.</p>"
    same = f"<p class=dim>{safe(unchanged(report))}</p>"
    return head + _table(compare_table(report)) + same + "<h3>What changed</h3>" + moved


def _name(result: Result) -> str:
    return " ".join(part for part in (result.suite, result.tag, result.model, result.created) if part)


def _table(table: Table) -> str:
    head = "".join(f"<th>{safe(cell)}" for cell in table[0])
    body = []
    for row in table[1:]:
        cells = "".join(_cell(cell) for cell in row)
        body.append(f"<tr>{cells}</tr>")
    return f'<div class="scroll"><table><tr>{head}</tr>{"".join(body)}</table></div>'


def _slices(table: Table) -> str:
    """A table whose cells redden as the metric gets worse."""
    head = "".join(f"<th{' class=num' if place else ''}>{safe(cell)}" for place, cell in enumerate(table[0]))
    body = []
    for row in table[1:]:
        shades = [_shade(name, cell) for name, cell in zip(table[0][2:], row[2:], strict=True)]
        cells = "".join(
            f'<td class=num style="{style}">{safe(cell)}' for style, cell in zip(shades, row[2:], strict=True)
        )
        body.append(f"<tr><td>{safe(row[0])}<td class=num>{row[1]}{cells}</tr>")
    return f'<div class="scroll"><table><tr>{head}</tr>{"".join(body)}</table></div>'


def _shade(name: str, cell: str) -> str:
    if not cell[:1].isdigit():
        return ""
    bad = float(cell) if METRICS[name].better < 0 else 1 - float(cell)
    return f"background:rgba(217,70,50,{0.55 * bad:.2f})"


def _cell(cell: str) -> str:
    case, colon, question = cell.partition(": ")
    if colon and ID.fullmatch(case):
        return f'<td><a href="#{case}">{case}</a>: {safe(question)}'
    if cell in ("better", "worse"):
        return f'<td class="{cell}">{cell}'
    numeric = cell[:1] in "+-–0123456789" and cell != ""
    return f"<td class=num>{safe(cell)}" if numeric else f"<td>{safe(cell)}"


def _questions(result: Result, before: Result | None) -> str:
    olds = {(row.case, row.sample): row for row in before.rows} if before else {}
    kinds = "".join(f"<option>{safe(kind)}" for kind in sorted({row.kind for row in result.rows}))
    words = ["wrong", "right", "declined", "error", *(["worse", "better"] if before else [])]
    outcomes = "".join(f"<option>{word}" for word in words)
    tools = (
        '<div class="tools"><input id="find" type="search" placeholder="words of question, answer, evidence">'
        f'<select id="kind"><option value="">every kind{kinds}</select>'
        f'<select id="outcome"><option value="">every outcome{outcomes}</select>'
        '<span id="shown" class="dim"></span></div>'
    )
    ordered = sorted(result.rows, key=lambda row: (not row.error, row.scores.get("right", 1.0) == 1.0))
    views = "".join(question(row, result.papers, olds.get((row.case, row.sample))) for row in ordered)
    legend = (
        "<p class=dim>Wrong ones first. In the abstracts: <mark>cited</mark> "
        '<mark class="gold">gold evidence</mark> <mark class="both">both</mark>.</p>'
    )
    return f"<h2>Questions</h2>{legend}{tools}{views}"


def _dials(result: Result) -> str:
    share = values(result.rows, "right")
    tables = {"dials": result.dials, "digests": result.digests, "versions": result.versions}
    rows = "".join(
        f"<tr><td>{safe(group)}<td>{safe(name)}<td>{safe(value)}</tr>"
        for group, table in tables.items()
        for name, value in table.items()
    )
    table = f"<div class=scroll><table>{rows}</table></div>"
    return f"<h2>Made with</h2><p class=dim>{len(share)} questions scored.</p>{table}"
