"""``rag eval``: score answers against a gold set, compare runs, gate a build, record a model's replies."""

from __future__ import annotations

import json as jsons
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from rag import wiring_runs
from rag.cli import eval_gold, options, output
from rag.cli.options import Index, Json
from rag.errors import UsageError
from rag.evals import compare as comparing
from rag.evals import junit as junits
from rag.evals import report as pages
from rag.evals import results, tables
from rag.evals.record import Done
from rag.evals.rows import Row
from rag.wiring_runs import Ask

WORSE, STALE, FAILED = 1, 3, 4
app = typer.Typer(help="Score answers against a gold set, offline by default.", no_args_is_help=True)


def _option(name: str, metavar: str, words: str, short: str = "") -> object:
    names = (name, short) if short else (name,)
    return typer.Option(*names, metavar=metavar, help=words, show_default=False)


Suite = Annotated[
    str | None,
    typer.Argument(metavar="SUITE", help="Name of a suite, or a .toml file.", show_default=False),
]
Gold = Annotated[list[Path] | None, _option("--gold", "PATH", "Gold set of your own; repeatable.")]
Only = Annotated[list[str] | None, _option("--only", "ID", "Only ids with this in them; repeatable.")]
Tag = Annotated[list[str] | None, _option("--tag", "TAG", "Only this kind or tag; repeatable.")]
Html = Annotated[Path | None, _option("--html", "FILE", "Write the HTML report.")]
Junit = Annotated[Path | None, _option("--junit", "FILE", "Write JUnit XML.")]


@app.command()
def run(
    ctx: typer.Context,
    suite: Suite = None,
    *,
    gold: Gold = None,
    index: Index = None,
    only: Only = None,
    tag: Tag = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", metavar="N", help="Processes.", min=1)] = 1,
    live: Annotated[bool, typer.Option("--live", help="Ask the model itself, not the recordings.")] = False,
    gate: Annotated[bool, typer.Option("--gate", help="Exit 1 if worse than the baseline.")] = False,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Make this run the baseline.")
    ] = False,
    name: Annotated[str | None, _option("--name", "WORD", "A name for this run.")] = None,
    out: Annotated[Path | None, _option("--out", "FILE", "Result.  [default: eval/out/SUITE.json]")] = None,
    html: Html = None,
    junit: Junit = None,
    json: Json = False,
) -> None:
    """Ask the questions of a suite and score the answers.

    \b
    rag eval run extractive --gate              # what CI does; exit 1 if it got worse
    rag eval run model -j 2 --html report.html  # from recordings; exit 3 if they are stale
    rag eval run --gold mine.jsonl --index DIR  # your own questions about your own papers
    """
    note = options.note(ctx)
    plan = wiring_runs.planned(Ask(suite, gold or (), index, only or (), tag or ()), live=live)
    stop_if_stale(plan)
    ticker = Ticker(len(plan.tasks), note)
    result = wiring_runs.carried_out(plan, note, jobs=jobs, tag=name, on_row=ticker)
    path = out or wiring_runs.OUT / f"{plan.suite.name}.json"
    result.save(path)
    if update_baseline:
        note(f"Baseline: {wiring_runs.save_baseline(plan, result)}")
    verdict = wiring_runs.gated(plan, result)
    reasons, notes = (verdict.reasons, verdict.notes) if gate else ((), ())
    output.text(jsons.dumps(results.as_json(result), ensure_ascii=False) if json else printed(result))
    if html:
        write(html, pages.render(result, None, reasons, notes))
    if junit:
        write(junit, junits.junit(result, reasons))
    step_summary(tables.step_summary(result, reasons, notes))
    note(f"Result: {path}")
    tell_errors(result)
    tell_gate(gate, reasons, notes)


@app.command()
def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="Result of the earlier run.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="Result of the later run.")],
    *,
    html: Html = None,
) -> None:
    """Compare two runs: what got better and worse, and whether it is more than chance."""
    a, b = results.load(before), results.load(after)
    found = comparing.compare(a.rows, b.rows)
    output.text(tables.text(tables.compare_table(found)))
    output.text(tables.unchanged(found))
    if found.changes:
        output.text("\n" + tables.text(tables.changes_table(found.changes)))
    for words, names in (("Only in A", found.only_before), ("Only in B", found.only_after)):
        if names:
            output.note(f"{words}: {', '.join(names)}")
    if html:
        write(html, pages.render(b, a))


