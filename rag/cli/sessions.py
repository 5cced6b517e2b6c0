"""``rag sessions``: the conversations held so far."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag.cli import options, output
from rag.errors import UsageError
from rag.render import contract
from rag.wiring import chat as wiring_chat

app = typer.Typer(invoke_without_command=True, help="List, show, search, export or delete conversations.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name or number, as rag sessions list shows it.")]
Form = Annotated[
    Literal["md", "json", "bib"] | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help="md, json or bib.  [default: as FILE ends, else md]",
        show_default=False,
    ),
]


@app.callback()
def default(ctx: typer.Context) -> None:
    """List, show, search, export or delete conversations.

    \b
    rag sessions
    rag sessions show 3
    rag sessions search "preference sampling"
    rag sessions export 3 notes.md
    """
    if ctx.invoked_subcommand is None:
        list_(ctx)


@app.command("list")
def list_(ctx: typer.Context, json: options.JsonOnly = False) -> None:
    """List the conversations, the one used last first; in a pipe tab-separated."""
    with wiring_chat.store(options.settings(ctx, {})) as store:
        rows = store.rows()
        if json:
            output.text(contract.dumps({"sessions": [asdict(row) for row in rows]}))
        elif sys.stdout.isatty():
            output.lines(wiring_chat.listed(rows))
        else:
            output.text(wiring_chat.tabbed(rows))


@app.command()
def show(ctx: typer.Context, name: Name) -> None:
    """Show a conversation as it was."""
    with wiring_chat.store(options.settings(ctx, {})) as store:
        output.lines(wiring_chat.shown(store, store.find(name).id))


@app.command()
def search(
    ctx: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="Words to look for.")],
) -> None:
    """Find the turns in which all of the words were said."""
    with wiring_chat.store(options.settings(ctx, {})) as store:
        output.lines(wiring_chat.found(store, " ".join(words)))


@app.command()
def export(
    ctx: typer.Context,
    name: Name,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Default: stdout.")] = None,
    form: Form = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a conversation as Markdown, JSON or the BibTeX of what it cites; a file's ending says which."""
    with wiring_chat.store(options.settings(ctx, {})) as store:
        text = wiring_chat.exported(store, store.find(name).id, file, form, over=force)
    if file is None:
        output.text(text)


@app.command()
def delete(
    ctx: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Names or numbers.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete conversations for good."""
    with wiring_chat.store(options.settings(ctx, {})) as store:
        rows = [store.find(name) for name in names]
        listed = ", ".join(row.name for row in rows)
        if not yes and not _agreed(f"Delete {listed}?"):
            raise UsageError("Nothing was deleted.", "To delete without being asked: --yes")
        for row in rows:
            store.delete(row.id)
    output.text(f"Deleted {listed}.")


def _agreed(question: str) -> bool:
    """Ask whoever is at stdin; its end is a no, and Ctrl-C what it is everywhere."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    said = sys.stdin.readline()
    if not said.endswith("\n"):
        sys.stderr.write("\n")
    return said.strip().lower() in ("y", "yes")
