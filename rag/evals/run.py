"""Runs the questions of a suite, one after another or over several processes, and keeps their order.

    rows = run(tasks, build, jobs=2, on_row=lambda row: print(row.case))

``build`` makes the pipeline and is called once in each process, so it must be importable there (a function
of a module, or ``functools.partial`` of one). Processes and not threads: a cassette takes hold of its whole
process.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import ClassVar

from rag.evals.cases import Case
from rag.evals.pipeline import Pipeline
from rag.evals.rows import Row, Tools, ask

Task = tuple[Case, int]
Build = Callable[[], AbstractContextManager[tuple[Pipeline, Tools]]]


def run(
    tasks: Sequence[Task], build: Build, jobs: int = 1, on_row: Callable[[Row], None] | None = None
) -> list[Row]:
    """Ask all tasks.

    Args:
        tasks: cases with the number of the sample.
        build: opens the pipeline.
        jobs: processes; 1 works in this one.
        on_row: told each row as it comes, in the order of the tasks.
    """
    rows = []
    for row in _here(tasks, build) if jobs <= 1 else _spread(tasks, build, min(jobs, len(tasks))):
        rows.append(row)
        if on_row:
            on_row(row)
    return rows


def _here(tasks: Sequence[Task], build: Build) -> Iterator[Row]:
    with build() as (pipeline, tools):
        for case, sample in tasks:
            yield ask(case, sample, pipeline, tools)


def _spread(tasks: Sequence[Task], build: Build, jobs: int) -> Iterator[Row]:
    context = multiprocessing.get_context("spawn")  # forked, the embedder's threads would be missing
    with context.Pool(jobs, _Worker.start, (build,)) as pool:
        yield from pool.imap(_Worker.one, tasks, chunksize=4)
        pool.close()
        pool.join()


class _Worker:
    """The pipeline of a worker process: there is no other way to hand it from its start to its tasks."""

    open: ClassVar[ExitStack]
    at: ClassVar[tuple[Pipeline, Tools]]

    @classmethod
    def start(cls, build: Build) -> None:
        cls.open = ExitStack()
        cls.at = cls.open.enter_context(build())

    @classmethod
    def one(cls, task: Task) -> Row:
        return ask(*task, *cls.at)
