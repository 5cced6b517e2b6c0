"""``rag ask``: one question, one checked answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag import wiring
from rag.cli import options, output
from rag.cli.options import Author, Index, Json, Output, Paper, Question, Venue, Year

NOT_ANSWERED = 5


def ask(
    ctx: typer.Context,
    question: Question = None,
    *,
    index: Index = None,
    venue: Venue = None,
    year: Year = None,
    author: Author = None,
    paper: Paper = None,
    style: Output = "text",
    json: Json = False,
    quotes: Annotated[bool, typer.Option("--quotes", help="Show the words each sentence rests on.")] = False,
    top: Annotated[
        int | None,
        typer.Option("--top", "-k", metavar="N", help="Papers to read.  [default: 8]", show_default=False),
    ] = None,
    mode: Annotated[
        str | None, typer.Option("--mode", metavar="MODE", help="extractive or model.", show_default=False)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME", help="Model to write the answer.", show_default=False),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="OpenAI-compatible server.", show_default=False),
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            "--prompts", metavar="DIR", help="Folder of prompts that replace ours.", show_default=False
        ),
    ] = None,
    verify: Annotated[
        str | None,
        typer.Option("--verify", metavar="HOW", help="lexical, model or off.", show_default=False),
    ] = None,
    depth: Annotated[
        str | None,
        typer.Option("--depth", metavar="HOW", help="quick, normal or deep.", show_default=False),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", metavar="USD", help="Refuse to spend more.", show_default=False),
    ] = None,
    keep_unsupported: Annotated[
        bool, typer.Option("--keep-unsupported", help="Show sentences that failed the check, struck out.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show papers, tokens and price; ask no model.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not use stored replies of the model.")] = False,
) -> None:
    """Answer a question from the papers, each sentence with the paper it rests on.

    \b
    rag ask "How does ReVISE verify its own reasoning?" --quotes
    rag ask what is known about model editing --year '>=2024' --json
    rag ask "Compare AnyEdit and AlphaEdit" --model qwen2.5:7b --base-url http://127.0.0.1:11434/v1
    echo "What is SpecPrefill?" | rag ask -

    Without a model, the answer consists of sentences quoted from the papers; with one (--model, --base-url or
    a key), the model writes and the program checks. Exit code 5 means: not answered from these papers.
    """
    style = options.chosen(style, json)
    settings = options.settings(
        ctx,
        {
            "index": index,
            "top": top,
            "mode": mode,
            "model": model,
            "base_url": base_url,
            "prompts": prompts,
            "verify": verify,
            "depth": depth,
            "max_cost": max_cost,
            "keep_unsupported": keep_unsupported or None,
        },
    )
    text = options.question(question)
    filters = options.filters(venue, year, author, paper)
    if dry_run:
        output.plan(wiring.plan(text, filters, settings, options.note(ctx)), style)
        return
    shown = output.Answering(settings.mode, style, quotes)
    shown.waiting(settings.model, options.note(ctx))
    try:
        result = wiring.ask(text, filters, settings, options.note(ctx), shown.sentence, fresh=fresh)
    except KeyboardInterrupt as stop:
        shown.interrupted(stop)
        raise
    shown.end(result)
    options.note(ctx)(output.summary(result))
    if result.status == "abstained":
        raise typer.Exit(NOT_ANSWERED)
