"""``rag chat``: a conversation with the pile."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated

import typer

from rag.cli import options
from rag.cli.options import Author, Index, Paper, Question, Venue, Year
from rag.wiring import chat as wiring_chat

FAILED = 4


def chat(
    ctx: typer.Context,
    question: Question = None,
    *,
    last: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the last conversation.")] = False,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", "-s", metavar="NAME", help="Go on with this one, or begin it.", show_default=False
        ),
    ] = None,
    no_save: Annotated[bool, typer.Option("--no-save", help="Keep nothing on disk.")] = False,
    vi: Annotated[
        bool | None,
        typer.Option("--vi/--emacs", help="Keys.  [default: those of ~/.inputrc]", show_default=False),
    ] = None,
    index: Index = None,
    venue: Venue = None,
    year: Year = None,
    author: Author = None,
    paper: Paper = None,
    top: Annotated[
        int | None, typer.Option("--top", "-k", metavar="N", help="Papers to read.", show_default=False)
    ] = None,
    mode: Annotated[
        str | None, typer.Option("--mode", metavar="MODE", help="extractive or model.", show_default=False)
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="NAME", help="Model to write.", show_default=False)
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="OpenAI-compatible server.", show_default=False),
    ] = None,
) -> None:
    """Talk with the papers: follow-up questions are understood, answers checked, everything is saved.

    \b
    rag chat
    rag chat "How does ReVISE verify its own reasoning?"
    rag chat -c                                    # go on with the last conversation
    printf 'What is PILAF?\\nIs that hard to implement?\\n' | rag chat

    /help there lists the commands. Ctrl-C stops an answer, Ctrl-D leaves. From a pipe each line is a question
    or a command; the exit code is 4 if one of them failed.
    """
    options.require_one(continue_=last, session=session, no_save=no_save)
    given = {"index": index, "top": top, "mode": mode, "model": model, "base_url": base_url}
    settings = options.settings(ctx, given)
    filters = options.filters(venue, year, author, paper)
    with ExitStack() as stack:
        desk = stack.enter_context(wiring_chat.desk(settings, save=not no_save, name=session))
        if resumed := wiring_chat.to_resume(desk.talk.store, last, session):
            desk.resume(resumed)
            if mode or model or base_url:
                desk.talk.dials = replace(desk.talk.dials, mode=settings.mode, model=settings.model)
        if filters:
            desk.restrict(filters)
        first = " ".join(question or ())
        fine = wiring_chat.talk(desk, settings, first=first, vi=vi, save=not no_save)
    if not fine:
        raise typer.Exit(FAILED)
