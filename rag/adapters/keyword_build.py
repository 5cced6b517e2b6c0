"""Writes a BM25 index in the files of bm25s without holding it in memory.

    build(folder, [("asai2024self", "Self-RAG: ..."), ("liu2025specprefill", "SpecPrefill: ...")])

bm25s itself keeps every token and several copies of every posting: measured 5,500 bytes a paper. Here
postings (term, document, count) go to disk in runs sorted by term as they come, and the runs are merged a
range of terms at a time, so that memory holds the vocabulary, the documents' lengths and one range. The
scores are Lucene's:

    idf(t) * tf / (tf + k1 * (1 - b + b * length / mean length)),  idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5))
"""

from __future__ import annotations

import shutil
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import bm25s  # type: ignore[import-untyped]
import numpy as np

from rag.adapters.keyword import EMPTY, KEYS, VERSION, VERSION_FILE, Terms

K1, B = 1.5, 0.75
# Postings held at once: 12 bytes each, and as much again for sorting them.
AT_ONCE = 2_000_000
_RUNS = "runs"
_Ints = np.ndarray[Any, np.dtype[Any]]


@dataclass(slots=True)
class _Run:
    """Postings sorted by term in a file of (document, count) pairs; ``counts[t]`` are of term ``t``."""

    file: Path
    counts: _Ints

    def read(self, first: int, last: int) -> _Ints:
        """Return the pairs of the terms from ``first`` to before ``last``, in their order."""
        before, size = int(self.counts[:first].sum()), int(self.counts[first:last].sum())
        return np.fromfile(self.file, dtype="<i4", count=2 * size, offset=8 * before).reshape(-1, 2)


@dataclass(slots=True)
class _Buffer:
    """Postings that are not on disk yet."""

    terms: array[int] = field(default_factory=lambda: array("i"))
    documents: array[int] = field(default_factory=lambda: array("i"))
    counts: array[int] = field(default_factory=lambda: array("i"))

    def spill(self, file: Path) -> _Run:
        terms = np.frombuffer(self.terms, dtype=np.int32)
        order = np.argsort(terms, kind="stable")
        pairs = np.empty((len(order), 2), dtype="<i4")
        pairs[:, 0] = np.frombuffer(self.documents, dtype=np.int32)[order]
        pairs[:, 1] = np.frombuffer(self.counts, dtype=np.int32)[order]
        pairs.tofile(file)
        return _Run(file, np.bincount(terms).astype(np.int32))


def build(folder: Path, texts: Iterable[tuple[str, str]]) -> None:
    """Write the index of (key, text) pairs, sorted by key, into ``folder``, which is created."""
    folder.mkdir(parents=True)
    terms = Terms()
    keys: list[bytes] = []

    def documents() -> Iterator[list[str]]:
        for key, text in texts:
            keys.append(key.encode())
            yield terms.of_text(text)

    if not write(folder, documents()):
        (folder / EMPTY).touch()
    np.save(folder / KEYS, np.array(keys, dtype=np.bytes_))
    (folder / VERSION_FILE).write_text(VERSION, encoding="ascii")


def write(folder: Path, documents: Iterable[list[str]]) -> bool:
    """Write the index of ``documents``, lists of terms, into ``folder``; return whether there is any term."""
    spilled = folder / _RUNS
    spilled.mkdir()
    vocabulary: dict[str, int] = {}
    lengths = array("i")
    runs = list(_runs(spilled, documents, vocabulary, lengths))
    if vocabulary:
        _save(folder, runs, vocabulary, np.frombuffer(lengths, dtype=np.int32))
    shutil.rmtree(spilled)
    return bool(vocabulary)


def _runs(
    folder: Path, documents: Iterable[list[str]], vocabulary: dict[str, int], lengths: array[int]
) -> Iterator[_Run]:
    buffer = _Buffer()
    for terms in documents:
        for term, count in Counter(terms).items():
            buffer.terms.append(vocabulary.setdefault(term, len(vocabulary)))
            buffer.documents.append(len(lengths))
            buffer.counts.append(count)
        lengths.append(len(terms))
        if len(buffer.terms) >= AT_ONCE:
            yield buffer.spill(folder / str(len(lengths)))
            buffer = _Buffer()
    yield buffer.spill(folder / "last")


def _save(folder: Path, runs: list[_Run], vocabulary: dict[str, int], lengths: _Ints) -> None:
    frequencies = np.zeros(len(vocabulary), dtype=np.int64)
    for run in runs:
        frequencies[: len(run.counts)] += run.counts
    starts = np.concatenate([[0], np.cumsum(frequencies)])
    empty = np.empty(0, dtype=np.float32)
    bm25 = bm25s.BM25(method="lucene", k1=K1, b=B)
    bm25.vocab_dict, bm25.nonoccurrence_array = vocabulary, None
    bm25.scores = {"data": empty, "indices": empty, "indptr": starts, "num_docs": len(lengths)}
    bm25.save(folder, show_progress=False)
    size = int(starts[-1])
    with (
        _array(folder / "data.csc.index.npy", "<f4", size) as scores,
        _array(folder / "indices.csc.index.npy", "<i4", size) as documents,
    ):
        idf = np.log1p((len(lengths) - frequencies + 0.5) / (frequencies + 0.5))
        norms = K1 * (1 - B + B * lengths / lengths.mean())
        for first, last in _ranges(starts):
            terms, pairs = _merged(runs, first, last)
            counts = pairs[:, 1].astype(np.float64)
            (idf[terms] * counts / (counts + norms[pairs[:, 0]])).astype("<f4").tofile(scores)
            pairs[:, 0].astype("<i4").tofile(documents)


def _merged(runs: list[_Run], first: int, last: int) -> tuple[_Ints, _Ints]:
    """Return terms and (document, count) pairs of a range of terms, by term, then by document."""
    terms = [np.repeat(np.arange(first, first + len(part)), part) for part in _counts(runs, first, last)]
    pairs = np.concatenate([run.read(first, last) for run in runs])
    together = np.concatenate(terms)
    order = np.argsort(together, kind="stable")  # runs are in the order of documents
    return together[order], pairs[order]


def _counts(runs: list[_Run], first: int, last: int) -> Iterator[_Ints]:
    return (run.counts[first:last] for run in runs)


def _ranges(starts: _Ints) -> Iterator[tuple[int, int]]:
    """Cut the terms into ranges of at most ``AT_ONCE`` postings, or of one term."""
    first = 0
    while first < len(starts) - 1:
        fitting = int(np.searchsorted(starts, starts[first] + AT_ONCE, side="right")) - 1
        last = max(first + 1, fitting)
        yield first, last
        first = last


def _array(file: Path, dtype: str, size: int) -> BinaryIO:
    """Open a ``.npy`` file for ``size`` numbers that are appended to it."""
    out = file.open("wb")
    header = {"descr": dtype, "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_1_0(out, header)
    return out
