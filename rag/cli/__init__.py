"""The command ``rag``: one file per group of commands, each parsing words, calling ``wiring`` and printing.

Nothing here may import a heavy package, directly or not: ``rag --help`` has to answer at once.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rag import __version__
from rag.cli import ask, chat, doctor, eval, fetch, index, ingest, papers, search, sessions
from rag.cli.guard import Guarded
from rag.cli.options import Index, State

app = typer.Typer(
    name="rag",
    cls=Guarded,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(ask.ask)
app.command()(chat.chat)
app.command()(search.search)
app.command()(ingest.ingest)
app.add_typer(fetch.app, name="fetch")
app.add_typer(papers.app, name="papers")
app.add_typer(sessions.app, name="sessions")
app.add_typer(index.app, name="index")
app.add_typer(eval.app, name="eval")
app.command()(doctor.doctor)


def main() -> None:
    """Run the command line; what ``rag`` and ``python -m rag`` call."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A paper's accents must not kill the program where the locale knows only ASCII, nor a question's
            # that come in another encoding.
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="rag")
    except KeyboardInterrupt:
        sys.exit(130)


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"rag {__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    *,
    index: Index = None,
    chroma_url: Annotated[
        str | None,
        typer.Option(
            "--chroma-url",
            metavar="URL",
            help="Chroma server that holds the index, instead of a folder.",
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No remarks on stderr, only errors.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Ask a pile of paper abstracts; every sentence of an answer is checked against the paper it cites.

    \b
    rag ask "How does ReVISE verify its own reasoning?"
    rag chat
    rag search "model editing" --year 2025
    rag ingest ~/papers
    rag papers list

    Without an index of your own, a bundled sample of 38 papers is used. Exit codes: 0 answered or done,
    2 usage, 4 environment or model server, 5 not answered from the papers, 130 interrupted.
    """
    ctx.obj = State(index=index, quiet=quiet, chroma_url=chroma_url)
