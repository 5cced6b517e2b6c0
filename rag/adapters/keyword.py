"""BM25 over whole papers, kept in a folder and memory-mapped when opened.

    build(folder, [("liu2025specprefill", "SpecPrefill: ..."), ("asai2024self", "Self-RAG: ...")])
    Bm25Index(folder).search("what does SpecPrefill do?", 10)      # [("liu2025specprefill", 0.83)]

Lucene's BM25 (Kamphuis et al. 2020: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), k1 = 1.5, b = 0.75) by bm25s,
English stop words and Porter2 stems. Texts and questions go through the same ``terms``, in which compatible
characters, accents and Greek letters are written one way: a question for "muCODE" finds "μCODE".
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import bm25s  # type: ignore[import-untyped]
import numpy as np
import Stemmer  # type: ignore[import-not-found]
from bm25s.stopwords import STOPWORDS_EN  # type: ignore[import-untyped]

_WORD = re.compile(r"\w\w+")
_STOP = frozenset(STOPWORDS_EN)
_KEYS = "keys.npy"
_EMPTY = "empty"


def fold(text: str) -> str:
    """Write ``text`` one way: NFKC, case folded, no accents, Greek letters by name (μ becomes mu).

    >>> fold("μCODE, Krähenbühl, R²")
    'mucode, krahenbuhl, r2'
    """
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(_letter(c) for c in plain)


@lru_cache(maxsize=4096)
def _letter(char: str) -> str:
    if unicodedata.combining(char):
        return ""
    if char.isascii():
        return char
    name = unicodedata.name(char, "")
    if name.startswith("GREEK SMALL LETTER "):
        return name.removeprefix("GREEK SMALL LETTER ").removeprefix("FINAL ").split(" ")[0].lower()
    return char


class Terms:
    """Turns text into stems, remembering each word's."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english", 0)  # its own cache would evict; the one below does not
        self._stems: dict[str, str] = {}

    def __call__(self, text: str) -> list[str]:
        return [self._stem(word) for word in _WORD.findall(fold(text)) if word not in _STOP]

    def _stem(self, word: str) -> str:
        stem = self._stems.get(word)
        if stem is None:
            stem = self._stems[word] = self._stemmer.stemWord(word)
        return stem


def build(folder: Path, texts: Iterable[tuple[str, str]]) -> None:
    """Write the index of (key, text) pairs into ``folder``, which is created; whole when this returns."""
    folder.mkdir(parents=True)
    terms = Terms()
    vocabulary: dict[str, int] = {}
    keys: list[bytes] = []
    numbers: list[Any] = []
    for key, text in texts:
        keys.append(key.encode())
        numbers.append(array("i", [vocabulary.setdefault(term, len(vocabulary)) for term in terms(text)]))
    np.save(folder / _KEYS, np.array(keys, dtype=np.bytes_))
    if not vocabulary:  # bm25s divides by the mean length and takes the largest token number
        (folder / _EMPTY).touch()
        return
    bm25 = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    bm25.index((numbers, vocabulary), create_empty_token=False, show_progress=False)
    bm25.save(folder, show_progress=False)


class Bm25Index:
    """An opened index.

    Args:
        folder: what ``build`` wrote.

    Raises:
        OSError: a file is missing or cannot be read.
        ValueError: a file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._keys = np.load(folder / _KEYS, mmap_mode="r")
        self._bm25 = (
            None if (folder / _EMPTY).exists() else bm25s.BM25.load(folder, mmap=True, show_progress=False)
        )
        self._terms = Terms()

    def search(self, question: str, k: int, allowed: frozenset[str] | None = None) -> list[tuple[str, float]]:
        """Return (paper key, BM25 score > 0), best first; ``allowed`` restricts to these papers."""
        if self._bm25 is None:
            return []
        known = [term for term in self._terms(question) if term in self._bm25.vocab_dict]
        if not known or k < 1:
            return []
        scores = self._bm25.get_scores(known)
        if allowed is not None:
            scores = np.where(np.isin(self._keys, _as_bytes(allowed)), scores, 0)
        return [(self._keys[at].decode(), float(scores[at])) for at in _best(scores, k)]

    def keys(self) -> list[str]:
        """All paper keys, in the order they were given."""
        return [each.decode() for each in self._keys.tolist()]


def _as_bytes(keys: Iterable[str]) -> np.ndarray[Any, np.dtype[np.bytes_]]:
    return np.array([each.encode() for each in keys] or [b""], dtype=np.bytes_)


def _best(scores: Any, k: int) -> list[int]:
    """Positions of the ``k`` largest positive scores, best first, equals by position."""
    positive = np.flatnonzero(scores > 0)
    if len(positive) > k:
        threshold = np.partition(scores[positive], len(positive) - k)[len(positive) - k]
        positive = positive[scores[positive] >= threshold]
    order = np.lexsort((positive, -scores[positive]))
    return [int(at) for at in positive[order][:k]]
