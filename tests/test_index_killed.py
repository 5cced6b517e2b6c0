"""A writer that is killed at any moment costs nothing: the next run ends where an uninterrupted one would."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from index_pile import found, ingest, paper, state, write

from rag.errors import EnvironmentFault
from rag.index.library import Library

Start = Callable[[Path, Path], Any]
RUNS, AT_ONCE = 20, 2
OLD = [paper(n) for n in range(40)]
# Some changed, some gone, many new, enough for several commits of vectors and writes to Chroma.
NEW = [*(paper(n, year=2026) for n in range(10)), *(paper(n) for n in range(20, 290))]


QUESTION = "What does System287 do for tabular data?"


@pytest.fixture(scope="module")
def processes() -> Iterator[multiprocessing.context.ForkServerContext]:
    """Writers as processes that need not import everything first."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["index_pile", "rag.adapters.ingest"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        warm_up = context.Process(target=time.sleep, args=(0,))
        warm_up.start()
        warm_up.join()
        yield context


@pytest.fixture
def start(processes: multiprocessing.context.ForkServerContext) -> Start:
    def started(folder: Path, file: Path) -> Any:
        writer = processes.Process(target=ingest, args=(folder, file))
        writer.start()
        return writer

    return started


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the old records; beside it ``pile.jsonl``, which then holds the new ones."""
    home = tmp_path_factory.mktemp("before")
    ingest(home / "index", write(home / "pile.jsonl", OLD))
    write(home / "pile.jsonl", NEW)
    return home / "index"


@pytest.fixture(scope="module")
def expected(before: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The state after an uninterrupted run."""
    folder = tmp_path_factory.mktemp("after") / "index"
    shutil.copytree(before, folder)
    ingest(folder, before.parent / "pile.jsonl")
    return {**state(folder), "found": found(folder, QUESTION)}


@pytest.fixture
def usual_time(before: Path, start: Start, tmp_path: Path) -> float:
    """Seconds that the writers take when nobody kills them."""
    began = time.monotonic()
    writers = []
    for number in range(AT_ONCE):
        shutil.copytree(before, tmp_path / f"time{number}")
        writers.append(start(tmp_path / f"time{number}", before.parent / "pile.jsonl"))
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    return time.monotonic() - began


def wait_for_first_write(folder: Path, writer: Any) -> float:
    """Return when ``writer`` began to write, or ended."""
    while not (folder / "unfinished").exists() and writer.is_alive():
        time.sleep(0.002)
    return time.monotonic()


def test_killed_at_twenty_random_moments(
    before: Path, expected: dict[str, object], usual_time: float, start: Start, tmp_path: Path
) -> None:
    chance = random.Random(7)
    moments = [chance.uniform(0, usual_time) for _ in range(RUNS)]
    cut_off = 0
    for at in range(0, RUNS, AT_ONCE):
        folders = [tmp_path / str(n) / "index" for n in range(at, at + AT_ONCE)]
        for folder in folders:
            shutil.copytree(before, folder)
        began = time.monotonic()
        pairs = [(folder, start(folder, before.parent / "pile.jsonl")) for folder in folders]
        for moment, (folder, writer) in sorted(
            zip(moments[at:], pairs, strict=False), key=lambda pair: pair[0]
        ):
            if folder is folders[-1]:  # its moment is one after the first write, however slow the machine is
                began = wait_for_first_write(folder, writer) - moment * 4 / 5
            time.sleep(max(0.0, began + moment - time.monotonic()))
            writer.kill()
            writer.join()
        for folder, _ in pairs:
            cut_off += (folder / "unfinished").exists()
            with Library(folder) as library:
                assert library.count_papers() in (len(OLD), len(NEW))
            ingest(folder, before.parent / "pile.jsonl")
            assert {**state(folder), "found": expected["found"]} == expected
            assert found(folder, QUESTION) == expected["found"]
            assert not (folder / "unfinished").exists()
            shutil.rmtree(folder)
    assert cut_off >= RUNS // 4  # else the moments missed what they were meant to hit


def test_a_first_ingest_that_was_killed_is_no_index_yet(before: Path, start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    writer = start(folder, before.parent / "pile.jsonl")
    while not (folder / "unfinished").exists():
        assert writer.exitcode is None
        time.sleep(0.01)
    writer.kill()
    writer.join()
    with pytest.raises(EnvironmentFault, match="never finished"):
        Library(folder)
    assert ingest(folder, before.parent / "pile.jsonl").added == len(NEW)
