"""Embedder without a model: a hashed bag of words, for tests and for piles too large to embed for real.

    FakeEmbedder().embed(["speculative prefill", "prefill, speculative!"])   # two equal rows
    FakeEmbedder(32).id                                                     # "fake:32"

Every word adds +1 or -1 to one of the dimensions, both chosen by a checksum of the word, so that texts
sharing words have a positive cosine. Deterministic on every machine and Python, and chosen by its id
like any other embedder.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rag.ports import Vectors

_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """Hashed bag of words of ``dimensions`` (default 256) numbers; ``window`` counts words as tokens."""

    def __init__(self, dimensions: int = 256, window: int = 256) -> None:
        self.dimensions = dimensions
        self.window = window
        self.id = "fake" if dimensions == 256 else f"fake:{dimensions}"

    def count_tokens(self, text: str) -> int:
        return len(_WORD.findall(text))

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(text.casefold())[: self.window]:
                checksum = zlib.crc32(word.encode("utf-8", "replace"))
                row[(checksum >> 1) % self.dimensions] += 1.0 if checksum & 1 else -1.0
            if not row.any():
                row[0] = 1.0
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit
