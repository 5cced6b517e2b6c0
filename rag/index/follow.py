"""A pile on a server as a reader sees it: a copy of its records in a folder, kept up to date.

    library = Following(folder, server, parts, on_change=lambda: print("..."))
    library.fingerprint()                    # asks the server, and takes over what was published since

The folder can be deleted at any time. Processes that share it wait for one another.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from rag.errors import IndexMismatch, IndexMissing
from rag.index import lock
from rag.index.adopt import Moved, adopt
from rag.index.database import faults, open_readonly, require_records
from rag.index.library import Library, published_token
from rag.index.parts import Parts
from rag.index.shared import Server, State
from rag.index.writer import Writer

_PAUSE = 0.2
TIMEOUT = 60.0


class Following(Library):
    """The records of what is published on ``server``.

    Args:
        folder: where the copy is kept.
        parts: makes what a copy is built with; asked only when there is something to take over.
        embedder: as for ``Library``.
        on_change: told when something is taken over, which may take a while.
        timeout: as for ``follow``.

    Raises:
        IndexMissing: nothing was published yet.
        EnvironmentFault, ProviderError: the server or the folder cannot be read.
    """

    def __init__(
        self,
        folder: Path,
        server: Server,
        parts: Callable[[], Parts],
        *,
        embedder: str | None = None,
        on_change: Callable[[], None],
        timeout: float = TIMEOUT,
    ) -> None:
        self.server = server
        self._follow = partial(
            follow, folder, server, parts, embedder=embedder, on_change=on_change, timeout=timeout
        )
        try:
            self._follow(token=lambda: held_token(folder))
            super().__init__(folder, embedder)
        except BaseException:
            server.close()
            raise

    def close(self) -> None:
        super().close()
        self.server.close()

    def fingerprint(self) -> str:
        """Fingerprint of what is published now, the copy being brought there first."""
        self._follow(token=lambda: published_token(self._db))
        return self.published()


def follow(
    folder: Path,
    server: Server,
    parts: Callable[[], Parts],
    *,
    token: Callable[[], str],
    embedder: str | None = None,
    on_change: Callable[[], None],
    timeout: float = TIMEOUT,
) -> None:
    """Bring ``folder`` to what the server published, unless it is there already.

    Args:
        token: tells which state the folder holds.
        timeout: seconds to wait for another process of this machine, or for a state to hold still.

    Raises:
        IndexMismatch: the pile was made with another embedder.
    """
    deadline = time.monotonic() + timeout
    while True:
        state = published(server)
        if embedder is not None and state.manifest and state.manifest.embedder != embedder:
            made_with = state.manifest.embedder
            raise IndexMismatch(
                f"{server.name} was made with the embedder {made_with}, not {embedder}.",
                f"Set the embedder to {made_with}.",
            )
        if token() == state.token:
            return
        try:
            _take_over(folder, parts(), state, on_change)
        except (lock.Held, Moved):
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def published(server: Server) -> State:
    """Return the published state of a server.

    Raises:
        IndexMissing: there is none.
    """
    state = server.state()
    if state is None or state.manifest is None:
        raise IndexMissing(f"{server.name} holds no papers yet.", "Fill it with: rag ingest PATH")
    return state


def require_index(folder: Path, parts: Parts) -> None:
    """Refuse to go on where there is no index yet, before anything is made there.

    Raises:
        IndexMissing: there is none in ``folder``, or on the server of which it is a copy.
    """
    if parts.sharing:
        with closing(parts.sharing.server) as server:
            published(server)
    else:
        require_records(folder)


def held_token(folder: Path) -> str:
    """Which state of a server a folder holds; empty when it holds none."""
    try:
        db = open_readonly(folder)
    except IndexMissing:
        return ""
    with faults(folder):
        token = published_token(db)
        db.close()
    return token


def _take_over(folder: Path, parts: Parts, state: State, on_change: Callable[[], None]) -> None:
    if parts.sharing is None:
        raise ValueError("these are the parts of a folder alone")
    with faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with lock.writing(folder, 0):
            if held_token(folder) == state.token:
                return
            on_change()
            writer = Writer(folder, parts)
            try:
                adopt(writer, parts.sharing, state)
            finally:
                writer.close()
