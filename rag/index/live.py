"""Vector store and keyword index that follow an index while others write it.

    vectors, keywords = LiveVectors(library, ChromaStore.in_folder), LiveKeywords(library, Bm25Index)

A Chroma client does not notice what another process writes, and a keyword index belongs to one state of the
papers. Both are therefore opened anew, at the next search, when the fingerprint of the library has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from rag.errors import EnvironmentFault
from rag.index.library import Library, keyword_folder
from rag.ports import KeywordIndex, VectorStore

if TYPE_CHECKING:
    from rag.ports import Vectors


class ClosableVectors(VectorStore, Protocol):
    """A vector store that holds files open."""

    def close(self) -> None: ...


Part = TypeVar("Part")


class _Follower(Generic[Part]):
    """Opens a part for the published state, again for each new one."""

    def __init__(
        self, library: Library, open_: Callable[[str], Part], close: Callable[[Part], None] | None = None
    ) -> None:
        self._library = library
        self._open = open_
        self._close = close
        self._held: tuple[str, Part] | None = None

    def now(self) -> Part:
        while True:
            fingerprint = self._library.fingerprint()
            if self._held is not None and self._held[0] == fingerprint:
                return self._held[1]
            self.drop()
            try:
                part = self._open(fingerprint)
            except EnvironmentFault:
                if self._library.fingerprint() == fingerprint:
                    raise
                continue  # it was replaced, and the old files deleted, just now
            self._held = (fingerprint, part)
            return part

    def drop(self) -> None:
        if self._held is not None and self._close is not None:
            self._close(self._held[1])
        self._held = None


class LiveKeywords:
    """The keyword index of the published state; ``open_`` opens one in its folder."""

    def __init__(self, library: Library, open_: Callable[[Path], KeywordIndex]) -> None:
        self._follower = _Follower(library, lambda now: open_(keyword_folder(library.folder, now)))

    def search(self, question: str, k: int, allowed: frozenset[str] | None = None) -> list[tuple[str, float]]:
        return self._follower.now().search(question, k, allowed)


class LiveVectors:
    """The vector store of the published state; ``open_`` opens it in its folder."""

    def __init__(self, library: Library, open_: Callable[[Path], ClosableVectors]) -> None:
        self._follower = _Follower(library, lambda _: open_(library.vector_folder), _closed)

    def query(
        self, vector: Vectors, k: int, allowed: frozenset[str] | None = None
    ) -> list[tuple[str, float]]:
        return self._follower.now().query(vector, k, allowed)

    def ids(self) -> set[str]:
        return self._follower.now().ids()

    def count(self) -> int:
        return self._follower.now().count()

    def close(self) -> None:
        """Let go of the files."""
        self._follower.drop()


def _closed(vectors: ClosableVectors) -> None:
    vectors.close()
