"""``rag eval lint|draft|sweep|judge``: the commands around a gold set and its judge."""

from __future__ import annotations

import json as jsons
from pathlib import Path
from typing import Annotated

import typer

from rag import wiring_runs
from rag.cli import output
from rag.cli.options import Index
from rag.errors import UsageError
from rag.evals import results, tables
from rag.evals.sweep import Trial
from rag.wiring_runs import Ask

WORSE = 1


def lint(
    gold: Annotated[list[Path] | None, typer.Argument(metavar="GOLD", help="Files or folders.")] = None,
    *,
    suite: Annotated[str, typer.Option("--suite", metavar="SUITE", help="Whose papers.")] = "extractive",
    index: Index = None,
) -> None:
    """Check a gold set for faults that would make its scores lie; exit 1 if there are any."""
    found, checked = wiring_runs.linted(Ask(suite, gold or (), index))
    for one in found:
        output.text(f"{one.where}: {one.case}: {one.check}: {one.message}")
    output.note(f"{checked} cases, {len(found)} faults.")
    if found:
        raise typer.Exit(WORSE)


def draft(
    papers: Annotated[list[str] | None, typer.Argument(metavar="KEY", help="Papers.  [default: all]")] = None,
    *,
    index: Index = None,
    most: Annotated[int, typer.Option("--per-paper", metavar="N", help="Cases of each paper.")] = 2,
) -> None:
    """Propose gold cases from papers, as JSONL to edit: facts and evidence are ready, questions are not."""
    for case in wiring_runs.drafted(papers or (), index, most):
        output.text(jsons.dumps(case, ensure_ascii=False))


def sweep(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="Result of a run.")],
    *,
    dial: Annotated[str, typer.Option("--dial", metavar="DIAL", help="weight, top or threshold.")] = "weight",
) -> None:
    """Try values of a dial on the stored scores of a run: no new call, tune half only."""
    trials = wiring_runs.swept(results.load(result), dial)
    if not trials:
        raise UsageError("Nothing of the tune half has the scores for that.", "Run a whole suite first.")
    output.text(tables.text(trials_table(trials)))


def judge(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="The judge's suite: model, recordings.")
    ] = "judge",
    *,
    labels: Annotated[Path, typer.Option("--labels", metavar="PATH", help="Human labels.")] = Path(
        "eval/labels"
    ),
    record: Annotated[bool, typer.Option("--record", help="Ask the model and keep its replies.")] = False,
) -> None:
    """Have a model grade the answers that people have graded, and say whether it may gate."""
    found = wiring_runs.judged(suite, labels, record)
    kappa = "–" if found.agreement.kappa is None else f"{found.agreement.kappa:.2f}"
    output.text(f"{found.model}: agrees on {found.agreement.share:.0%} of {found.agreement.n}, kappa {kappa}")
    output.text("It may gate." if found.granted else "It may not gate.")


def trials_table(trials: list[Trial]) -> tables.Table:
    """Return one row a value of the dial."""
    names = list(trials[0].scores)
    rows = [(f"{one.value:g}", *(f"{one.scores.get(name, 0):.3f}" for name in names)) for one in trials]
    return [(trials[0].dial, *names), *rows]
