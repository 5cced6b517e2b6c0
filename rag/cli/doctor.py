"""``rag doctor``: is everything in order?"""

from __future__ import annotations

import typer

from rag import doctor as checks
from rag.cli import options, output
from rag.cli.options import Index, JsonOnly

BROKEN = 4


def doctor(ctx: typer.Context, index: Index = None, json: JsonOnly = False) -> None:
    """Check Python, packages, settings, embedder, index and model server; every failure prints its fix.

    Exit code 4 when something is broken.
    """
    settings = options.settings(ctx, {"index": index})
    found = [check for examine in checks.ALL for check in examine(settings)]
    output.checks(found, checks.origins(settings), json)
    if any(check.status == "failed" for check in found):
        raise typer.Exit(BROKEN)
