"""Settings -> live objects. The files of this folder import inside functions, as none but the words of
``rag eval`` do beside them: a heavy package is paid for when a command needs it, and only then:
``rag --help`` needs none, a quoted answer neither LlamaIndex nor openai.

    with open_pile(load(), note=print) as pile:
        answer("What is SpecPrefill?", pile)
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rag import places
from rag.chat.restrict import known, left, none
from rag.errors import EnvironmentFault, IndexMissing, ProviderError, UsageError
from rag.ports import Warms
from rag.records import Answer, Filters, Sentence
from rag.settings import Settings
from rag.wiring import server as wiring_server
from rag.wiring.fetch import fetch_arxiv, fetch_openreview, fetch_s2
from rag.wiring.index import (
    Note,
    Told,
    build_sample,
    changes,
    describe,
    embedder,
    ingest,
    parts,
    rebuild,
    remove,
    verify,
)

if TYPE_CHECKING:
    from rag.adapters.chroma_store import ChromaStore
    from rag.adapters.openai_api import OpenAIChat
    from rag.chain.plan import Plan
    from rag.chain.setup import Options, Pile, Writer
    from rag.index.library import Library
    from rag.ports import ChatModel, Embedder, PaperStore

__all__ = [
    "Note",
    "Told",
    "ask",
    "build_sample",
    "changes",
    "chat_model",
    "consistency",
    "describe",
    "dials",
    "embedder",
    "fetch_arxiv",
    "fetch_openreview",
    "fetch_s2",
    "heed",
    "ingest",
    "known",
    "offered",
    "open_library",
    "open_pile",
    "openai_chat",
    "parts",
    "plan",
    "rebuild",
    "remove",
    "similarity",
    "verify",
    "writer",
    "writer_with",
]
# Used with OpenAI itself when only a key is set: cheap, and able to do structured output.
DEFAULT_MODEL = "gpt-4o-mini"
# Up to this many passages, comparing a question with each of them beats Chroma's index (docs/benchmarks.md):
# for a command that asks once, since loading Chroma takes longer; for one that goes on asking, outright.
EXACT_ONCE = 500_000
EXACT_OFTEN = 150_000


@contextmanager
def open_library(
    settings: Settings, note: Note, made_for: Embedder | None = None, *, bar: bool = True
) -> Iterator[Library]:
    """Open the index the settings mean, after building it if it is the bundled sample's.

    Args:
        bar: whether a bar may be drawn on stderr; not where something else is on the screen.
    """
    from rag.index.library import Library

    place = places.reading(settings)
    wanted = made_for.id if made_for else None
    if place.kind == "server":
        with wiring_server.library(settings, places.prepared(place), note, wanted) as following:
            yield following
        return
    try:
        library = Library(place.folder, wanted)
    except IndexMissing:
        if place.kind != "sample":
            raise
        build_sample(settings, places.prepared(place), note, bar=bar)
        library = Library(place.folder, wanted)
    with library:
        yield library


def heed(store: PaperStore, filters: Filters, note: Note) -> None:
    """Say so when no paper passes ``filters``.

    Raises:
        UsageError: they name a paper that is not there.
    """
    if not left(store, filters):
        note(none(filters))


@contextmanager
def open_pile(
    settings: Settings,
    note: Note,
    *,
    bar: bool = True,
    once: bool = False,
    made_for: Embedder | None = None,
) -> Iterator[Pile]:
    """Open the index with everything that is needed to search it.

    Args:
        bar: as for ``open_library``.
        once: whether one question will be asked, or more.
        made_for: the embedder, if it is at hand.
    """
    from rag.adapters.exact import ExactVectors
    from rag.adapters.keyword import Bm25Index
    from rag.chain.retrieve import Retriever
    from rag.chain.setup import Pile
    from rag.index.live import LiveKeywords, LiveVectors

    made_for = made_for or warmed(settings)
    with (
        open_library(settings, note, made_for, bar=bar) as library,
        closing(
            LiveVectors(library, passages(library), ExactVectors, EXACT_ONCE if once else EXACT_OFTEN)
        ) as vectors,
    ):
        keywords = LiveKeywords(library, Bm25Index)
        retriever = Retriever(library, vectors, keywords, made_for, settings.weight)
        yield Pile(retriever, library, library.info, similarity(made_for))


def passages(library: Library) -> Callable[[Path], ChromaStore]:
    """Return what opens the vector store of an opened index."""
    from rag.index.follow import Following

    return wiring_server.passages(library) if isinstance(library, Following) else chroma


def chroma(folder: Path) -> ChromaStore:
    """Open the vector store of an index in a folder."""
    from rag.adapters.chroma_store import ChromaStore

    return ChromaStore.in_folder(folder)


def consistency(settings: Settings, folder: Path) -> str:
    """Say what the index holds.

    Raises:
        EnvironmentFault: it cannot be opened, or its three parts do not hold the same.
    """
    from rag.adapters.keyword import Bm25Index

    with open_library(settings, lambda _: None, embedder(settings)) as library:
        papers, wanted = library.count_papers(), library.count_passages()
        vectors = passages(library)(library.vector_folder).count()
        keywords = len(Bm25Index(library.keyword_folder).keys())
        nearest = _nearest(library)
    where, named = settings.chroma_url or folder, "" if settings.chroma_url else f" --index {folder}"
    if (wanted, papers) != (vectors, keywords):
        raise EnvironmentFault(
            f"{where}: {papers} papers and {wanted} passages, but {vectors} vectors and {keywords} in the"
            " keyword index.",
            f"Repair it with: rag index verify{named}",
        )
    return f"{papers:,} papers, {wanted:,} passages in {where}; nearest passages by {nearest}"


def _nearest(library: Library) -> str:
    """What finds the nearest passages, as ``LiveVectors`` decides it."""
    if not library.made().exact.is_dir():
        return "Chroma's index"
    if library.count_passages() <= EXACT_OFTEN:
        return "comparing with each"
    return "Chroma's index, for one question or a filter by comparing with each"


def warmed(settings: Settings) -> Embedder:
    """Make the embedder; a bundled one loads while its user does other things."""
    made = embedder(settings)
    if isinstance(made, Warms):
        made.warm()
    return made


def similarity(made_for: Embedder) -> Callable[[str, str], float]:
    """Cosine similarity of two texts, each embedded once."""
    from rag.adapters.similarity import Cosine

    return Cosine(made_for)


def ask(
    question: str,
    filters: Filters,
    settings: Settings,
    note: Note,
    on_sentence: Callable[[Sentence], None] | None = None,
    *,
    fresh: bool = False,
) -> Answer:
    """Answer one question in the mode of the settings; ``fresh`` has a model asked anew."""
    began = time.perf_counter()
    made_for = warmed(settings)
    from rag.chain.answer import answer

    written_by = writer(settings, note, fresh=fresh) if settings.mode == "model" else None
    with open_pile(settings, note, once=True, made_for=made_for) as pile:
        heed(pile.store, filters, note)
        return answer(
            question,
            pile,
            writer=written_by,
            filters=filters,
            options=dials(settings, time.perf_counter() - began),
            on_sentence=on_sentence,
            on_note=note,
        )


def plan(question: str, filters: Filters, settings: Settings, note: Note) -> Plan:
    """Say what an answer would read and cost, without asking a model.

    Raises:
        UsageError: no model is set, so nothing would be spent.
    """
    from rag.chain.plan import plan

    if settings.mode == "extractive":
        raise UsageError("--dry-run is about a model, and none is set.", "Add --model, or leave it out.")
    written_by = writer(settings, note)
    with open_pile(settings, note, once=True) as pile:
        heed(pile.store, filters, note)
        return plan(question, pile, written_by, filters=filters, options=dials(settings))


def dials(settings: Settings, load_s: float = 0.0) -> Options:
    """Make the options of an answer."""
    from rag.chain.setup import Options

    return Options(
        top=settings.top,
        evidence_tokens=settings.evidence_tokens,
        max_tokens=settings.max_tokens,
        max_cost=settings.max_cost,
        depth=settings.depth,
        verify=settings.verify,
        keep_unsupported=settings.keep_unsupported,
        load_s=load_s,
    )


def writer(settings: Settings, note: Note, *, fresh: bool = False) -> Writer:
    """Make the writer of model mode, with the model the settings name; ``fresh`` as for ``chat_model``."""
    return writer_with(chat_model(settings, note, fresh=fresh), settings)


def writer_with(model: ChatModel, settings: Settings) -> Writer:
    """Make the writer of model mode: ``model``, its prompts, and what its tokens cost."""
    from rag.adapters import partial_json, prices
    from rag.chain.setup import Writer
    from rag.prompts import Prompts

    price = prices.price(model.name, settings.prices)
    return Writer(model, Prompts(settings.prompts), partial_json.read, price)


def chat_model(settings: Settings, note: Note, *, fresh: bool = False) -> ChatModel:
    """Make the model the settings name, its replies kept on disk unless ``cache`` is off.

    Args:
        fresh: ask anew even for what is kept, and keep the new reply.
    """
    if settings.model == "fake":
        from rag.adapters.fake_model import FakeChat

        return FakeChat()
    model = openai_chat(settings, note)
    if not settings.cache:
        return model
    from rag.adapters.response_cache import CachedChat

    return CachedChat(model, settings.data_dir / "replies", settings.base_url or "openai", fresh)


def openai_chat(settings: Settings, note: Note) -> OpenAIChat:
    """Make a model behind an OpenAI-compatible server, without a cache."""
    from rag.adapters.openai_api import OpenAIChat

    def named(model: str) -> OpenAIChat:
        return OpenAIChat(
            model,
            base_url=settings.base_url,
            api_key=settings.api_key,
            timeout=settings.timeout,
            max_retries=settings.retries,
            context_window=settings.context_window,
            capabilities=settings.data_dir / "servers.json",
            key_name=_key_name(settings),
            notice=note,
        )

    if settings.model or settings.base_url is None:
        return named(settings.model or DEFAULT_MODEL)
    offered = named("").models()
    if len(offered) == 1:
        return named(offered[0])
    if not offered:
        raise UsageError(
            f"The server at {settings.base_url} offers no model.",
            "Load one there, or name the one it should have with --model or RAG_MODEL.",
        )
    shown = ", ".join(offered[:10]) + (" ..." if len(offered) > 10 else "")
    raise UsageError(f"The server at {settings.base_url} offers several models.", f"Set one of: {shown}")


def _key_name(settings: Settings) -> str:
    """What an error line calls the place the key comes from."""
    if settings.api_key is None:
        return "OPENAI_API_KEY"
    return settings.origin("api_key").removeprefix("environment variable ")


def offered(settings: Settings) -> str:
    """Say that the server has the model of the settings.

    Raises:
        ProviderError: it is unreachable, refuses, or has no such model.
    """
    if settings.model == "fake":
        return "fake"
    model = openai_chat(settings, lambda _: None)
    names = model.models()
    if names and model.name not in names:
        near = difflib.get_close_matches(model.name, names, n=3, cutoff=0.3) or names[:5]
        raise ProviderError(f"{_server(settings)} has no model {model.name!r}.", f"It has {', '.join(near)}.")
    return f"{model.name} at {_server(settings)}"


def _server(settings: Settings) -> str:
    return settings.base_url or "api.openai.com"
