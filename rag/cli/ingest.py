"""``rag ingest``: add or refresh papers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag import wiring
from rag.cli import options, output
from rag.cli.options import Index, JsonOnly
from rag.errors import RagError, UsageError

if TYPE_CHECKING:
    from rag.index.report import SyncReport

FAILED = 2


def ingest(
    ctx: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Files or folders; - reads a pipe.", show_default=False),
    ],
    *,
    index: Index = None,
    map_: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=COLUMN", help="Where a table calls it otherwise.", show_default=False
        ),
    ] = None,
    catalog: Annotated[
        Path | None,
        typer.Option(
            "--catalog",
            metavar="FILE",
            help="Titles for bare abstracts.",
            show_default=False,
        ),
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Drop what --map and --catalog said of these paths before.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be read, change nothing.")
    ] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Remove papers whose file is gone.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 2 if any record could not be read.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on, and ingest again whenever a file changes.")
    ] = False,
    json: JsonOnly = False,
) -> None:
    """Add papers from files, or bring the index up to date with files that changed.

    \b
    rag ingest ~/papers
    rag ingest library.bib abstracts.txt --index ./my-index
    rag ingest export.csv --map title=Name --map abstract=Summary --dry-run
    rag ingest abstracts.txt --catalog titles.jsonl
    rag ingest ~/papers --prune --watch

    Running it again re-reads only what changed. A record that cannot be read is listed and never stops the
    others. What --map and --catalog say of a file or folder holds until they say something else.
    """
    options.require_one(dry_run=dry_run, strict=strict, watch=watch)
    settings = options.settings(ctx, {"index": index})
    told = wiring.Told(mapping(map_) if map_ else None, catalog, forget)
    note = options.note(ctx)
    if dry_run:
        output.described(wiring.describe(settings, paths, told), json)
        return

    def once() -> SyncReport:
        return wiring.ingest(settings, paths, note, prune=prune, told=told)

    if watch:
        watching(wiring.changes(settings, paths), once, json, note)
        return
    report = once()
    output.ingested(report, json, note)
    if strict and report.failed:
        raise typer.Exit(FAILED)


def watching(
    changes: Iterable[None], once: Callable[[], SyncReport], json: bool, note: Callable[[str], None]
) -> None:
    """Ingest after every change until Ctrl-C; only a first time that fails is the end."""
    began = False
    for _ in changes:
        try:
            report = once()
        except RagError as error:
            if not began:
                raise
            output.error(error)
            continue
        if not began or report.added or report.changed or report.removed or report.failed:
            output.ingested(report, json, note)
        if not began:
            note("Watching for changes; Ctrl-C ends.")
        began = True


def mapping(pairs: list[str]) -> dict[str, str]:
    """Turn ``["title=Name"]`` into ``{"title": "Name"}``.

    Raises:
        UsageError: a pair without "=".
    """
    split = [pair.partition("=") for pair in pairs]
    bad = next((field + sign + name for field, sign, name in split if not (field and name)), None)
    if bad is not None:
        raise UsageError(f"Bad --map {bad!r}.", "Write FIELD=COLUMN, for example title=Name.")
    return {field.strip(): name.strip() for field, _, name in split}
