"""Times commands as whole processes, in turn, so that a drift of the machine hits all of them alike.

    samples = alternate({"ours": Command(["rag", "--help"]), "llm": Command(["llm", "--help"])}, runs=5)
    median(samples["ours"], "wall") / median(samples["llm"], "wall")

The operating system's own account of each finished process gives processor time and peak memory.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Command:
    """What is run. ``before`` prepares each run untimed; ``allowed`` are exit codes that are no failure."""

    words: Sequence[str]
    environ: Mapping[str, str] = field(default_factory=dict)
    allowed: tuple[int, ...] = (0,)
    before: object = None


@dataclass(frozen=True)
class Sample:
    """One run: seconds of wall clock and of processor, peak MiB, and what it wrote on stdout."""

    wall: float
    cpu: float
    mib: float
    out: str


class Failed(Exception):
    """A command ended with an exit code that is not allowed."""


def once(command: Command) -> Sample:
    """Run ``command`` and return what it took.

    Raises:
        Failed: with the end of what it said.
    """
    if callable(command.before):
        command.before()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen(
            list(command.words),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **command.environ},
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        said = out.read().decode(errors="replace")
        if process.returncode not in command.allowed:
            complaint = (err.read().decode(errors="replace") or said).strip().splitlines()
            raise Failed(complaint[-1][:200] if complaint else f"exit code {process.returncode}")
    return Sample(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said)


def alternate(commands: Mapping[str, Command], runs: int) -> dict[str, list[Sample] | str]:
    """Run each command once to warm up, then all in turn ``runs`` times.

    Returns:
        samples by name; for one that failed, why.
    """
    found: dict[str, list[Sample] | str] = {}
    for name, command in commands.items():
        try:
            once(command)
            found[name] = []
        except (Failed, OSError) as error:
            found[name] = str(error)
    for _ in range(runs):
        for name, command in commands.items():
            samples = found[name]
            if isinstance(samples, list):
                try:
                    samples.append(once(command))
                except Failed as error:
                    found[name] = str(error)
    return found


def median(samples: Sequence[Sample], what: str) -> float:
    return statistics.median(getattr(each, what) for each in samples)


def interpreter(venv: Path) -> str:
    return str(venv / "bin" / "python")
