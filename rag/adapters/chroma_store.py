"""Nearest passages in a Chroma collection, in a folder of this machine or on a Chroma server.

    store = ChromaStore.in_folder(Path("my-index/chroma"))
    store.query(vector, k=20)                   # [("9f86d0...", 0.71), ...]

Chroma is given vectors and never an embedding function: its own would fetch a model. A client in this process
does not notice what another process writes, so a reader opens the store anew when the index has changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import chromadb
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.config import Settings
from chromadb.errors import NotFoundError

from rag.errors import EnvironmentFault, ProviderError, RagError

if TYPE_CHECKING:
    from rag.ports import Vectors

COLLECTION = "citerag"
_COSINE: Any = {"hnsw": {"space": "cosine"}}
_BATCH = 2000
# Chroma resolves a list of ids one by one: beyond this, asking for more and dropping is faster.
_MOST_IDS = 2000
_SAME = 0.99


class ChromaStore:
    """One collection of passages with their vectors; implements ``rag.ports.VectorStore``.

    Args:
        connect: makes the client.
        fault: turns what Chroma raised into an error for the user.
    """

    def __init__(self, connect: Callable[[], ClientAPI], fault: Callable[[BaseException], RagError]) -> None:
        self._fault = fault
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

    @classmethod
    def at(
        cls,
        url: str,
        *,
        tenant: str = "default_tenant",
        database: str = "default_database",
        api_key: str | None = None,
    ) -> ChromaStore:
        """Open the store on the Chroma server at ``url`` (``http://host:8000``)."""
        parts = urlsplit(url)
        secure = parts.scheme == "https"

        def connect() -> ClientAPI:
            return chromadb.HttpClient(
                host=parts.hostname or url,
                port=parts.port or (443 if secure else 8000),
                ssl=secure,
                headers={"x-chroma-token": api_key} if api_key else None,
                settings=Settings(anonymized_telemetry=False),
                tenant=tenant,
                database=database,
            )

        def fault(error: BaseException) -> RagError:
            return ProviderError(
                f"The Chroma server at {parts.hostname}:{parts.port or 8000} failed ({_line(error)}).",
                "Check that it runs and holds this index.",
            )

        return cls(connect, fault)

    def upsert(
        self, ids: list[str], vectors: list[Any], documents: list[str], metadata: list[dict[str, Any]]
    ) -> None:
        """Store passages, in place of what is stored under their ids."""
        with self._translated():
            for at in range(0, len(ids), _BATCH):
                part = slice(at, at + _BATCH)
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
            size = self.collection.count()
            if k < 1 or not size or (allowed is not None and not allowed):
                return []
            if allowed is None:
                return self._nearest(vector, min(k, size))
            if len(allowed) <= _MOST_IDS:
                return self._nearest_among(vector, k, allowed)
            return self._nearest_allowed(vector, k, allowed, size)

    def delete(self, passage_ids: Sequence[str]) -> None:
        with self._translated():
            for at in range(0, len(passage_ids), _BATCH):
                self.collection.delete(ids=list(passage_ids[at : at + _BATCH]))

    def ids(self) -> set[str]:
        with self._translated():
            return set(self.collection.get(include=[])["ids"])

    def count(self) -> int:
        with self._translated():
            return self.collection.count()

    def reset(self) -> None:
        """Make the collection anew, empty."""
        with self._translated():
            with suppress(NotFoundError):
                self._client.delete_collection(COLLECTION)
            self.collection = self._open()

    def finds(self, vectors: Mapping[str, bytes]) -> bool:
        """Whether a query with each passage's own vector finds one as near as itself.

        A damaged index keeps its count and its ids; only a search shows it.
        """
        for passage_id, blob in vectors.items():
            vector = np.frombuffer(blob, dtype=np.float32)
            with self._translated():
                among = self._nearest_among(vector, 1, frozenset([passage_id]))
                overall = self._nearest(vector, 1)
            if not among or among[0][1] < _SAME or not overall or overall[0][1] < _SAME:
                return False
        return True

    def close(self) -> None:
        """Let go of the files; the object is of no use afterwards."""
        cast(Any, self._client).close()  # every client has it; the abstract class does not say so

    def _open(self) -> chromadb.Collection:
        return self._client.get_or_create_collection(
            COLLECTION, embedding_function=None, configuration=_COSINE
        )

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


def _folder_fault(folder: Path, error: BaseException) -> RagError:
    """Chroma tells what the disk said only in words."""
    said = _line(error)
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


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