@app.command()
def report(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="Result of a run.")],
    *,
    against: Annotated[Path | None, _option("--against", "A", "Result of an earlier run.")] = None,
    html: Html = None,
    junit: Junit = None,
    summary: Annotated[Path | None, _option("--summary", "FILE", "Write Markdown.")] = None,
) -> None:
    """Make the HTML report of a run: one file, nothing fetched. Without --html, beside the result."""
    found = results.load(result)
    page = html or result.with_suffix(".html")
    write(page, pages.render(found, results.load(against) if against else None))
    if junit:
        write(junit, junits.junit(found))
    if summary:
        write(summary, tables.step_summary(found, ()))
    output.note(f"Report: {page}")


@app.command()
def record(
    ctx: typer.Context,
    suite: Suite = "model",
    *,
    only: Annotated[str, typer.Option("--only", metavar="WHAT", help="missing, changed or all.")] = "missing",
    case: Annotated[list[str] | None, _option("--case", "ID", "Only these ids; repeatable.")] = None,
    most: Annotated[int | None, _option("--most", "N", "Stop after N.")] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Delete what no question asks for.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be recorded.")] = False,
) -> None:
    """Record a model's replies for a suite; stopped at any time, it goes on where it was.

    The suite names the model. OPENAI_BASE_URL (or the suite) says where it is, OPENAI_API_KEY is its key.
    """
    if only not in ("missing", "changed", "all"):
        raise UsageError(f"Bad --only {only!r}.", "It is missing, changed or all.")
    plan = wiring_runs.planned(Ask(suite, only=case or ()), live=True)
    if prune:
        output.note(f"Deleted {len(wiring_runs.pruned(plan))} recordings.")
    todo = wiring_runs.to_record(plan, only)[:most]
    output.note(f"{len(todo)} of {len(plan.tasks)} answers to record.")
    if dry_run or not todo:
        return
    done, failed = wiring_runs.recorded(plan, todo, options.note(ctx), tell_recorded)
    output.note(f"Recorded {done}, failed {failed}.")
    if failed:
        raise typer.Exit(FAILED)


app.command()(eval_gold.lint)
app.command()(eval_gold.draft)
app.command()(eval_gold.sweep)
app.command()(eval_gold.judge)


class Ticker:
    """Says how far a run is: on a terminal at each question, in a log at each tenth."""

    def __init__(self, total: int, note: Callable[[str], None]) -> None:
        self._total, self._note, self._done = total, note, 0

    def __call__(self, row: Row) -> None:
        self._done += 1
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{self._done} of {self._total} {row.case[:40]:40}")
            sys.stderr.write("\r\x1b[K" if self._done == self._total else "")
            sys.stderr.flush()
        elif self._done * 10 // self._total > (self._done - 1) * 10 // self._total:
            self._note(f"{self._done} of {self._total}")


def stop_if_stale(plan: wiring_runs.Plan) -> None:
    """Exit 3 with one screen if the recordings are not what would be asked for now."""
    found, screen = wiring_runs.stale(plan)
    if found:
        sys.stderr.write(screen + "\n")
        raise typer.Exit(STALE)


def write(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def step_summary(text: str) -> None:
    """Append to the page of a GitHub run, where there is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def printed(result: results.Result) -> str:
    """Return the tables of a run."""
    parts = [tables.headline(result), tables.text(tables.summary_table(result))]
    by_slice = tables.slice_table(result)
    return "\n\n".join(parts + ([tables.text(by_slice)] if len(by_slice) > 1 else []))


def tell_errors(result: results.Result) -> None:
    """Name the rows without an answer; those that are not on the tape mean exit 3."""
    for row in result.errors[:10]:
        output.note(f"{row.case}: {(row.error or {}).get('message')}")
    missing = wiring_runs.tape_errors(result)
    if missing:
        output.note(f"{len(missing)} are not on the tape: rag eval record {result.suite} --only changed")
        raise typer.Exit(STALE)


def tell_gate(gate: bool, reasons: tuple[str, ...], notes: tuple[str, ...]) -> None:
    """Say why the gate is red (exit 1), or that it is green."""
    for words in notes:
        output.note(words)
    for reason in reasons:
        output.note(f"GATE: {reason}")
    if reasons:
        raise typer.Exit(WORSE)
    if gate:
        output.note("The gate is green.")


def tell_recorded(done: Done) -> None:
    """Say how one recording went."""
    output.note(f"{done.name}: {done.error}" if done.error else f"{done.name}: {done.seconds:.1f} s")
