"""One writer at a time: a lock on the index folder that says who holds it.

The operating system drops the lock when its process ends, however it ends. Readers take no lock.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import filelock

from rag.errors import EnvironmentFault

NAME = "writer.lock"
HOLDER = "writer.json"


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that writes: its id, None when unknown, when it began (Unix time), and on which machine."""

    pid: int | None
    since: float | None
    host: str = ""

    def __str__(self) -> str:
        if self.pid is None:
            return "another process"
        began = time.strftime("%H:%M:%S", time.localtime(self.since)) if self.since else "an unknown time"
        return f"process {self.pid}{f' on {self.host}' if self.host else ''} since {began}"


class Held(EnvironmentFault):
    """Another writer holds the lock."""


@contextmanager
def writing(
    folder: Path, timeout: float = 60.0, on_wait: Callable[[Holder], None] | None = None
) -> Iterator[None]:
    """Hold the writer's lock of ``folder``.

    Args:
        timeout: seconds to wait for another writer.
        on_wait: told once who holds the lock, when there is something to wait for.

    Raises:
        Held: another process still writes after ``timeout`` seconds.
    """
    lock = filelock.FileLock(folder / NAME, is_singleton=False)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        _wait(lock, folder, timeout, on_wait)
    try:
        (folder / HOLDER).write_text(json.dumps({"pid": os.getpid(), "since": time.time()}), encoding="utf-8")
        yield
    finally:
        (folder / HOLDER).unlink(missing_ok=True)
        lock.release()


def _wait(
    lock: filelock.BaseFileLock, folder: Path, timeout: float, on_wait: Callable[[Holder], None] | None
) -> None:
    if on_wait is not None and timeout > 0:
        on_wait(holder(folder))
    try:
        lock.acquire(timeout=timeout, poll_interval=0.1)
    except filelock.Timeout:
        raise Held(
            f"The index in {folder} is being written by {holder(folder)}.",
            "Wait until it is done, or end it.",
        ) from None


def holder(folder: Path) -> Holder:
    """Say who wrote last or still writes, as far as that is known."""
    try:
        found = json.loads((folder / HOLDER).read_text(encoding="utf-8"))
        return Holder(int(found["pid"]), float(found["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Holder(None, None)
