"""What a pile on a server looks like from here: faces and records, put to work by ``adopt`` and ``upload``.

Beside the vectors the server keeps one *row* per paper: everything known about it, as text whose hash is the
row's id. A row holds from one generation of the pile (``since``) until another; publishing is the one step in
which the generation goes up. Whoever reads therefore sees a state whole, while the next one is written:

    generation 7 is published      rows since <= 7 that have not ended by 7
    an ingest writes generation 8  adds rows since 8, marks those that go as ended by 8
    8 is published                 and then what ended is deleted
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rag.index.lock import Holder
from rag.index.manifest import Manifest
from rag.records import Paper

OnWait = Callable[[Holder], None]


@dataclass(frozen=True, slots=True)
class State:
    """What a server says about itself.

    Args:
        origin: names the collection for good: one that is deleted and made again has another.
        generation: how often something was published.
        rows: digest of the ids of all rows of the published state.
        manifest: what was published; None before the first time.
        unfinished: a writer is at work, or was cut off.
    """

    origin: str
    generation: int = 0
    rows: str = ""
    manifest: Manifest | None = None
    unfinished: bool = False

    @property
    def token(self) -> str:
        """Changes with whatever is published."""
        return f"{self.origin} {self.generation} {self.rows}"


class Server(Protocol):
    """A server that holds a pile. Errors are ``ProviderError`` and ``EnvironmentFault``."""

    @property
    def name(self) -> str:
        """What to call it in a sentence: its address and the collection."""
        ...

    def state(self) -> State | None:
        """Return what is there, None when nothing is; refuse what another program made."""
        ...

    def writing(self, timeout: float, on_wait: OnWait | None) -> AbstractContextManager[None]:
        """Be the only writer, among all machines, with everything prepared for writing."""
        ...

    def begin(self) -> None:
        """Say that what is there besides the published state may be incomplete."""
        ...

    def publish(self, state: State) -> None:
        """Make ``state`` the published one, in one step."""
        ...

    def live(self, generation: int) -> set[str]:
        """Ids of the rows that a reader of this generation sees."""
        ...

    def ending(self, generation: int) -> set[str]:
        """Ids of the rows marked as ended after this generation."""
        ...

    def every(self) -> set[str]:
        """Ids of all rows, of whatever generation."""
        ...

    def read(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the texts of rows; those that are gone are absent."""
        ...

    def add(self, rows: Mapping[str, str], since: int) -> None:
        """Write rows (id, text), in place of what is there under their ids."""
        ...

    def end(self, ids: Sequence[str], until: int) -> None:
        """Mark rows as ended by a generation; 0 takes the mark away."""
        ...

    def delete(self, ids: Sequence[str]) -> None: ...

    def close(self) -> None:
        """End the connections; they are made anew when they are needed."""
        ...


@dataclass(frozen=True, slots=True)
class FileNames:
    """What files are called in the records.

    On a server the machine is part of the name: two machines may have different files under one path, and
    what is no file here may be one there.

    >>> FileNames("@ana:").name(Path("/pile/a.bib"))
    '@ana:/pile/a.bib'
    """

    prefix: str = ""

    def name(self, path: Path) -> str:
        return self.prefix + str(path.absolute())

    def path(self, name: str) -> Path | None:
        """Return the file of this machine, None if it is another machine's."""
        return Path(name.removeprefix(self.prefix)) if name.startswith(self.prefix) else None


@dataclass(frozen=True, slots=True)
class Sharing:
    """What is needed to share a pile through a server.

    Args:
        server: holds it.
        files: what this machine calls its files there.
        signatures: as in ``rag.index.parts.Identity``; they are made anew from the records.
    """

    server: Server
    files: FileNames
    signatures: Callable[[Paper], Sequence[str]]


def row_id(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def digest(ids: Collection[str]) -> str:
    return hashlib.sha256(" ".join(sorted(ids)).encode()).hexdigest()[:16]
