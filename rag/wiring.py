"""Settings -> live objects. The only file that imports inside functions: here a heavy package is paid for when,
and only when, a command needs it (``rag --help`` needs none, a one-shot extractive ``ask`` no LlamaIndex, no
openai).

    with open_pile(load(), note=print) as pile:
        answer("What is SpecPrefill?", pile)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rag import places
from rag.errors import EnvironmentFault, UsageError
from rag.records import Answer, Filters, Paper, Sentence
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.chain.answer import Pile, Writer
    from rag.index.library import Library
    from rag.ports import ChatModel, Embedder
    from rag.render.layout import Line

Note = Callable[[str], None]


def embedder(settings: Settings) -> Embedder:
    """Make the embedder the settings name."""
    if settings.embedder == "minilm":
        from rag.adapters.embed_minilm import MiniLm

        return MiniLm()
    if settings.embedder == "fake":
        from rag.adapters.embed_fake import FakeEmbedder

        return FakeEmbedder()
    from rag.adapters.embed_http import HttpEmbedder

    if settings.embed_model is None:
        raise UsageError("The embedder 'http' needs a model.", "Set embed_model, for example in rag.toml.")
    base_url = settings.embed_base_url or settings.base_url
    key = settings.embed_api_key or settings.api_key
    return HttpEmbedder(settings.embed_model, base_url, key, timeout=settings.timeout)


@contextmanager
def open_library(settings: Settings, note: Note, made_for: Embedder | None = None) -> Iterator[Library]:
    """Open the index the settings mean; the bundled sample is built first when it is that one."""
    from rag.corpus import sample
    from rag.index.library import Library

    place = places.reading(settings, sample())
    if place.kind == "sample" and not (place.folder / "papers.sqlite").exists():
        build_sample(settings, place.folder, sample(), note)
    with Library(place.folder, made_for.id if made_for else None) as library:
        yield library


@contextmanager
def open_pile(settings: Settings, note: Note) -> Iterator[Pile]:
    """Open the index with everything that is needed to search it."""
    from rag.adapters.chroma_store import ChromaStore
    from rag.adapters.keyword import Bm25Index
    from rag.chain.answer import Pile
    from rag.chain.retrieve import Retriever

    made_for = embedder(settings)
    with open_library(settings, note, made_for) as library:
        raise NotImplementedError


def bibtex(papers: Sequence[Paper]) -> str:
    """Return BibTeX entries."""
    from rag.render.bibtex import entries

    return entries(papers)


def terminal_lines(lines: Sequence[Line]) -> None:
    """Print laid-out lines in colour."""
    from rich.console import Console

    from rag.render import terminal

    terminal.show(Console(highlight=False), lines)


def terminal_table(papers: Sequence[Paper]) -> None:
    """Print a table of papers in colour."""
    from rich.console import Console

    from rag.render import terminal

    terminal.table(Console(highlight=False), papers)
