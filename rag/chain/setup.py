"""What an answer is made with: the pile that is searched, the model that writes, the dials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from rag.chain.evidence import Search
from rag.chain.meter import Price
from rag.chain.reply import JsonReader
from rag.ports import ChatModel, PaperStore
from rag.prompts import Prompts
from rag.records import IndexInfo, Sentence

_QUICK = 4
Similarity = Callable[[str, str], float]
Note = Callable[[str], None]
OnSentence = Callable[[Sentence], None]


@dataclass(frozen=True, slots=True)
class Pile:
    """An opened index: its retriever, its records, and what extraction and checks may ask of it.

    ``similarity`` is the cosine of two texts; optional.
    """

    retriever: Search
    store: PaperStore
    info: IndexInfo
    similarity: Similarity | None = None


@dataclass(frozen=True, slots=True)
class Writer:
    """A model, and what is needed to have it write; ``price`` in USD per million tokens, None if unknown."""

    model: ChatModel
    prompts: Prompts
    read: JsonReader
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """The dials of an answer; ``load_s`` is the time that opening the index took, for the timings.

    ``always_ask`` asks the model even where the evidence decides against an answer, which it still does: for
    recordings, so that another threshold needs no new ones.
    """

    top: int = 8
    evidence_tokens: int = 4000
    max_tokens: int = 700
    max_cost: float | None = None
    depth: Literal["quick", "normal", "deep"] = "normal"
    verify: Literal["lexical", "model", "off"] = "lexical"
    keep_unsupported: bool = False
    always_ask: bool = False
    load_s: float = 0.0

    @property
    def papers(self) -> int:
        """How many papers are read at first."""
        return min(self.top, _QUICK) if self.depth == "quick" else self.top
