"""How far a long piece of work is: a bar for a person, a line a minute for a log, nothing if it is soon done.

with bar("Ingesting") as told:
    told(256, 3340)          # 256 of 3340; told(256, 0) while nobody knows of how many
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

Told = Callable[[int, int], None]
EVERY = 60.0


@contextmanager
def bar(label: str) -> Iterator[Told]:
    """Show a bar with rate and time left on stderr; it vanishes at the end."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total or None)


class _Rate(ProgressColumn):
    """Pieces a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.0f}/s" if task.speed else "", style="dim")


@contextmanager
def log(
    label: str, note: Callable[[str], None], clock: Callable[[], float] = time.monotonic
) -> Iterator[Told]:
    """Write a line a minute."""
    began = last = clock()
    first = of = 0

    def told(done: int, total: int) -> None:
        nonlocal began, last, first, of
        now = clock()
        if total != of:  # another stage, with a rate of its own
            began, first, of = now, done, total
        if now - last >= EVERY and done > first and now > began:
            last = now
            rate = (done - first) / (now - began)
            left = f" of {total:,}, {(total - done) / rate / 60:.0f} min left" if total else ""
            note(f"{label}: {done:,}{left}, {rate:.0f} a second")

    yield told
