"""The story of an answer, on one page and for both modes.

    retrieve -> evidence -> extract, or (decide -> generate -> check) -> number by first appearance -> Answer

    pile = Pile(retriever, info)
    answer("By how much did SpecPrefill improve time-to-first-token?", pile)            # extractive
    answer("...", pile, writer=Writer(model, Prompts(), read_json), on_sentence=print)  # model

Whoever gives a writer gets its answer or its error: there is no silent way from one mode to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rag.chain.evidence import Search
from rag.chain.reply import JsonReader
from rag.ports import ChatModel, PaperStore
from rag.prompts import Prompts
from rag.records import Answer, Filters, IndexInfo, Sentence

Similarity = Callable[[str, str], float]


@dataclass(frozen=True, slots=True)
class Pile:
    """What is searched: the opened index and its retriever."""

    retriever: Search
    store: PaperStore
    info: IndexInfo
    similarity: Similarity | None = None
    idf: Callable[[str], float] | None = None


@dataclass(frozen=True, slots=True)
class Writer:
    """A model, and what is needed to have it write; ``price`` in USD per million tokens, None if unknown."""

    model: ChatModel
    prompts: Prompts
    read: JsonReader
    price: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """The dials of an answer."""

    top: int = 8
    evidence_tokens: int = 4000
    max_tokens: int = 700
    max_cost: float | None = None
    depth: Literal["quick", "normal", "deep"] = "normal"
    verify: Literal["lexical", "model", "off"] = "lexical"
    keep_unsupported: bool = False
    load_s: float = 0.0


def answer(
    question: str,
    pile: Pile,
    *,
    writer: Writer | None = None,
    filters: Filters = Filters(),
    options: Options = Options(),
    on_sentence: Callable[[Sentence], None] | None = None,
    on_note: Callable[[str], None] | None = None,
) -> Answer:
    """Answer ``question`` from ``pile``: with sentences of the abstracts, or written by ``writer`` and checked.

    Args:
        on_sentence: called with each sentence that passed, numbered as in the answer, while more are coming.
        on_note: told in one line what the reader should know ("from the cache", "read 8 of 3,340 papers").

    Raises:
        ProviderError: the writer's model cannot be had.
        UsageError: the answer would cost more than ``options.max_cost``.
    """
    raise NotImplementedError
