"""``rag search``: ranked papers, no answer."""

from __future__ import annotations

from typing import Annotated

import typer

from rag import wiring
from rag.cli import options, output
from rag.cli.options import Author, Index, Json, Output, Paper, Question, Venue, Year


def search(
    ctx: typer.Context,
    question: Question = None,
    *,
    index: Index = None,
    top: Annotated[int, typer.Option("--top", "-k", metavar="N", min=1, help="Papers to list.")] = 10,
    venue: Venue = None,
    year: Year = None,
    author: Author = None,
    paper: Paper = None,
    style: Output = "text",
    json: Json = False,
) -> None:
    """Rank papers by how well they fit a question or a few words.

    \b
    rag search "preference drift"
    rag search time to first token --top 3 --json
    rag search "reasoning" --year '>=2024' --format bibtex > reasoning.bib
    """
    style = options.chosen(style, json)
    text = options.question(question)
    filters = options.filters(venue, year, author, paper)
    settings = options.settings(ctx, {"index": index})
    with wiring.open_pile(settings, options.note(ctx), once=True) as pile:
        wiring.heed(pile.store, filters, options.note(ctx))
        output.search(text, pile.retriever.search(text, top, filters), pile.info, style)
