"""Vector store and keyword index that follow an index while others write it.

    vectors, keywords = LiveVectors(library, ChromaStore.in_folder), LiveKeywords(library, Bm25Index)

A Chroma client does not notice what another process writes, and a keyword index belongs to one state of the
papers. Both are therefore opened anew, at the next search, when another state was published.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from rag.errors import EnvironmentFault
from rag.index.library import Library, Made
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
        self, library: Library, open_: Callable[[Made], Part], close: Callable[[Part], None] | None = None
    ) -> None:
        self._library = library
        self._open = open_
        self._close = close
        self._held: tuple[Made, Part] | None = None

    def now(self) -> Part:
        while True:
            made = self._library.made()
            if self._held is not None and self._held[0] == made:
                return self._held[1]
            self.drop()
            try:
                part = self._open(made)
            except EnvironmentFault:
                if self._library.made() == made:
                    raise
                continue  # it was replaced, and the old files deleted, just now
            self._held = (made, part)

    def drop(self) -> None:
        if self._held is not None and self._close is not None:
            self._close(self._held[1])
        self._held = None


class LiveKeywords:
    """The keyword index of the published state; ``open_`` opens one in its folder."""

    def __init__(self, library: Library, open_: Callable[[Path], KeywordIndex]) -> None:
        self._follower = _Follower(library, lambda made: open_(made.keywords))

    def search(self, question: str, k: int, allowed: frozenset[str] | None = None) -> list[tuple[str, float]]:
        return self._follower.now().search(question, k, allowed)


class LiveVectors:
    """The vectors of the published state: the store, and the matrix beside the keyword index if there is one.

    The matrix answers what it is faster at: all questions to a pile of up to ``exact_up_to`` passages, and
    all that are restricted to some papers. The store is opened when it is first asked.

    Args:
        open_: opens the store in its folder.
        open_exact: opens the matrix in its folder.
    """

    def __init__(
        self,
        library: Library,
        open_: Callable[[Path], ClosableVectors],
        open_exact: Callable[[Path], ClosableVectors] | None = None,
        exact_up_to: int = 0,
    ) -> None:
        def matrix(made: Made) -> ClosableVectors | None:
            return open_exact(made.exact) if open_exact and made.exact.is_dir() else None

        self._library = library
        self._store = _Follower(library, lambda made: open_(made.vectors), _closed)
        self._matrix = _Follower(library, matrix)
        self._exact_up_to = exact_up_to

    def query(
        self, vector: Vectors, k: int, allowed: frozenset[str] | None = None
    ) -> list[tuple[str, float]]:
        while True:
            before = self._library.made()
            try:
                found = self.answering(restricted=allowed is not None).query(vector, k, allowed)
            except EnvironmentFault:
                if self._library.made() == before:
                    raise
                continue
            # Chroma reads files late, and those of a state that was replaced meanwhile are gone.
            if self._library.made() == before:
                return found

    def answering(self, *, restricted: bool = False) -> ClosableVectors:
        """Return what answers a question now."""
        matrix = self._matrix.now()
        if matrix is not None and (restricted or matrix.count() <= self._exact_up_to):
            return matrix
        return self._store.now()

    def ids(self) -> set[str]:
        return self._store.now().ids()

    def count(self) -> int:
        return self._store.now().count()

    def close(self) -> None:
        """Let go of the files."""
        self._store.drop()
        self._matrix.drop()


def _closed(vectors: ClosableVectors) -> None:
    vectors.close()
