"""Options that several commands share, as annotated types; and the state of the whole command line.

def search(ctx: typer.Context, question: Question, index: Index = None, venue: Venue = None): ...
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag import values
from rag.errors import UsageError
from rag.records import Filters
from rag.render.safe import line
from rag.settings import Settings, load

Format = Literal["text", "markdown", "json", "bibtex"]

Question = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="QUESTION",
        parser=values.legible,
        help="The question; quotes are optional. - reads it from stdin.",
        show_default=False,
    ),
]
Index = Annotated[
    Path | None, typer.Option("--index", "-i", metavar="DIR", help="Index folder.", show_default=False)
]
Venue = Annotated[
    list[str] | None,
    typer.Option(
        "--venue",
        metavar="NAME",
        parser=values.legible,
        help="Only papers of this venue, as ICML or in full; repeatable.",
        show_default=False,
    ),
]
Year = Annotated[
    list[str] | None,
    typer.Option(
        "--year", metavar="YEARS", help="2024, 2020-2024 or '>=2024'; repeatable.", show_default=False
    ),
]
Author = Annotated[
    list[str] | None,
    typer.Option(
        "--author",
        metavar="NAME",
        parser=values.legible,
        help="Only papers by this author; repeatable.",
        show_default=False,
    ),
]
Paper = Annotated[
    list[str] | None,
    typer.Option(
        "--paper",
        metavar="KEY",
        parser=values.legible,
        help="Only this paper; repeatable.",
        show_default=False,
    ),
]
Output = Annotated[
    Format, typer.Option("--format", "-f", help="text, markdown, json or bibtex.", metavar="FORMAT")
]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.", show_default=False)]
JsonOnly = Annotated[bool, typer.Option("--json", help="Print JSON.", show_default=False)]


def remark(text: str) -> None:
    """Write a remark to stderr."""
    sys.stderr.write(line(text) + "\n")
    sys.stderr.flush()


def silence(text: str) -> None:
    """Swallow a remark."""


@dataclass(frozen=True, slots=True)
class State:
    """What was given before the command: ``rag --index DIR ask ...``."""

    index: Path | None = None
    quiet: bool = False
    chroma_url: str | None = None


def settings(ctx: typer.Context, given: Mapping[str, object]) -> Settings:
    """Load the settings; a command's own --index goes before the program's."""
    state: State = ctx.obj
    index = given.get("index") or state.index
    return load({**given, "index": index, "chroma_url": state.chroma_url})


def place(ctx: typer.Context, index: Path | None = None) -> State:
    """Return the state with the index that is meant: a command's own goes before the program's."""
    state: State = ctx.obj
    return replace(state, index=index or state.index)


def note(ctx: typer.Context) -> Callable[[str], None]:
    """Where remarks go: to stderr, or nowhere after ``--quiet``."""
    state: State = ctx.obj
    return silence if state.quiet else remark


def filters(
    venue: Sequence[str] | None,
    year: Sequence[str] | None,
    author: Sequence[str] | None,
    paper: Sequence[str] | None,
) -> Filters:
    """Make filters of option values.

    Raises:
        UsageError: a year that is none.
    """
    return Filters(
        venues=tuple(venue or ()),
        years=tuple(_years(text) for text in year or ()),
        authors=tuple(author or ()),
        papers=tuple(paper or ()),
    )


def _years(text: str) -> tuple[int, int]:
    try:
        return values.years(text)
    except ValueError as error:
        raise UsageError(f"Bad --year {text!r}: it {error}.") from None


def question(words: Sequence[str] | None) -> str:
    """Return the question from the command line or, for ``-`` or nothing, from a pipe.

    Raises:
        UsageError: there is none.
    """
    from_pipe = list(words or ()) == ["-"] or (not words and not sys.stdin.isatty())
    text = sys.stdin.read() if from_pipe else " ".join(words or ())
    if not text.strip():
        raise UsageError("There is no question.", 'Try: rag ask "What is SpecPrefill?"')
    return " ".join(text.split())


def require_one(**given: object) -> None:
    """Refuse options of which only one can be heeded: ``require_one(watch=watch, strict=strict)``.

    Raises:
        UsageError: more than one is given.
    """
    names = [f"--{name.rstrip('_').replace('_', '-')}" for name, value in given.items() if value]
    if len(names) > 1:
        raise UsageError(f"{' and '.join(names)} exclude each other.", "Keep one of them.")


def chosen(output: Format, json: bool) -> Format:
    """Return the format asked for, ``--json`` being short for one of them."""
    if json and output not in ("text", "json"):
        raise UsageError(f"--json and --format {output} exclude each other.", "Keep one of them.")
    return "json" if json else output
