"""``rag eval``: score answers against a gold set, compare runs, gate a build, record a model's replies.

Only the words of the commands are here. What they do is imported when one of them runs: the evals must not
make an ordinary question wait.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag.cli import options
from rag.cli.options import Index, JsonOnly
from rag.errors import UsageError

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
    json: JsonOnly = False,
) -> None:
    """Ask the questions of a suite and score the answers.

    \b
    rag eval run extractive --gate              # what CI does; exit 1 if it got worse
    rag eval run model -j 2 --html report.html  # from recordings; exit 3 if they are stale
    rag eval run --gold mine.jsonl --index DIR  # your own questions about your own papers

    If answers end in an error, the result is written all the same; then the exit code is that of the error,
    4 for a model server that fails.
    """
    from rag.cli import eval_work as work

    place = options.place(ctx, index)
    ask = work.Ask(suite, gold or (), place.index, only or (), tag or (), chroma_url=place.chroma_url)
    wishes = work.Wishes(jobs, live, gate, update_baseline, name, out, html, junit, json)
    work.run(ask, wishes, options.note(ctx))


@app.command()
def compare(
    ctx: typer.Context,
    before: Annotated[Path, typer.Argument(metavar="A", help="Result of the earlier run.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="Result of the later run.")],
    *,
    html: Html = None,
) -> None:
    """Compare two runs: what got better and worse, and whether it is more than chance."""
    from rag.cli import eval_work as work

    _without_place(ctx, "it reads only results")
    work.compare(before, after, html, options.note(ctx))


@app.command()
def report(
    ctx: typer.Context,
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="Result of a run.")],
    *,
    against: Annotated[Path | None, _option("--against", "A", "Result of an earlier run.")] = None,
    html: Html = None,
    junit: Junit = None,
    summary: Annotated[Path | None, _option("--summary", "FILE", "Write Markdown.")] = None,
) -> None:
    """Make the HTML report of a run: one file, nothing fetched. Without --html, beside the result."""
    from rag.cli import eval_work as work

    _without_place(ctx, "it reads only results")
    work.report(result, against, options.note(ctx), html=html, junit=junit, summary=summary)


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
    from rag.cli import eval_work as work

    _without_place(ctx, "replies are recorded over the papers of the suite")
    ask = work.Ask(suite, only=case or ())
    work.record(ask, options.note(ctx), only=only, most=most, prune=prune, dry_run=dry_run)


@app.command()
def lint(
    ctx: typer.Context,
    gold: Annotated[list[Path] | None, typer.Argument(metavar="GOLD", help="Files or folders.")] = None,
    *,
    suite: Annotated[str | None, _option("--suite", "SUITE", "Whose papers, whose gold set.")] = None,
    index: Index = None,
) -> None:
    """Check a gold set for faults that would make its scores lie; exit 1 if there are any."""
    from rag.cli import eval_work as work

    place = options.place(ctx, index)
    name = suite if suite or gold else "extractive"
    work.lint(work.Ask(name, gold or (), place.index, chroma_url=place.chroma_url), options.note(ctx))


@app.command()
def draft(
    ctx: typer.Context,
    papers: Annotated[list[str] | None, typer.Argument(metavar="KEY", help="Papers.  [default: all]")] = None,
    *,
    index: Index = None,
    most: Annotated[int, typer.Option("--per-paper", metavar="N", help="Cases of each paper.")] = 2,
) -> None:
    """Propose gold cases from papers, as JSONL to edit: facts and evidence are ready, questions are not."""
    from rag.cli import eval_work as work

    place = options.place(ctx, index)
    work.draft(papers or (), work.Ask(index=place.index, chroma_url=place.chroma_url), most)


@app.command()
def sweep(
    ctx: typer.Context,
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="Result of a run.")],
    *,
    dial: Annotated[str, typer.Option("--dial", metavar="DIAL", help="weight, top or threshold.")] = "weight",
) -> None:
    """Try values of a dial on the stored scores of a run: no new call, tune half only."""
    from rag.cli import eval_work as work

    _without_place(ctx, "it reads only results")
    work.sweep(result, dial)


@app.command()
def judge(
    ctx: typer.Context,
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
    from rag.cli import eval_work as work

    _without_place(ctx, "labels carry the answers they grade")
    work.judge(suite, labels, record)


def _without_place(ctx: typer.Context, why: str) -> None:
    """Refuse an index named for the whole program where it could only be ignored."""
    place = options.place(ctx)
    if place.index or place.chroma_url:
        option = "--index" if place.index else "--chroma-url"
        raise UsageError(f"rag eval {ctx.info_name} takes no {option}: {why}.", f"Leave {option} out.")
