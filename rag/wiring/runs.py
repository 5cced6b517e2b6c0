"""What the commands of ``rag eval`` do, from names and paths to results; the commands themselves only print.

plan = planned(Ask(suite="extractive"))
result = carried_out(plan, note=print)
verdict = gated(plan, result)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from rag import errors, wiring
from rag import settings as layers
from rag.errors import TapeError, UsageError
from rag.evals import cases as gold
from rag.evals import draft, files, gate, judge, lint, manifest, preflight, record, run, suites, sweep
from rag.evals.cases import Case
from rag.evals.gate import Verdict
from rag.evals.preflight import Stale
from rag.evals.record import Book, Done
from rag.evals.results import Result
from rag.evals.rows import Row
from rag.evals.suites import Suite
from rag.prompts import Prompts
from rag.wiring import evals as wiring_evals
from rag.wiring.evals import Spec

SUITES = Path("eval/suites")
OUT = Path("eval/out")
Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ask:
    """The words of the command: which suite, narrowed how, over which gold set and index or server."""

    suite: str | None = None
    gold: Sequence[Path] = ()
    index: Path | None = None
    only: Sequence[str] = ()
    tags: Sequence[str] = ()
    changes: dict[str, object] | None = None
    chroma_url: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be asked: every (case, sample), of what, and whether from recordings."""

    spec: Spec
    tasks: tuple[tuple[Case, int], ...]
    every: tuple[tuple[Case, int], ...]

    @property
    def suite(self) -> Suite:
        return self.spec.suite

    @property
    def part(self) -> bool:
        """Whether the questions were narrowed."""
        return len(self.tasks) < len(self.every)


def planned(ask: Ask, *, live: bool = False) -> Plan:
    """Read suite, gold set and settings.

    A gold set of the user's own is asked with the user's own settings, live; a suite with the suite's alone.

    Raises:
        UsageError: something named does not exist or is not as it should be.
    """
    own = own_settings(ask)
    if ask.suite and ask.chroma_url:
        raise UsageError(
            f"Suite {ask.suite!r} is asked of papers of its own, not of those at --chroma-url.",
            "Leave it out; a gold set is asked there without a suite: --gold FILE.",
        )
    suite = suites.load(ask.suite, SUITES) if ask.suite else _own_suite(own)
    if ask.changes:
        suite = replace(suite, settings={**suite.settings, **ask.changes})
    if ask.gold:
        suite = suites.over(suite, ask.gold)
    if not suite.gold:
        raise UsageError("No suite and no gold set.", "Try: rag eval run extractive, or --gold FILE.")
    every = suites.chosen(suite, gold.load(suite.gold))
    some = suites.narrowed(every, ask.only, ask.tags)
    settings = wiring_evals.settings_of(suite, ask.index, own) if ask.suite else wiring_evals.sendable(own)
    if ask.suite and settings.mode == "model":
        wiring_evals.model_of(settings)
    replay = suite.cassettes is not None and suite.mode == "model" and not live
    asked = suites.samples(suite, every)
    names = {case.id for case in some}
    return Plan(
        Spec(suite, settings, "replay" if replay else "off", own=not ask.suite),
        tuple(task for task in asked if task[0].id in names),
        tuple(asked),
    )


def own_settings(ask: Ask) -> layers.Settings:
    """Return the user's own settings, with the index or the server that the command names."""
    return layers.load({"index": ask.index, "chroma_url": ask.chroma_url})


def _own_suite(own: layers.Settings) -> Suite:
    return Suite("own", Path(), (), settings={"mode": own.mode})


def stale(plan: Plan) -> tuple[list[Stale], str]:
    """Return what is wrong with the recordings that the plan needs, and a screen that says so; no calls."""
    if plan.spec.tape != "replay":
        return [], ""
    folder = wiring_evals.cassettes(plan.suite)
    now, kept = wiring_evals.now(plan.spec, plan.every), manifest.load(folder)
    found = preflight.check(folder, kept, now)
    if not found:
        return [], ""
    return found, preflight.screen(found, kept, now, plan.suite.name, wiring_evals.messages_in(folder))


def carried_out(
    plan: Plan,
    note: Note,
    *,
    jobs: int = 1,
    tag: str | None = None,
    on_row: Callable[[Row], None] | None = None,
) -> Result:
    """Ask everything and return the result."""
    wiring_evals.require_tools()
    began = time.perf_counter()
    plan = replace(plan, spec=wiring_evals.named(plan.spec, note))
    wiring_evals.build_index(plan.spec, note)
    outcome = run.run(plan.tasks, partial(wiring_evals.opened, plan.spec, wiring_evals.silent), jobs, on_row)
    settings = plan.spec.settings
    return Result(
        suite=plan.suite.name,
        rows=tuple(outcome),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        tag=tag,
        mode=settings.mode,
        model=settings.model if settings.mode == "model" else None,
        seconds=round(time.perf_counter() - began, 2),
        replayed=plan.spec.tape == "replay",
        dials=wiring_evals.dials(settings),
        digests=_digests(plan),
        versions=wiring_evals.versions(),
        papers=_papers(plan, outcome),
    )


