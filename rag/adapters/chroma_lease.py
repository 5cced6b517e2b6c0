"""One writer among all machines: a lock kept in the Chroma server that it protects.

    with Lease(client, "citerag.lock").held(timeout=60) as lease:
        lease.check()                      # before each request that writes

Chroma has no compare-and-set, but a collection of one name can be made by one caller only: it *is* the lock,
and its metadata says who holds it until when, by the server's clock. A thread puts the end off while the
writer lives. A lock that has ended is first renamed by its id, which only hits the very one that was seen,
and then deleted.

What it cannot exclude: a writer that stands still for longer than the lock lasts, after its check and before
its request, writes once more when it wakes. ``rag.index.upload`` therefore looks once more before publishing.
"""

from __future__ import annotations

import os
import platform
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import chromadb
import httpx
from chromadb.api import ClientAPI
from chromadb.errors import ChromaError, NotFoundError

from rag.errors import EnvironmentFault
from rag.index.lock import Held, Holder

LASTS = 45.0
_RENEWALS = 4.5  # in the time that a lock lasts
_POLL = 0.25
_MARK = "citerag"


class Lease:
    """A lock named ``name`` on the server of ``client``.

    Args:
        where: the server, as messages call it.
        lasts: seconds after which the lock of a writer that shows no life ends.
    """

    def __init__(self, client: ClientAPI, name: str, where: str, lasts: float = LASTS) -> None:
        self._client = client
        self._name = name
        self._where = where
        self._lasts = lasts
        self._lock: chromadb.Collection | None = None
        self._renewed = 0.0
        self._lost = False
        self._since = time.time()

    @contextmanager
    def held(self, timeout: float, on_wait: Callable[[Holder], None] | None = None) -> Iterator[Lease]:
        """Hold the lock.

        Args:
            timeout: seconds to wait for another writer.
            on_wait: told once who holds it.

        Raises:
            Held: another writer still holds it after ``timeout`` seconds.
        """
        self._acquire(time.monotonic() + timeout, on_wait)
        stop = threading.Event()
        renewing = threading.Thread(target=self._renew_until, args=(stop,), name="lease", daemon=True)
        renewing.start()
        try:
            yield self
        finally:
            stop.set()
            renewing.join()
            # A server that is gone keeps the lock; it ends by itself.
            with suppress(ChromaError, httpx.HTTPError):
                self._remove(self._held_lock())

    def check(self) -> None:
        """Make sure that this process is still the one writer, as far as it can know.

        Raises:
            Held: it was still for so long that another may have begun.
        """
        if self._lost or time.monotonic() - self._renewed > self._lasts:
            raise Held(
                f"The lock was lost: {self._where} did not hear from this process for {self._lasts:g} s.",
                "Run the same command again; what was published is unchanged.",
            )

    def _acquire(self, deadline: float, on_wait: Callable[[Holder], None] | None) -> None:
        told = False
        while not self._take():
            other = self._present()
            if other is None:
                continue  # it was released just now
            if self._has_ended(other):
                self._remove(other)
                continue
            holder = _holder(other.metadata)
            if time.monotonic() >= deadline:
                raise Held(
                    f"{self._where} is being written by {holder}.", "Wait until it is done, or end it."
                )
            if not told and on_wait is not None:
                on_wait(holder)
            told = True
            time.sleep(_POLL)

    def _take(self) -> bool:
        asked = time.monotonic()
        try:
            self._lock = self._client.create_collection(
                self._name, embedding_function=None, metadata=self._claim()
            )
        except ChromaError as error:
            if "already exists" not in str(error):
                raise
            return False
        self._renewed = asked
        return True

    def _present(self) -> chromadb.Collection | None:
        try:
            found = self._client.get_collection(self._name, embedding_function=None)
        except NotFoundError:
            return None
        if _MARK not in (found.metadata or {}):
            raise EnvironmentFault(
                f"{self._where} holds a collection {self._name} that this program did not make.",
                "Choose another name with RAG_CHROMA_COLLECTION.",
            )
        return found

    def _has_ended(self, other: chromadb.Collection) -> bool:
        """Whether the time of a lock is over, or its process on this machine."""
        said: Any = other.metadata
        if self._now() > float(said["expires"]):
            return True
        return said["machine"] == machine() and said["pid"] != os.getpid() and not _lives(int(said["pid"]))

    def _remove(self, lock: chromadb.Collection) -> None:
        ended = f"{self._name}.{uuid.uuid4().hex}"
        with suppress(NotFoundError):  # somebody else removed it
            lock.modify(name=ended)
            self._client.delete_collection(ended)

    def _renew_until(self, stop: threading.Event) -> None:
        while not stop.wait(self._lasts / _RENEWALS):
            # Any fault: Chroma raises a plain Exception for a proxy's error page. check() tells when this
            # has gone on for too long.
            with suppress(Exception):
                try:
                    self._renew()
                except NotFoundError:
                    self._lost = True
                    return

    def _renew(self) -> None:
        asked = time.monotonic()
        lock = self._held_lock()
        lock.modify(metadata=self._claim())
        if self._client.get_collection(self._name, embedding_function=None).id != lock.id:
            raise NotFoundError("another writer holds the lock")
        self._renewed = asked

    def _held_lock(self) -> chromadb.Collection:
        if self._lock is None:
            raise RuntimeError("the lock is not held")
        return self._lock

    def _claim(self) -> dict[str, str | int | float | bool]:
        return {
            _MARK: 1,
            "machine": machine(),
            "host": platform.node(),
            "pid": os.getpid(),
            "since": self._since,
            "expires": self._now() + self._lasts,
        }

    def _now(self) -> float:
        return self._client.heartbeat() / 1e9


def machine() -> str:
    """Name the machine and what numbers its processes: two containers with one name are two machines."""
    boot, space = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    parts = [platform.node(), f"{uuid.getnode():x}"]
    with suppress(OSError):  # elsewhere than on Linux
        parts += [boot.read_text(encoding="ascii").strip(), os.readlink(space)]
    return " ".join(parts)


def _lives(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # os.kill would end it
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _holder(said: Any) -> Holder:
    return Holder(int(said["pid"]), float(said["since"]), str(said["host"]))
