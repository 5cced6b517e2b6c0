"""``rag index``: look after the stored index."""

from __future__ import annotations

import typer

from rag import wiring
from rag.cli import options, output
from rag.cli.options import Index

app = typer.Typer(no_args_is_help=True, help="Verify or rebuild the stored index.")


@app.callback()
def root() -> None:
    """Verify or rebuild the stored index."""


@app.command()
def verify(ctx: typer.Context, index: Index = None) -> None:
    """Compare records, vectors and keyword index, and repair what differs from the records."""
    found = wiring.verify(options.settings(ctx, {"index": index}), options.note(ctx))
    for problem in found.problems:
        output.text(problem)
    output.text("Repaired." if found.repaired else "Everything agrees.")


@app.command()
def rebuild(ctx: typer.Context, index: Index = None) -> None:
    """Make vectors and keyword index anew from the stored records, for example for another embedder."""
    report = wiring.rebuild(options.settings(ctx, {"index": index}), options.note(ctx))
    output.text(f"Rebuilt: {report.papers:,} papers ({report.seconds:.1f} s).")
