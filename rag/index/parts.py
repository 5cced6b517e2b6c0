"""What an index is built with: faces of the adapters, put together by ``rag.wiring``."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rag.index.passages import Prepared
from rag.index.shared import FileNames, Sharing
from rag.ports import Embedder
from rag.records import Failure, Paper

Item = tuple[Paper, Prepared]


class VectorCache(Protocol):
    """Vectors that were made before, as the bytes of their float32 numbers."""

    def recall(self, text_hashes: Iterable[str]) -> dict[str, bytes]: ...

    def keep(self, vectors: Mapping[str, bytes]) -> None: ...


class WritableVectors(Protocol):
    """The vector store as a writer sees it."""

    def ids(self) -> set[str]: ...

    def count(self) -> int: ...

    def delete(self, passage_ids: Sequence[str]) -> None: ...

    def reset(self) -> None:
        """Make the collection anew, empty."""
        ...

    def finds(self, vectors: Mapping[str, bytes]) -> bool:
        """Whether each passage id is found by a query with its own vector."""
        ...

    def close(self) -> None: ...


class Ingest(Protocol):
    """Embeds passages and stores them with their vectors."""

    def run(self, items: Sequence[Item], cache: VectorCache) -> None: ...


@dataclass(frozen=True, slots=True)
class Parts:
    """The adapters of an index.

    Args:
        embedder: makes the vectors.
        open_vectors: opens the vector store in a folder, making it when it is not there.
        open_ingest: the way into a vector store; imports what is heavy, so it is called only when needed.
        build_keywords: writes the keyword index of (paper key, text) pairs into a new folder.
        keyword_keys: the paper keys in a keyword index, to compare; raises EnvironmentFault if damaged.
        build_exact: writes a matrix of (passage id, vector) pairs, sorted by id, into a new folder, given
            their number and dimensions; None where every question goes to the vector store.
        exact_ids: the passage ids in such a matrix; raises EnvironmentFault if damaged.
        sharing: the server that holds the pile, of which the folder is a copy; None when the folder is all.
    """

    embedder: Embedder
    open_vectors: Callable[[Path], WritableVectors]
    open_ingest: Callable[[WritableVectors, Embedder], Ingest]
    build_keywords: Callable[[Path, Iterable[tuple[str, str]]], None]
    keyword_keys: Callable[[Path], Sequence[str]]
    build_exact: Callable[[Path, Iterable[tuple[str, bytes]], int, int], None] | None = None
    exact_ids: Callable[[Path], set[str]] | None = None
    sharing: Sharing | None = None

    @property
    def files(self) -> FileNames:
        """What files are called in the records."""
        return self.sharing.files if self.sharing else FileNames()


def _never(*_: object) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Identity:
    """When two records are the same paper.

    Args:
        signatures: texts of which two records share one when they are the same paper, strongest first.
        merge: the paper that two records of it make; the key of the first is kept.
        distinct: a free key near the proposed one; ``taken`` holds the keys in use.
        contradicted: whether the records of a paper speak against that a record, which shares this signature
            with one of them, is of that paper.
    """

    signatures: Callable[[Paper], Sequence[str]]
    merge: Callable[[Paper, Paper], Paper]
    distinct: Callable[[str, Container[str]], str]
    contradicted: Callable[[str, Paper, Iterable[Paper]], bool] = _never


# A failure with record 0 is that of the whole file. A file of several has the name of each in the ``extra``
# of its papers, as ``member``; the failure of a whole member has record 0 too, and begins with "name: ".
Read = Callable[[Path], Iterator[Paper | Failure]]
