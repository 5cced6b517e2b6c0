"""What the core asks of the outside world, as protocols; ``rag.adapters`` implements them, one vendor a file.

Nothing here imports a vendor: numpy is named for type checkers only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rag.records import Filters, Paper, Passage, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. ``id`` names model and build: equal ids give equal vectors."""

    @property
    def id(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def window(self) -> int:
        """Tokens that fit; a longer text would be cut silently."""
        ...

    def count_tokens(self, text: str) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 of shape (len(texts), dimensions), rows of length 1."""
        ...


@runtime_checkable
class Warms(Protocol):
    """An embedder that can begin to load before it is used."""

    def warm(self) -> None: ...


@runtime_checkable
class Prepares(Protocol):
    """A similarity of two texts that is faster when it knows beforehand which texts will be compared."""

    def prepare(self, texts: Iterable[str]) -> None: ...


class VectorStore(Protocol):
    """Nearest passages by cosine similarity. Read side; writing goes through LlamaIndex."""

    def query(
        self, vector: Vectors, k: int, allowed: frozenset[str] | None = None
    ) -> list[tuple[str, float]]:
        """Return (passage id, cosine similarity) of the ``k`` nearest, best first.

        ``vector`` has one dimension; ``allowed`` restricts to these passage ids.
        """
        ...

    def ids(self) -> set[str]: ...

    def count(self) -> int: ...


class KeywordIndex(Protocol):
    """BM25 over whole papers (title and abstract)."""

    def search(self, question: str, k: int, allowed: frozenset[str] | None = None) -> list[tuple[str, float]]:
        """Return (paper key, BM25 score > 0), best first; ``allowed`` restricts to these papers."""
        ...


class PaperStore(Protocol):
    """The records: the truth from which vectors and keyword index can be rebuilt. Read side."""

    def paper(self, key: str) -> Paper | None: ...

    def papers(self, filters: Filters = ...) -> Iterator[Paper]: ...

    def papers_of(self, keys: Iterable[str]) -> dict[str, Paper]:
        """Return the published ones of ``keys``."""
        ...

    def passages(self, ids: Iterable[str]) -> dict[str, Passage]:
        """Return the known ones of ``ids``; an id that is not (or no longer) published is absent."""
        ...

    def keys(self, filters: Filters) -> frozenset[str]:
        """Return the keys of the papers that pass ``filters``."""
        ...

    def passages_of(self, keys: Iterable[str]) -> dict[str, list[Passage]]:
        """Return the passages of each of ``keys`` that is published, in the order of the abstract."""
        ...

    def owners(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the key of the paper of each of the passages ``ids`` that is published."""
        ...

    def passage_ids(self, keys: Iterable[str]) -> frozenset[str]:
        """Return the ids of all passages of the published ones of ``keys``."""
        ...

    def fingerprint(self) -> str:
        """Return what changes whenever another state is published."""
        ...

    def count_papers(self) -> int: ...

    def count_passages(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat request; ``role`` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request to a model. ``schema`` asks for JSON of this JSON schema where the server can do that."""

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a streamed reply: text, and on the last piece the usage and the reason of the end.

    ``restart`` says that the reply begins anew (its stream broke and was asked for again): whoever collects
    the text forgets what came before. ``cached`` marks a reply that came from the response cache.
    """

    text: str = ""
    usage: Usage | None = None
    finish_reason: str | None = None
    restart: bool = False
    cached: bool = False


class ChatModel(Protocol):
    """A model behind some API. Errors are ``ProviderError`` with a remedy, never a vendor's exception."""

    @property
    def name(self) -> str: ...

    @property
    def context_window(self) -> int:
        """Tokens of prompt and reply together that may be used."""
        ...

    def stream(self, request: ChatRequest) -> Iterator[Delta]: ...


@dataclass(frozen=True, slots=True)
class Reply:
    """What a web service answered, good or refusing; its moments of being busy are not passed on."""

    status: int
    body: bytes


class Service(Protocol):
    """A web service that is asked at its own pace, again when it was busy or the connection broke."""

    def ask(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Return the reply to a GET, or to a POST of ``body`` as JSON.

        Raises:
            ProviderError: it cannot be reached, stays busy, or wants to be left alone for long.
        """
        ...
