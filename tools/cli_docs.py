"""Write docs/cli.md from the commands' own help texts; a test compares the two.

make docs
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from rag.cli import app

FILE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
INTRODUCTION = """\
# Commands

Written by `make docs` from the program's own help; `rag COMMAND --help` shows the same.
Settings and environment variables are in [settings.md](settings.md).
"""


def page() -> str:
    """Return the text of docs/cli.md."""
    parts = [f"## {' '.join(('rag', *words))}\n\n```text\n{help_of(words)}```\n" for words in commands()]
    return "\n".join([INTRODUCTION, *parts])


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, groups before what is in them."""

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield words
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*words, name))

    yield from walk(typer.main.get_command(app), ())


def help_of(words: tuple[str, ...]) -> str:
    result = CliRunner().invoke(app, [*words, "--help"], prog_name="rag", terminal_width=90)
    assert result.exit_code == 0, result.output
    return "\n".join(line.rstrip() for line in result.stdout.splitlines()) + "\n"


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(page(), encoding="utf-8")
