"""A file of JSON lines while it is fetched: whole under its name, or not there at all.

``papers.jsonl`` grows as ``.papers.jsonl.part``, and ``.papers.jsonl.fetch`` says after every page how far it
is good and what comes next, so that a killed fetch goes on there. (Hidden files are passed over when a folder
is ingested.) The second file stays: it tells that the finished file is ours and when it was fetched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import filelock

from rag import whole_file
from rag.errors import EnvironmentFault, UsageError
from rag.fetch.source import Page, Record


@dataclass(frozen=True, slots=True)
class State:
    """How far a fetch is.

    Args:
        request: what is fetched.
        bytes, records: how much of the file is good.
        total: how many records are expected.
        next: where to go on; None at the beginning.
        ended: there is nothing more to fetch.
        done: when it was finished (Unix time).
    """

    request: Mapping[str, object]
    bytes: int = 0
    records: int = 0
    total: int | None = None
    next: str | None = None
    ended: bool = False
    done: float | None = None
    missing: tuple[str, ...] = ()


class Partial:
    """The file ``out`` being fetched; made by ``open_partial``, which keeps other processes away."""

    def __init__(self, out: Path, request: Mapping[str, object], identifier: Callable[[Record], str]) -> None:
        self.out = out
        self._part = out.with_name(f".{out.name}.part")
        self._note = out.with_name(f".{out.name}.fetch")
        self._identifier = identifier
        self._seen: set[str] = set()
        self._found = _read(self._note)
        # Through JSON, so that what was stored and what is asked for compare equal.
        self.state = State(json.loads(json.dumps(request)))

    def finished(self) -> State | None:
        """Return the state of the finished file if it holds this very request, and whole."""
        found = self._found
        if found is None or found.done is None or found.request != self.state.request:
            return None
        return found if self.out.exists() and self.out.stat().st_size == found.bytes else None

    def begin(self, *, replacing: bool) -> int:
        """Go on where the last run stopped, or start; return the number of records that are there already.

        Raises:
            UsageError: the file holds something that is not to be lost.
        """
        self._require_ours(replacing)
        found = self._found
        if found is None or found.request != self.state.request or found.done is not None:
            self._part.write_bytes(b"")
        elif self._part.exists() and self._part.stat().st_size >= found.bytes:
            os.truncate(self._part, found.bytes)
            self.state = found
            with self._part.open(encoding="utf-8") as lines:
                self._seen = {self._identifier(json.loads(line)) for line in lines}
        elif found.ended and self.out.exists() and self.out.stat().st_size == found.bytes:
            self.state = found  # killed between the two steps of finish()
        else:
            self._part.write_bytes(b"")
        self._store()
        return self.state.records

    def add(self, page: Page) -> None:
        """Write the records of a page that are new, then where to go on."""
        fresh = []
        for record in page.records:
            identifier = self._identifier(record)
            if identifier not in self._seen:
                self._seen.add(identifier)
                fresh.append(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        with self._part.open("ab") as part:
            part.write(b"".join(fresh))
            part.flush()
            os.fsync(part.fileno())
        self.state = replace(
            self.state,
            bytes=self.state.bytes + sum(map(len, fresh)),
            records=self.state.records + len(fresh),
            total=page.total if page.total is not None else self.state.total,
            next=page.next,
            ended=page.next is None,
            missing=self.state.missing + page.missing,
        )
        self._store()

    def finish(self, now: float) -> None:
        """Give the file its name."""
        if self._part.exists():
            os.replace(self._part, self.out)
        self.state = replace(self.state, done=now)
        self._store()

    def discard(self) -> None:
        """Leave nothing of an unfinished file behind."""
        self._part.unlink(missing_ok=True)
        if self.out.exists() and self._found is not None:
            self.state = self._found
            self._store()
        else:
            self._note.unlink(missing_ok=True)

    def _require_ours(self, replacing: bool) -> None:
        if not self.out.exists():
            return
        found = self._found
        if found is None or (found.done is not None and self.out.stat().st_size != found.bytes):
            raise UsageError(
                f"{self.out} is there and was not fetched, or was changed since.",
                "Name another file with --out.",
            )
        if found.request != self.state.request and not replacing:
            raise UsageError(
                f"{self.out} holds what was fetched by another request.",
                "Name another file with --out, or replace it with --again.",
            )

    def _store(self) -> None:
        whole_file.write(self._note, json.dumps(asdict(self.state)))


def _read(file: Path) -> State | None:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
        return State(**{**value, "missing": tuple(value["missing"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None  # not there, or of another version: as if nothing had been fetched


@contextmanager
def open_partial(
    out: Path, request: Mapping[str, object], identifier: Callable[[Record], str]
) -> Iterator[Partial]:
    """Open ``out`` for one fetch.

    Raises:
        UsageError: there is no such folder.
        EnvironmentFault: it cannot be written, or another process fetches this file.
    """
    if not out.parent.is_dir():  # the lock would make it, spelling mistakes included
        raise UsageError(f"There is no folder {out.parent}.", "Name another file with --out.")
    lock = filelock.FileLock(out.with_name(f".{out.name}.lock"), timeout=0, is_singleton=False)
    try:
        with lock:
            try:
                yield Partial(out, request, identifier)
            finally:
                with suppress(OSError):  # where open files cannot be deleted it stays, empty
                    os.unlink(lock.lock_file)
    except filelock.Timeout:
        raise EnvironmentFault(
            f"{out} is being fetched by another process.", "Wait for it, or name another file with --out."
        ) from None
    except OSError as error:
        raise EnvironmentFault(
            f"{out} cannot be written: {error.strerror or error}.", "Name another file with --out."
        ) from error
