"""Runs the questions of a suite, one after another or over several processes, and keeps their order.

    rows = run(tasks, build, jobs=2, on_row=lambda row: print(row.case))

``build`` makes the pipeline and is called once in each process, so it must be importable there (a function
of a module, or ``functools.partial`` of one). Processes and not threads: a cassette takes hold of its whole
process. What fails when it is opened ends the run, in whichever process that is.
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack
from typing import ClassVar

from rag.errors import EnvironmentFault, RagError
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

    Raises:
        RagError: the pipeline cannot be opened.
        EnvironmentFault: a process was ended from outside.
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
    # Not multiprocessing.Pool: it starts a process that died anew, for ever, and waits for its lost task.
    with ProcessPoolExecutor(jobs, context, _Worker.start, (build,)) as pool:
        try:
            yield from pool.map(_Worker.one, tasks, chunksize=4)
        except BrokenProcessPool as error:
            raise EnvironmentFault(
                "A process of the run ended by itself; perhaps the memory was full.", "Try fewer: -j 1."
            ) from error


class _Worker:
    """The pipeline of a worker process: there is no other way to hand it from its start to its tasks.

    A start that fails must not raise, or the reason would not reach the user: the first task does.
    """

    open: ClassVar[ExitStack]
    at: ClassVar[tuple[Pipeline, Tools]]
    failed: ClassVar[Exception | None] = None

    @classmethod
    def start(cls, build: Build) -> None:
        # Ctrl-C in a terminal reaches every process: this one then ends at once, without a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        cls.open = ExitStack()
        try:
            cls.at = cls.open.enter_context(build())
        except RagError as error:
            cls.failed = error
        except Exception:  # noqa: BLE001 - a bug; of any class, and not all of these can be sent
            cls.failed = RuntimeError(traceback.format_exc())

    @classmethod
    def one(cls, task: Task) -> Row:
        if cls.failed:
            raise cls.failed
        return ask(*task, *cls.at)
