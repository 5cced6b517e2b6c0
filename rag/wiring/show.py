"""What is printed through packages that a plain answer does not need; part of ``rag.wiring``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag.records import Paper

if TYPE_CHECKING:
    from rag.render.layout import Line
    from rag.render.terminal import Flow


def bibtex(papers: Sequence[Paper]) -> str:
    """Return BibTeX entries."""
    from rag.render.bibtex import entries

    return entries(papers)


def terminal_lines(lines: Sequence[Line]) -> None:
    """Print laid-out lines in colour."""
    from rich.console import Console

    from rag.render import terminal

    terminal.show(Console(highlight=False), lines)


def terminal_flow() -> Flow:
    """Make a printer for sentences that come one by one."""
    from rich.console import Console

    from rag.render import terminal

    return terminal.Flow(Console(highlight=False))


def terminal_table(papers: Sequence[Paper]) -> None:
    """Print a table of papers in colour."""
    from rich.console import Console

    from rag.render import terminal

    terminal.table(Console(highlight=False), papers)
