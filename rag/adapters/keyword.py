"""Searches a folder that ``keyword_build`` wrote, memory-mapped: BM25 over whole papers.

    Bm25Index(folder).search("what does SpecPrefill do?", 10)      # [("liu2025specprefill", 0.83)]

The files hold the score of each paper for each term, a column a term; a search adds the columns of its terms.
bm25s, whose format they have, is not loaded for that: it brings SciPy, a fifth of a second for each command.
English stop words and Porter2 stems. Texts and questions go through the same folding, in which compatible
characters, accents and Greek letters are written one way: a question for "muCODE" finds "μCODE". A compound
that looks like a name is a word of its own as well: "Self-RAG" finds "SelfRAG", "GPT4" finds "GPT-4".
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import Stemmer  # type: ignore[import-not-found]

from rag.adapters.sorted_ids import SortedIds
from rag.errors import EnvironmentFault

_WORD = re.compile(r"\d+(?:\.\d+)+|\w\w+|\d")
_COMPOUND = re.compile(r"\w++(?:[-‐‑–/.']\w++)+")
# The English list of Lucene, which bm25s has too.
_STOP = frozenset(
    """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these
    they this to was will with
    """.split()  # noqa: SIM905 - prose is easier to read and to change
)
# Words that make a question one and say nothing of the paper wanted; dropping them lifts nDCG@10 of BM25 by
# .000 to .012 on the five collections of docs/retrieval.md.
_ASKING = frozenset(
    """
    what which who whom whose how why when where does do did done doing is are was were has have had can could
    should would may might must shall i me my we our you your it its he she they them this these those there
    any some from about
    """.split()  # noqa: SIM905 - prose is easier to read and to change
)
KEYS = "keys.npy"
EMPTY = "empty"
VERSION_FILE = "version"
# Goes up with every change to how texts become terms: an older index would miss what questions ask for.
VERSION = "1"


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
        self._stemmer = Stemmer.Stemmer("english", 0)  # its own cache evicts; the one below does not
        self._stems: dict[str, str] = {}

    def of_text(self, text: str) -> list[str]:
        """Stems of an abstract, stop words left out, with name-like compounds written as one word."""
        words = [word for word in _WORD.findall(fold(text)) if word not in _STOP]
        return [self._stem(word) for word in [*words, *_compounds(text)]]

    def of_question(self, text: str) -> list[str]:
        """Stems of a question: the same, without the words that only make it a question."""
        words = [word for word in _WORD.findall(fold(text)) if word not in _STOP and word not in _ASKING]
        return [self._stem(word) for word in [*words, *_compounds(text)]]

    def _stem(self, word: str) -> str:
        stem = self._stems.get(word)
        if stem is None:
            stem = self._stems[word] = self._stemmer.stemWord(word)
        return stem


def _compounds(text: str) -> list[str]:
    """Compounds that look like names, in one word: ``Self-RAG`` gives ``selfrag``, ``k-means`` ``kmeans``."""
    return [re.sub(r"\W", "", fold(each)) for each in _COMPOUND.findall(text) if _is_name(each)]


def _is_name(compound: str) -> bool:
    """Whether it has a digit, an inner capital, or a single letter in front; a plain number is none."""
    if compound.replace(".", "").isdigit():
        return False
    return not compound[1].isalnum() or any(c.isdigit() or c.isupper() for c in compound[1:])


class Bm25Index:
    """An opened index.

    Args:
        folder: what ``build`` wrote.

    Raises:
        EnvironmentFault: a file is missing or damaged, or written by another version of this program.
    """

    def __init__(self, folder: Path) -> None:
        try:
            if (folder / VERSION_FILE).read_text(encoding="ascii") != VERSION:
                raise ValueError("written by another version of this program")
            self._load(folder)
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            raise EnvironmentFault(
                f"The keyword index in {folder} cannot be used: {error}.",
                f"Repair it with: rag index verify --index {folder.parent.parent}",
            ) from error

    def _load(self, folder: Path) -> None:
        self._keys = np.load(folder / KEYS, mmap_mode="r")
        self._sorted = SortedIds(self._keys)
        self._terms = Terms()
        self._vocabulary: dict[str, int] = {}
        if not (folder / EMPTY).exists():
            self._vocabulary = json.loads((folder / "vocab.index.json").read_text(encoding="utf-8"))
            self._scores, self._rows, self._starts = (
                np.load(folder / f"{name}.csc.index.npy", mmap_mode="r")
                for name in ("data", "indices", "indptr")
            )
            if len(self._starts) <= len(self._vocabulary) or len(self._rows) < self._starts[-1]:
                raise ValueError("its files do not belong together")

    def search(self, question: str, k: int, allowed: frozenset[str] | None = None) -> list[tuple[str, float]]:
        """Return (paper key, BM25 score > 0), best first; ``allowed`` restricts to these papers."""
        known = [self._vocabulary[t] for t in self._terms.of_question(question) if t in self._vocabulary]
        if not known or k < 1:
            return []
        scores = np.zeros(len(self._keys), dtype=np.float32)
        for term in known:
            column = slice(self._starts[term], self._starts[term + 1])
            scores[self._rows[column]] += self._scores[column]
        if allowed is not None:
            kept = self._sorted.places(allowed)
            scores, every = np.zeros_like(scores), scores
            scores[kept] = every[kept]
        return [(self._keys[at].decode(), float(scores[at])) for at in _best(scores, k)]

    def keys(self) -> list[str]:
        """All paper keys, in the order they were given."""
        return [each.decode() for each in self._keys.tolist()]


def _best(scores: Any, k: int) -> list[int]:
    """Positions of the ``k`` largest positive scores, best first, equals by position."""
    positive = np.flatnonzero(scores > 0)
    if len(positive) > k:
        threshold = np.partition(scores[positive], len(positive) - k)[len(positive) - k]
        positive = positive[scores[positive] >= threshold]
    order = np.lexsort((positive, -scores[positive]))
    return [int(at) for at in positive[order][:k]]
