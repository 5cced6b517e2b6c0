"""``rag papers``: what is in the pile."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from rag import values, wiring
from rag.cli import options, output
from rag.cli.options import Author, Index, Json, Output, Venue, Year

app = typer.Typer(invoke_without_command=True, help="List, show or remove the papers of the pile.")
Keys = Annotated[
    list[str],
    typer.Argument(metavar="KEY...", parser=values.legible, help="Keys, as rag papers list shows them."),
]


@app.callback()
def default(ctx: typer.Context, index: Index = None) -> None:
    """List, show or remove the papers of the pile.

    \b
    rag papers
    rag papers list --year 2025 --format bibtex
    rag papers show lee2025revise
    """
    if index is not None:
        ctx.obj = replace(ctx.obj, index=index)
    if ctx.invoked_subcommand is None:
        list_(ctx)


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    index: Index = None,
    venue: Venue = None,
    year: Year = None,
    author: Author = None,
    style: Output = "text",
    json: Json = False,
) -> None:
    """List papers: key, year and title; in a pipe tab-separated with the venue."""
    style = options.chosen(style, json)
    filters = options.filters(venue, year, author, None)
    with wiring.open_library(options.settings(ctx, {"index": index}), options.note(ctx)) as library:
        wiring.heed(library, filters, options.note(ctx))
        output.papers(list(library.papers(filters)), style)


@app.command()
def show(
    ctx: typer.Context, keys: Keys, index: Index = None, style: Output = "text", json: Json = False
) -> None:
    """Show everything known about papers, abstracts included."""
    style = options.chosen(style, json)
    with wiring.open_library(options.settings(ctx, {"index": index}), options.note(ctx)) as library:
        found = [wiring.known(library, key) for key in keys]
    output.shown(found, style)


@app.command()
def remove(ctx: typer.Context, keys: Keys, index: Index = None) -> None:
    """Remove papers from the index; their files are not touched, so ingesting those adds them again."""
    report = wiring.remove(options.settings(ctx, {"index": index}), keys, options.note(ctx))
    output.text(f"{report.removed} removed; {report.papers:,} papers in the index.")
