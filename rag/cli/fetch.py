"""``rag fetch``: papers from the services that publish them, into files for ``rag ingest``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag import values, wiring
from rag.cli import options, output
from rag.cli.options import JsonOnly
from rag.render import contract

if TYPE_CHECKING:
    from rag.fetch import Report

app = typer.Typer(no_args_is_help=True, help="Fetch abstracts from arXiv, OpenReview or Semantic Scholar.")
MOST_MISSING = 10
# What ``rag.fetch.arxiv`` calls MOST, and a test compares it: to import that would cost every command 0.04 s.
MOST_OF_ARXIV = 30_000
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Where to; named after the request.", show_default=False
    ),
]
Again = Annotated[
    bool, typer.Option("--again", help="Ask even if fetched within a day; replace another request's file.")
]


@app.callback()
def root() -> None:
    """Fetch abstracts into a file of JSON lines, to be read with rag ingest.

    \b
    rag fetch arxiv retrieval augmented generation --max 200
    rag fetch openreview ICML.cc/2025/Conference
    rag fetch s2 10.18653/v1/N18-3011 1706.03762 && rag ingest s2-*.jsonl

    A fetch that was stopped goes on when the same command is run again.
    """


@app.command()
def arxiv(
    ctx: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY|IDS", parser=values.legible, help="Words, a query, or arXiv ids; - reads ids."
        ),
    ],
    *,
    most: Annotated[
        int, typer.Option("--max", min=1, max=MOST_OF_ARXIV, help="Most results of a query.")
    ] = 1000,
    newest: Annotated[bool, typer.Option("--newest", help="Latest first, not best match first.")] = False,
    out: Out = None,
    again: Again = False,
    json: JsonOnly = False,
) -> None:
    """Fetch papers of arXiv by identifier or by query.

    \b
    rag fetch arxiv 2502.14565 2411.07279
    rag fetch arxiv "test-time training"
    rag fetch arxiv 'cat:cs.CL AND ti:retrieval' --newest
    """
    settings, note = options.settings(ctx, {}), options.note(ctx)
    report = wiring.fetch_arxiv(settings, _words(words), out, note, most=most, newest=newest, again=again)
    _print(ctx, report, json)


@app.command()
def openreview(
    ctx: typer.Context,
    venue: Annotated[
        str,
        typer.Argument(metavar="VENUE_ID", parser=values.legible, help="As in the address of its page."),
    ],
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what was not accepted, where it is public.")
    ] = False,
    out: Out = None,
    again: Again = False,
    json: JsonOnly = False,
) -> None:
    """Fetch the papers of a venue from OpenReview, for example ICML.cc/2025/Conference."""
    settings, note = options.settings(ctx, {}), options.note(ctx)
    report = wiring.fetch_openreview(settings, venue, out, note, everything=everything, again=again)
    _print(ctx, report, json)


@app.command()
def s2(
    ctx: typer.Context,
    ids: Annotated[
        list[str], typer.Argument(metavar="IDS", help="DOIs, arXiv ids, addresses, ...; - reads them.")
    ],
    *,
    out: Out = None,
    again: Again = False,
    json: JsonOnly = False,
) -> None:
    """Fetch papers from Semantic Scholar by identifier.

    \b
    rag fetch s2 10.18653/v1/N18-3011 1706.03762 PMID:19872477
    rag fetch s2 - --out references.jsonl < dois.txt
    """
    report = wiring.fetch_s2(options.settings(ctx, {}), _words(ids), out, options.note(ctx), again=again)
    _print(ctx, report, json)


def _words(given: list[str]) -> list[str]:
    return sys.stdin.read().split() if given == ["-"] else given


def _print(ctx: typer.Context, report: Report, json: bool) -> None:
    note = options.note(ctx)
    for name in report.missing[:MOST_MISSING]:
        note(f"Not there: {name}")
    if len(report.missing) > MOST_MISSING:
        note(f"Not there: {len(report.missing) - MOST_MISSING} more (all are in the output of --json).")
    if json:
        output.text(contract.dumps(asdict(report)))
        return
    if not report.fetched:
        note("Fetched within a day already; --again asks anew.")
    earlier = f" ({report.kept:,} from an earlier run)" if report.fetched and report.kept else ""
    output.text(f"{report.records:,} papers in {report.file}{earlier}. Next: rag ingest {report.file}")
