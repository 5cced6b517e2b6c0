"""Nearest passages in a Chroma collection, in a folder of this machine (``chroma_server`` has the other way).

    store = ChromaStore.in_folder(Path("my-index/chroma"))
    store.query(vector, k=20)                   # [("9f86d0...", 0.71), ...]

Chroma is given vectors and never an embedding function: its own would fetch a model. A client in this process
does not notice what another process writes, so a reader opens the store anew when the index has changed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import chromadb
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.config import Settings
from chromadb.errors import NotFoundError

from rag.errors import EnvironmentFault, RagError

if TYPE_CHECKING:
    from rag.ports import Vectors

COLLECTION = "citerag"
_COSINE: Any = {"hnsw": {"space": "cosine"}}
# Chroma resolves a list of ids one by one: beyond this, asking for more and dropping is faster.
_MOST_IDS = 2000
_SAME = 0.99
_MOST = 0.5


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be asked for at once.

    Args:
        batch: passages written by one request.
        page: ids read by one request.
        nearest: passages that a query may give; None for any number.
        before_writing: called before each request that changes something; raises when it must not be sent.
    """

    batch: int = 2000
    page: int = 1_000_000
    nearest: int | None = None
    before_writing: Callable[[], None] = lambda: None


NONE = Limits()


class ChromaStore:
    """One collection of passages with their vectors; implements ``rag.ports.VectorStore``.

    Args:
        connect: makes the client.
        fault: turns what Chroma raised into an error for the user.
        name: the collection, made when it is not there.
        metadata: what a collection is marked with when it is made.
        close: whether the client is this store's own.
    """

    def __init__(
        self,
        connect: Callable[[], ClientAPI],
        fault: Callable[[BaseException], RagError],
        *,
        name: str = COLLECTION,
        metadata: Mapping[str, str | int] | None = None,
        limits: Limits = NONE,
        close: bool = True,
    ) -> None:
        self._fault = fault
        self._name = name
        self._metadata = dict(metadata) if metadata else None
        self._limits = limits
        self._close = close
        with self._translated():
            self._client = connect()
            self.collection = self._open()

    @classmethod
    def in_folder(cls, folder: Path) -> ChromaStore:
        """Open the store in ``folder``, making it when it is not there."""

        def connect() -> ClientAPI:
            try:
                return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
            except BaseException:
                _forget(str(folder))
                raise

        return cls(connect, partial(_folder_fault, folder))

    def upsert(
        self, ids: list[str], vectors: list[Any], documents: list[str], metadata: list[dict[str, Any]]
    ) -> None:
        """Store passages, in place of what is stored under their ids."""
        size = self._limits.batch
        with self._translated():
            for at in range(0, len(ids), size):
                part = slice(at, at + size)
                self._limits.before_writing()
                self.collection.upsert(
                    ids=ids[part],
                    embeddings=vectors[part],
                    documents=documents[part],
                    metadatas=cast(Any, metadata[part]),
                )

    def query(
        self, vector: Vectors, k: int, allowed: frozenset[str] | None = None
    ) -> list[tuple[str, float]]:
        """Return (passage id, cosine) of the ``k`` nearest, best first, equals by id."""
        with self._translated():
            try:
                return self._query(vector, k, allowed)
            except NotFoundError:  # another process made the collection anew
                self.collection = self._client.get_collection(self._name, embedding_function=None)
                return self._query(vector, k, allowed)

    def delete(self, passage_ids: Sequence[str]) -> None:
        with self._translated():
            for ids in _pages(list(passage_ids), self._limits.batch):
                self._limits.before_writing()
                self.collection.delete(ids=ids)

    def ids(self) -> set[str]:
        with self._translated():
            return ids_of(self.collection, self._limits)

    def count(self) -> int:
        with self._translated():
            return self.collection.count()

    def reset(self) -> None:
        """Make the collection anew, empty."""
        with self._translated():
            self._limits.before_writing()
            with suppress(NotFoundError):
                self._client.delete_collection(self._name)
            self.collection = self._open()

    def finds(self, vectors: Mapping[str, bytes]) -> bool:
        """Whether the passages are stored with these vectors, and most of them are found by a search for it.

        A damaged index keeps its count and its ids; only a search shows it. A sound one misses some, since
        its search is approximate: of made-up texts one in twenty-five.
        """
        if not vectors:
            return True
        found = 0
        for ids in _pages(sorted(vectors), self._limits.page):
            with self._translated():
                stored = self.collection.get(ids=ids, include=["embeddings"])
            there = dict(zip(stored["ids"], cast(Any, stored["embeddings"]), strict=True))
            for passage_id in ids:
                vector = np.frombuffer(vectors[passage_id], dtype=np.float32)
                if passage_id not in there or not _alike(vector, there[passage_id]):
                    return False
                with self._translated():
                    nearest = self._nearest(vector, 1)
                found += bool(nearest) and nearest[0][1] >= _SAME
        return found >= len(vectors) * _MOST

    def close(self) -> None:
        """Let go of the files; the object is of no use afterwards."""
        if self._close:
            cast(Any, self._client).close()  # every client has it; the abstract class does not say so

    def _open(self) -> chromadb.Collection:
        return self._client.get_or_create_collection(
            self._name, embedding_function=None, configuration=_COSINE, metadata=self._metadata
        )

    def _query(self, vector: Vectors, k: int, allowed: frozenset[str] | None) -> list[tuple[str, float]]:
        size = min(self.collection.count(), self._limits.nearest or sys.maxsize)
        if k < 1 or not size or (allowed is not None and not allowed):
            return []
        if allowed is None:
            return self._nearest(vector, min(k, size))
        if len(allowed) <= min(_MOST_IDS, self._limits.nearest or _MOST_IDS):
            return self._nearest_among(vector, k, allowed)
        return self._nearest_allowed(vector, k, allowed, size)

    def _nearest(self, vector: Vectors, k: int, ids: list[str] | None = None) -> list[tuple[str, float]]:
        found = self.collection.query(
            query_embeddings=cast(Any, [vector]), n_results=k, ids=ids, include=["distances"]
        )
        distances = (found["distances"] or [[]])[0]
        pairs = [(id_, 1.0 - float(d)) for id_, d in zip(found["ids"][0], distances, strict=True)]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

    def _nearest_among(self, vector: Vectors, k: int, allowed: frozenset[str]) -> list[tuple[str, float]]:
        # An id that is not stored makes the whole query fail.
        stored = self.collection.get(ids=sorted(allowed), include=[])["ids"]
        return self._nearest(vector, min(k, len(stored)), stored) if stored else []

    def _nearest_allowed(
        self, vector: Vectors, k: int, allowed: frozenset[str], size: int
    ) -> list[tuple[str, float]]:
        """Ask for ever more until ``k`` allowed ones are among them."""
        wanted = min(size, max(4 * k, k * size // len(allowed)))
        while True:
            found = [pair for pair in self._nearest(vector, wanted) if pair[0] in allowed]
            if len(found) >= k or wanted >= size:
                return found[:k]
            wanted = min(size, wanted * 4)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (RagError, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # a panic of Chroma's Rust part on damaged files is no Exception
            raise self._fault(error) from error


def _alike(one: Any, other: Any) -> bool:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return one.shape == other.shape and lengths > 0 and float(one @ other) >= _SAME * lengths


def _pages(ids: list[str], size: int) -> Iterator[list[str]]:
    for at in range(0, len(ids), size):
        yield ids[at : at + size]


def ids_of(collection: chromadb.Collection, limits: Limits, where: Any = None) -> set[str]:
    """Return the ids of all entries, or of those that pass ``where``, page by page."""
    found: set[str] = set()
    while True:
        page = collection.get(where=where, include=[], limit=limits.page, offset=len(found))["ids"]
        found.update(page)
        if len(page) < limits.page:
            return found


def _folder_fault(folder: Path, error: BaseException) -> RagError:
    """Chroma tells what the disk said only in words."""
    said = line(error)
    if re.search(r"is full|No space left|File too large", said):
        return EnvironmentFault(
            f"The disk of the index in {folder.parent} is full; what was stored before is unchanged.",
            "Free some space, then run the same command again.",
        )
    if re.search(r"read-?only|[Pp]ermission denied|unable to open", said):
        return EnvironmentFault(
            f"The vector store in {folder} cannot be opened or written ({said}).",
            "Check the folder's rights, or choose another index with --index.",
        )
    if "disk I/O error" in said:
        return EnvironmentFault(
            f"The disk of the vector store in {folder} fails ({said}).",
            "Check its space and health, then run the same command again.",
        )
    return EnvironmentFault(
        f"The vector store in {folder} is damaged ({said}).",
        f"Repair it with: rag index verify --index {folder.parent}",
    )


def _forget(path: str) -> None:
    """Let the next client try anew: one that failed to start stays in Chroma's table of open stores."""
    for table in (SharedSystemClient._identifier_to_system, SharedSystemClient._identifier_to_refcount):
        cast("dict[str, object]", table).pop(path, None)


def line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
