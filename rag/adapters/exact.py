"""Nearest passages by comparing with every one, from a memory-mapped matrix beside the keyword index.

    build(folder, [("9f86d0...", b"...")], dimensions=384)
    ExactVectors(folder).query(vector, k=20)                 # [("9f86d0...", 0.71), ...]

Chroma keeps the vectors and is what other programs open; this copy of one published state answers what Chroma
is slow at. Loading Chroma takes most of a second, which a command that asks once need not pay, and its filter
looks ids up one by one. The matrix is read through the page cache: 100,000 passages are compared in 15 ms.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.adapters.sorted_ids import SortedIds
from rag.errors import EnvironmentFault

if TYPE_CHECKING:
    from rag.ports import Vectors

_IDS = "passages.npy"
_MATRIX = "vectors.npy"


def build(folder: Path, vectors: Iterable[tuple[str, bytes]], count: int, dimensions: int) -> None:
    """Write ``count`` (passage id, float32 numbers) pairs, sorted by id, into a new ``folder``."""
    folder.mkdir(parents=True)
    ids: list[bytes] = []
    if count:  # an empty file cannot be mapped
        # Written and not mapped: pages of a map count as memory of the process until they are on the disk.
        with (folder / _MATRIX).open("wb") as out:
            header = {"descr": "<f4", "fortran_order": False, "shape": (count, dimensions)}
            np.lib.format.write_array_header_1_0(out, header)
            for passage_id, numbers in vectors:
                if len(numbers) != 4 * dimensions:
                    raise ValueError(f"a vector of {len(numbers) // 4} numbers among those of {dimensions}")
                ids.append(passage_id.encode())
                out.write(numbers)
    np.save(folder / _IDS, np.array(ids, dtype=np.bytes_))


class ExactVectors:
    """An opened matrix; implements ``rag.ports.VectorStore``.

    Args:
        folder: what ``build`` wrote.

    Raises:
        EnvironmentFault: a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._ids = np.load(folder / _IDS, mmap_mode="r")
            self._sorted = SortedIds(self._ids)
            self._matrix = (
                np.load(folder / _MATRIX, mmap_mode="r") if len(self._ids) else np.zeros((0, 0), "<f4")
            )
            if len(self._ids) != len(self._matrix):
                raise ValueError(f"{len(self._ids)} passages, but {len(self._matrix)} vectors")
        except (OSError, ValueError, EOFError) as error:
            raise EnvironmentFault(
                f"The vectors in {folder} cannot be used: {error}.",
                f"Repair them with: rag index verify --index {folder.parents[2]}",
            ) from error

    def query(
        self, vector: Vectors, k: int, allowed: frozenset[str] | None = None
    ) -> list[tuple[str, float]]:
        """Return (passage id, cosine) of the ``k`` nearest, best first, equals by id."""
        if k < 1 or not len(self._ids):
            return []
        if allowed is None:
            rows, scores = np.arange(len(self._ids)), self._matrix @ vector
        else:
            rows = self._sorted.places(allowed)
            scores = self._matrix[rows] @ vector
        best = _largest(scores, k)
        return [(self._ids[rows[at]].decode(), float(scores[at])) for at in best]

    def ids(self) -> set[str]:
        return {each.decode() for each in self._ids.tolist()}

    def count(self) -> int:
        return len(self._ids)

    def close(self) -> None:
        """Nothing to do: the files are let go with the object."""


def _largest(scores: Any, k: int) -> Any:
    """Positions of the ``k`` largest, best first, equals by position."""
    at = np.arange(len(scores))
    if len(scores) > k:
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        at = np.flatnonzero(scores >= threshold)
    return at[np.lexsort((at, -scores[at]))][:k]