def _digests(plan: Plan) -> dict[str, Any]:
    settings = plan.spec.settings
    prompts = {name: manifest.digest(text) for name, text in wiring_evals.prompts_of(settings).items()}
    with wiring.open_library(settings, wiring_evals.silent) as library:
        index = library.info.fingerprint
    return {
        "prompts": prompts if settings.mode == "model" else {},
        "gold": manifest.files_digest(file for path in plan.suite.gold for file in gold.files([path])),
        "index": index,
    }


def _papers(plan: Plan, outcome: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """The papers that the rows name, so that a report needs no index."""
    keys = {key for row in outcome for key in row.gold["papers"]}
    for row in outcome:
        keys |= {
            paper["key"] for name in ("references", "nearest") for paper in (row.answer or {}).get(name, [])
        }
    found = {}
    with wiring.open_library(plan.spec.settings, wiring_evals.silent) as library:
        for key in sorted(keys):
            paper = library.paper(key)
            if paper:
                found[key] = {"title": paper.title, "year": paper.year, "abstract": paper.abstract}
    return found


def gated(plan: Plan, result: Result) -> Verdict:
    """Compare with the suite's baseline, on the questions that were asked."""
    before = gate.read_baseline(plan.suite.baseline) if plan.suite.baseline else None
    return gate.judge(result.rows, plan.suite.gate, before, part=plan.part)


def check_baseline(plan: Plan, *, update: bool) -> None:
    """Find out before a run what would keep its end from reading or, to ``update``, writing the baseline.

    Raises:
        UsageError: the suite names no baseline or is not run whole; or its baseline is not one.
        EnvironmentFault: the file may not be read or written.
    """
    if update:
        files.check(baseline_of(plan))
    elif plan.suite.baseline:
        gate.read_baseline(plan.suite.baseline)


def save_baseline(plan: Plan, result: Result) -> Path:
    """Make this result what later runs are compared with.

    Raises:
        UsageError: the suite names no baseline, was not run whole, or had errors.
        EnvironmentFault: it cannot be written.
    """
    path = baseline_of(plan)
    if result.errors:
        raise UsageError("A baseline is made of a run without errors.", "Run it again without them.")
    gate.write_baseline(path, result)
    return path


def baseline_of(plan: Plan) -> Path:
    """Return where the baseline of a plan goes.

    Raises:
        UsageError: the suite names none, or is not run whole.
    """
    if plan.suite.baseline is None:
        raise UsageError(
            f"Suite {plan.suite.name!r} names no baseline.", "Set baseline = FILE in the suite file."
        )
    if plan.part:
        raise UsageError("A baseline is made of a whole run.", "Leave out --only and --tag.")
    return plan.suite.baseline


def to_record(plan: Plan, only: str) -> list[tuple[Case, int]]:
    """Return what has to be recorded: "all", what is "missing", or also what has "changed".

    Changed is what the digests say, and what in replay asks for something that is not on the tape. Samples of
    one question follow one another: a server that keeps the prompt reads it once.
    """
    if only == "all":
        return list(plan.tasks)
    folder = wiring_evals.cassettes(plan.suite)
    found = preflight.check(folder, manifest.load(folder), wiring_evals.now(plan.spec, plan.every))
    names = preflight.again([one for one in found if only == "changed" or one.why == "missing"])
    needed = [task for task in plan.tasks if manifest.file_name(task[0].id, task[1]) in names]
    rest = [task for task in plan.tasks if task not in needed] if only == "changed" else []
    return needed + _not_on_tape(plan, rest)


def _not_on_tape(plan: Plan, tasks: Sequence[tuple[Case, int]]) -> list[tuple[Case, int]]:
    spec = replace(plan.spec, tape="replay")
    outcome = run.run(tasks, partial(wiring_evals.opened, spec, wiring_evals.silent)) if tasks else []
    return [
        task
        for task, row in zip(tasks, outcome, strict=True)
        if row.error and row.error["type"] == "TapeError"
    ]


def recorded(
    plan: Plan, todo: Sequence[tuple[Case, int]], note: Note, on_done: Callable[[Done], None]
) -> tuple[int, int]:
    """Record; return how many were written and how many failed."""
    wiring_evals.require_tools()
    written = failed = 0
    book = opened_book(plan)
    with wiring_evals.opened(replace(plan.spec, tape="off"), note) as (pipeline, _):
        for done in record.record(todo, pipeline, book):
            written, failed = written + (done.error is None), failed + (done.error is not None)
            on_done(done)
    return written, failed


def opened_book(plan: Plan) -> Book:
    """Return where the recordings of a plan go."""
    folder = wiring_evals.cassettes(plan.suite)
    return Book(
        folder=folder,
        kept=manifest.load(folder),
        open=wiring_evals.recorder(),
        now=wiring_evals.now(plan.spec, plan.every),
        prompts=Prompts(plan.spec.settings.prompts),
        versions={name: wiring_evals.versions()[name] for name in ("citerag", "openai", "vcrpy")},
    )


def error_code(result: Result) -> int | None:
    """Return the exit code that the errors of a run ask for: each that which ``rag ask`` would end with.

    A missing recording goes before all else; of the others the highest. None without errors.
    """
    # A class that is not of the family is a bug: the machine's fault rather than the user's.
    codes = {
        getattr(errors, row.error["type"], errors.EnvironmentFault).exit_code
        for row in result.errors
        if row.error
    }
    return TapeError.exit_code if TapeError.exit_code in codes else max(codes, default=None)


def tape_errors(result: Result) -> list[Row]:
    """Return the rows that found no recording: not wrong answers, but nothing to score (exit 3)."""
    return [row for row in result.errors if row.error and row.error["type"] == "TapeError"]


def pruned(plan: Plan) -> list[str]:
    """Delete recordings that no question asks for."""
    return record.prune(opened_book(plan))


def linted(ask: Ask) -> tuple[list[lint.Finding], int]:
    """Lint a gold set against the papers of a suite; return the faults, and how many cases there are."""
    plan = planned(ask)
    wiring_evals.build_index(plan.spec, wiring_evals.silent)
    found = gold.load(plan.suite.gold)
    with wiring.open_library(plan.spec.settings, wiring_evals.silent) as library:
        papers = {paper.key: paper for paper in library.papers()}
    return lint.lint(found, papers, wiring_evals.prompts_of(plan.spec.settings)), len(found)


def drafted(keys: Sequence[str], ask: Ask, per_paper: int) -> list[dict[str, Any]]:
    """Propose cases from papers of an index; all of them when none is named."""
    with wiring.open_library(own_settings(ask), wiring_evals.silent) as library:
        papers = [wiring.known(library, key) for key in keys] if keys else list(library.papers())
    return list(draft.draft(papers, per_paper))


def swept(result: Result, dial: str) -> list[sweep.Trial]:
    """Try values of a dial on stored scores."""
    if dial == "weight":
        return sweep.weights(result.rows, wiring_evals.tools().rank)
    if dial == "top":
        return sweep.tops(result.rows)
    if dial == "threshold":
        return sweep.thresholds(result.rows)
    raise UsageError(f"There is no dial {dial!r}.", "It is weight, top or threshold.")


def judged(name: str, labels: Path, live: bool) -> judge.Licence:
    """Have a judge grade the labelled answers, and say what licence that gives it.

    Args:
        live: ask for what is not recorded, and write the licence beside the recordings; without it nothing is
            written, and a missing or stale recording is a TapeError.
    """
    suite = suites.load(name, SUITES)
    files = sorted(labels.glob("*.jsonl")) if labels.is_dir() else [labels]
    found = judge.load_labels(files)
    settings = wiring_evals.settings_of(suite, None, layers.load({}))
    folder = wiring_evals.cassettes(suite)
    rubric = judge.rubric()

    def graded(label: judge.Label, *, replayed: bool) -> str | None:
        return judge.ask(wiring_evals.chat_model(settings, replayed=replayed), label, rubric)

    grades = []
    for label in found:
        path = folder / manifest.file_name(f"{label.case}-{label.reader}", 1, "judge")
        about = {"case": label.case, "stage": "judge", "model": settings.model}
        try:
            with wiring_evals.player()(path):
                grades.append(graded(label, replayed=True))
        except TapeError as error:
            if not live:
                raise TapeError(error.message, "Record it: rag eval judge --record.") from error
            with wiring_evals.recorder()(path, about):
                grades.append(graded(label, replayed=False))
    agreed = judge.agreement([label.grade for label in found], grades)
    if agreed is None:
        raise UsageError(f"{labels} holds no label that was graded.", "eval/README.md describes labels.")
    licence = judge.licence(str(settings.model), files, agreed)
    if live:
        judge.save(folder / "licence.json", licence)
    return licence
