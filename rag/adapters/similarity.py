"""Cosine of two texts, each embedded once; many texts can be embedded ahead, together.

alike = Cosine(MiniLm())
alike.prepare(sentences)             # one call of the embedder, on all cores or in one request
alike(question, sentences[0])        # 0.71
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.ports import Embedder, Vectors

_KEPT = 4096


class Cosine:
    """Implements ``rag.ports.Prepares``; keeps the vectors it used last."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, Vectors] = OrderedDict()

    def __call__(self, one: str, other: str) -> float:
        return float(self._vector(one) @ self._vector(other))

    def prepare(self, texts: Iterable[str]) -> None:
        """Embed those of ``texts`` that are not known yet."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        if missing:
            self._kept.update(zip(missing, self._embedder.embed(missing), strict=True))
            self._trim()

    def _vector(self, text: str) -> Vectors:
        if text not in self._kept:
            self._kept[text] = self._embedder.embed([text])[0]
            self._trim()
        self._kept.move_to_end(text)
        return self._kept[text]

    def _trim(self) -> None:
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
