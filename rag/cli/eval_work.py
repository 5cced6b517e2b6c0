"""What the commands of ``rag eval`` print and write; loaded when one runs, not when ``rag`` starts."""

from __future__ import annotations

import json as jsons
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer

from rag.cli import output
from rag.errors import RagError, UsageError
from rag.evals import compare as comparing
from rag.evals import files, results, tables
from rag.evals import junit as junits
from rag.evals import report as pages
from rag.evals.gate import Verdict
from rag.evals.record import Done
from rag.evals.rows import Row
from rag.evals.sweep import Trial
from rag.wiring import runs as wiring_runs
from rag.wiring.runs import Ask

__all__ = ["Ask", "Wishes", "compare", "draft", "judge", "lint", "record", "report", "run", "sweep"]

WORSE, STALE, FAILED = 1, 3, 4
MOST_ERRORS = 10
Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What ``rag eval run`` was asked to do beside running."""

    jobs: int = 1
    live: bool = False
    gate: bool = False
    update_baseline: bool = False
    name: str | None = None
    out: Path | None = None
    html: Path | None = None
    junit: Path | None = None
    json: bool = False


def run(ask: Ask, wishes: Wishes, note: Note) -> None:
    """Run a suite, write its result and what else was wished for, and exit as the outcome says.

    What cannot be written ends it beforehand; if that shows only afterwards, all the rest is written first.
    """
    plan = wiring_runs.planned(ask, live=wishes.live)
    stop_if_stale(plan)
    path = wishes.out or wiring_runs.OUT / f"{plan.suite.name}.json"
    check_places(plan, wishes, path)
    ticker = Ticker(len(plan.tasks), note)
    result = wiring_runs.carried_out(plan, note, jobs=wishes.jobs, tag=wishes.name, on_row=ticker)
    tried = Tried()
    tried(partial(save, result, path, note))
    if wishes.update_baseline:
        tried(lambda: note(f"Baseline: {wiring_runs.save_baseline(plan, result)}"))
    verdict = wiring_runs.gated(plan, result) if wishes.gate else Verdict(())
    output.text(jsons.dumps(results.as_json(result), ensure_ascii=False) if wishes.json else printed(result))
    tried(*pages_of(result, verdict, wishes))
    code = tell_errors(result) or tried.told()
    if code:
        raise typer.Exit(code)
    tell_gate(wishes.gate, verdict.reasons, verdict.notes, note)


def check_places(plan: wiring_runs.Plan, wishes: Wishes, out: Path) -> None:
    """Refuse before the run what could not be written after it."""
    for path in (out, wishes.html, wishes.junit):
        if path:
            files.check(path)
    step_summary("")
    if wishes.gate or wishes.update_baseline:
        wiring_runs.check_baseline(plan, update=wishes.update_baseline)


def save(result: results.Result, path: Path, note: Note) -> None:
    """Write the result and say where it is."""
    result.save(path)
    note(f"Result: {path}")


def pages_of(result: results.Result, verdict: Verdict, wishes: Wishes) -> Iterator[Callable[[], None]]:
    """Yield what writes each page that was wished for."""
    reasons, notes = verdict.reasons, verdict.notes
    if wishes.html:
        yield partial(files.write, wishes.html, pages.render(result, None, reasons, notes))
    if wishes.junit:
        yield partial(files.write, wishes.junit, junits.junit(result, reasons))
    yield partial(step_summary, tables.step_summary(result, reasons, notes))


def compare(before: Path, after: Path, html: Path | None, note: Note) -> None:
    """Print what differs between two results."""
    a, b = results.load(before), results.load(after)
    found = comparing.compare(a.rows, b.rows)
    output.text(tables.text(tables.compare_table(found)))
    output.text(tables.unchanged(found))
    if found.changes:
        output.text("\n" + tables.text(tables.changes_table(found.changes)))
    for words, names in (("Only in A", found.only_before), ("Only in B", found.only_after)):
        if names:
            note(f"{words}: {', '.join(names)}")
    if html:
        files.write(html, pages.render(b, a))


def report(
    result: Path,
    against: Path | None,
    note: Note,
    *,
    html: Path | None,
    junit: Path | None,
    summary: Path | None,
) -> None:
    """Write the report of a result."""
    found = results.load(result)
    page = html or result.with_suffix(".html")
    files.write(page, pages.render(found, results.load(against) if against else None))
    if junit:
        files.write(junit, junits.junit(found))
    if summary:
        files.write(summary, tables.step_summary(found, ()))
    note(f"Report: {page}")


def record(ask: Ask, note: Note, *, only: str, most: int | None, prune: bool, dry_run: bool) -> None:
    """Record what is missing or stale."""
    if only not in ("missing", "changed", "all"):
        raise UsageError(f"Bad --only {only!r}.", "It is missing, changed or all.")
    plan = wiring_runs.planned(ask, live=True)
    if prune:
        note(f"Deleted {len(wiring_runs.pruned(plan))} recordings.")
    todo = wiring_runs.to_record(plan, only)[:most]
    note(f"{len(todo)} of {len(plan.tasks)} answers to record.")
    if dry_run or not todo:
        return
    done, failed = wiring_runs.recorded(plan, todo, note, partial(tell_recorded, note))
    note(f"Recorded {done}, failed {failed}.")
    if failed:
        raise typer.Exit(FAILED)


def lint(ask: Ask, note: Note) -> None:
    """Print the faults of a gold set."""
    found, checked = wiring_runs.linted(ask)
    for one in found:
        output.text(f"{one.where}: {one.case}: {one.check}: {one.message}")
    note(f"{checked} cases, {len(found)} faults.")
    if found:
        raise typer.Exit(WORSE)


def draft(keys: Sequence[str], ask: Ask, most: int) -> None:
    """Print proposed cases."""
    for case in wiring_runs.drafted(keys, ask, most):
        output.text(jsons.dumps(case, ensure_ascii=False))


def sweep(result: Path, dial: str) -> None:
    """Print what other values of a dial would have scored."""
    trials = wiring_runs.swept(results.load(result), dial)
    if not trials:
        raise UsageError("Nothing of the tune half has the scores for that.", "Run a whole suite first.")
    output.text(tables.text(trials_table(trials)))


def judge(suite: str, labels: Path, live: bool) -> None:
    """Print how far the judge agrees with the labels."""
    found = wiring_runs.judged(suite, labels, live)
    kappa = "–" if found.agreement.kappa is None else f"{found.agreement.kappa:.2f}"
    output.text(f"{found.model}: agrees on {found.agreement.share:.0%} of {found.agreement.n}, kappa {kappa}")
    output.text("It may gate." if found.granted else "It may not gate.")


class Ticker:
    """Says how far a run is: on a terminal at each question, in a log at each tenth."""

    def __init__(self, total: int, note: Note) -> None:
        self._total, self._note, self._done = total, note, 0

    def __call__(self, row: Row) -> None:
        self._done += 1
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{self._done} of {self._total} {row.case[:40]:40}")
            sys.stderr.write("\r\x1b[K" if self._done == self._total else "")
            sys.stderr.flush()
        elif self._done * 10 // self._total > (self._done - 1) * 10 // self._total:
            self._note(f"{self._done} of {self._total}")


class Tried:
    """Does one thing after another even if some fail, and tells of those at the end."""

    def __init__(self) -> None:
        self._failed: list[RagError] = []

    def __call__(self, *steps: Callable[[], object]) -> None:
        """Do what can be done; the steps that follow a failed one are done, too."""
        for step in steps:
            try:
                step()
            except RagError as error:
                self._failed.append(error)

    def told(self) -> int | None:
        """Write a line for each failure; return the exit code of the first."""
        for error in self._failed:
            output.error(error)
        return self._failed[0].exit_code if self._failed else None


def stop_if_stale(plan: wiring_runs.Plan) -> None:
    """Exit 3 with one screen if the recordings are not what would be asked for now."""
    found, screen = wiring_runs.stale(plan)
    if found:
        sys.stderr.write(screen + "\n")
        raise typer.Exit(STALE)


def step_summary(text: str) -> None:
    """Append to the page of a GitHub run, where there is one; an empty text only tries it."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        files.append(Path(path), text)
    except RagError as error:
        raise type(error)(f"GITHUB_STEP_SUMMARY: {error.message}", "Correct or unset it.") from error


def printed(result: results.Result) -> str:
    """Return the tables of a run."""
    parts = [tables.headline(result), tables.text(tables.summary_table(result))]
    by_slice = tables.slice_table(result)
    return "\n\n".join(parts + ([tables.text(by_slice)] if len(by_slice) > 1 else []))


def tell_errors(result: results.Result) -> int | None:
    """Name the rows without an answer; return the exit code they mean, None if there are none."""
    for row in result.errors[:MOST_ERRORS]:
        output.note(f"{row.case}: {(row.error or {}).get('message')}")
    if result.errors:
        output.note(f"{len(result.errors)} of {len(result.rows)} answers ended in an error.")
    missing = wiring_runs.tape_errors(result)
    if missing:
        output.note(f"{len(missing)} are not on the tape: rag eval record {result.suite} --only changed")
    return wiring_runs.error_code(result)


def tell_gate(gate: bool, reasons: tuple[str, ...], notes: tuple[str, ...], note: Note) -> None:
    """Say why the gate is red (exit 1), or that it is green."""
    for words in notes:
        note(words)
    for reason in reasons:
        output.note(f"GATE: {reason}")
    if reasons:
        raise typer.Exit(WORSE)
    if gate:
        note("The gate is green.")


def tell_recorded(note: Note, done: Done) -> None:
    """Say how one recording went; a failure also to those who want no remarks."""
    if done.error:
        output.note(f"{done.name}: {done.error}")
    else:
        note(f"{done.name}: {done.seconds:.1f} s")


def trials_table(trials: list[Trial]) -> tables.Table:
    """Return one row a value of the dial."""
    names = list(trials[0].scores)
    rows = [(f"{one.value:g}", *(f"{one.scores.get(name, 0):.3f}" for name in names)) for one in trials]
    return [(trials[0].dial, *names), *rows]
