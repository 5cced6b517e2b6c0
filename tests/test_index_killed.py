"""A writer that is killed at any moment costs nothing: the next run ends where an uninterrupted one would."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from index_pile import found, ingest, paper, state, write

from rag.errors import EnvironmentFault
from rag.index.library import Library

ROOT = Path(__file__).parents[1]
RUNS, AT_ONCE = 20, 2
OLD = [paper(n) for n in range(40)]
# Some changed, some gone, many new, enough for several commits of vectors and writes to Chroma.
NEW = [*(paper(n, year=2026) for n in range(10)), *(paper(n) for n in range(20, 290))]


def start(folder: Path, file: Path) -> subprocess.Popen[bytes]:
    program = [sys.executable, str(Path(__file__).with_name("index_pile.py")), str(folder), str(file)]
    return subprocess.Popen(
        program, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, cwd=folder.parent
    )


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
    return state(folder)


@pytest.fixture(scope="module")
def usual_time(before: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[float, float]:
    """Seconds until the writer leaves its first trace, and until it is done, with two writers at work."""
    homes = [tmp_path_factory.mktemp("time") for _ in range(AT_ONCE)]
    began = time.monotonic()
    writers = []
    for home in homes:
        shutil.copytree(before, home / "index")
        writers.append(start(home / "index", before.parent / "pile.jsonl"))
    while not (homes[0] / "index" / "unfinished").exists():
        time.sleep(0.01)
    traced = time.monotonic() - began
    assert [writer.wait() for writer in writers] == [0] * AT_ONCE
    return traced, time.monotonic() - began


def test_killed_at_twenty_random_moments(
    before: Path, expected: dict[str, object], usual_time: tuple[float, float], tmp_path: Path
) -> None:
    chance = random.Random(7)
    first, last = usual_time
    moments = [chance.uniform(0.8 * first, last) for _ in range(RUNS)]
    cut_off = 0
    for at in range(0, RUNS, AT_ONCE):
        folders = [tmp_path / str(n) / "index" for n in range(at, at + AT_ONCE)]
        for folder in folders:
            shutil.copytree(before, folder)
        began = time.monotonic()
        pairs = [(folder, start(folder, before.parent / "pile.jsonl")) for folder in folders]
        for moment, (_, writer) in sorted(zip(moments[at:], pairs, strict=False), key=lambda pair: pair[0]):
            time.sleep(max(0.0, began + moment - time.monotonic()))
            writer.kill()
            writer.wait()
        for folder, _ in pairs:
            cut_off += (folder / "unfinished").exists()
            with Library(folder) as library:
                assert library.count_papers() in (len(OLD), len(NEW))
            ingest(folder, before.parent / "pile.jsonl")
            assert state(folder) == expected
            assert found(folder, "What is System287?", 1) == ["paper287"]
            assert not (folder / "unfinished").exists()
            shutil.rmtree(folder)
    assert cut_off >= RUNS // 4  # else the moments missed what they were meant to hit


def test_a_first_ingest_that_was_killed_is_no_index_yet(before: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    writer = start(folder, before.parent / "pile.jsonl")
    while not (folder / "unfinished").exists():
        assert writer.poll() is None
        time.sleep(0.01)
    writer.kill()
    writer.wait()
    with pytest.raises(EnvironmentFault, match="never finished"):
        Library(folder)
    assert ingest(folder, before.parent / "pile.jsonl").added == len(NEW)
