"""A pile on a Chroma server: its passages, the rows beside them, and the state that is published.

    server = ChromaServer("http://127.0.0.1:8000")
    server.state().manifest.papers                     # 38
    server.passages().query(vector, k=20)

Two collections, and a third while somebody writes: ``citerag`` holds passages with their vectors, as in a
folder, ``citerag.papers`` one row per paper (``rag.index.shared``) with the published state as its metadata.
Rows are packed: text in Chroma is indexed for full-text search, which takes seven times as long and helps
nobody here. No value is larger than Chroma Cloud accepts.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import count, takewhile
from typing import Any, cast
from urllib.parse import urlsplit

import chromadb
import httpx
from chromadb.api import ClientAPI
from chromadb.config import Settings
from chromadb.errors import AuthorizationError, ChromaAuthError, NotFoundError

from rag.adapters.chroma_lease import LASTS, Lease
from rag.adapters.chroma_store import COLLECTION, ChromaStore, Limits, ids_of, line
from rag.errors import EnvironmentFault, IndexMismatch, ProviderError, RagError, UsageError
from rag.index.database import FORMAT
from rag.index.manifest import Manifest
from rag.index.shared import OnWait, State

CLOUD = "api.trychroma.com"
_MARK = {"citerag": FORMAT}
# What Chroma Cloud allows: 300 records a request, 4,096 bytes a value of a record.
_CLOUD_MOST = 300
_PART = 4000
_ROWS = 300


class ChromaServer:
    """The pile ``collection`` on the server at ``url``; implements ``rag.index.shared.Server``.

    Nothing is asked before it is needed.

    Args:
        tenant, database: where on the server; None for its default.
        collection: the name of the pile there.
        api_key: sent with every request.
        timeout: seconds to wait for a sign of life.
        lasts: see ``Lease``.
    """

    def __init__(
        self,
        url: str,
        *,
        tenant: str | None = None,
        database: str | None = None,
        api_key: str | None = None,
        collection: str = COLLECTION,
        timeout: float = 120.0,
        lasts: float = LASTS,
    ) -> None:
        self._parts = urlsplit(url)
        if self._parts.path.strip("/"):
            raise UsageError(f"The address {url} has a path.", "Give host and port only: http://host:8000")
        self._url = url
        self._where = (tenant, database)
        self._api_key = api_key
        self._collection = collection
        self._timeout = timeout
        self._lasts = lasts
        self._lease: Lease | None = None
        cloud = self._parts.hostname == CLOUD
        most = _CLOUD_MOST if cloud else None
        self._limits = Limits(most or 2000, most or 10_000, most, self._before_writing)

    @property
    def name(self) -> str:
        return f"The Chroma server at {self._url} (collection {self._collection})"

    def passages(self, *, make: bool = False) -> ChromaStore:
        """Open the passages; ``make`` for a writer, who makes the collection when it is not there."""
        if not make and self._get(self._collection) is None:
            raise EnvironmentFault(f"{self.name} has lost its passages.", "Bring them back: rag index verify")
        return ChromaStore(
            lambda: self._client,
            self._fault,
            name=self._collection,
            metadata=_MARK,
            limits=self._limits,
            close=False,
        )

    def state(self) -> State | None:
        found = self._get(self._papers)
        if found is None:
            self._get(self._collection)  # refuse what is not ours
            return None
        return _state(found)

    @contextmanager
    def writing(self, timeout: float, on_wait: OnWait | None) -> Iterator[None]:
        with ExitStack() as stack:
            stack.callback(self.close)
            self.state()
            with self._translated():
                lease = Lease(self._client, f"{self._collection}.lock", self.name, self._lasts)
                self._lease = stack.enter_context(lease.held(timeout, on_wait))
                if self._get(self._papers) is None:
                    self._client.create_collection(self._papers, embedding_function=None, metadata={**_MARK})
            self.passages(make=True)
            yield

    def begin(self) -> None:
        state = self.state()
        if state is None:
            raise EnvironmentFault(f"{self.name} was deleted meanwhile.", "Run the same command again.")
        self.publish(replace(state, unfinished=True))

    def publish(self, state: State) -> None:
        with self._writing() as rows:
            rows.modify(metadata=_metadata(state))

    def live(self, generation: int) -> set[str]:
        unended = {"$or": [{"until": {"$eq": 0}}, {"until": {"$gt": generation}}]}
        return self._ids({"$and": [{"since": {"$lte": generation}}, unended]})

    def ending(self, generation: int) -> set[str]:
        return self._ids({"until": {"$gt": generation}})

    def every(self) -> set[str]:
        return self._ids(None)

    def read(self, ids: Sequence[str]) -> dict[str, str]:
        with self._translated():
            found = self._rows().get(ids=list(ids), include=["metadatas"])
        return {
            id_: _unpacked(said) for id_, said in zip(found["ids"], found["metadatas"] or (), strict=True)
        }

    def add(self, rows: Mapping[str, str], since: int) -> None:
        packed = [{"since": since, "until": 0, **_packed(text)} for text in rows.values()]
        with self._writing() as collection:
            collection.upsert(
                ids=list(rows),
                embeddings=cast(Any, [_place(id_) for id_ in rows]),
                metadatas=cast(Any, packed),
            )

    def end(self, ids: Sequence[str], until: int) -> None:
        with self._writing() as collection:
            collection.update(ids=list(ids), metadatas=[{"until": until} for _ in ids])

    def delete(self, ids: Sequence[str]) -> None:
        with self._writing() as collection:
            collection.delete(ids=list(ids))

    def close(self) -> None:
        client = self.__dict__.pop("_client", None)
        if client is not None:
            for each in _sessions(client):  # Chroma's own close() leaves the connections open
                each.close()
            client.close()

    @property
    def _papers(self) -> str:
        return f"{self._collection}.papers"

    @cached_property
    def _client(self) -> ClientAPI:
        """Connect. Chroma's own client would wait without end for a server that takes calls and is silent."""
        secure = self._parts.scheme == "https"
        host, port = self._parts.hostname or "", self._parts.port or (443 if secure else 8000)
        tenant, database = self._where
        # Without encryption, reading the certificates takes longer than most questions.
        verify = None if secure else False
        settings = Settings(anonymized_telemetry=False, chroma_server_ssl_verify=verify)
        with self._translated():
            self._require_chroma(f"{self._parts.scheme}://{self._parts.netloc.rpartition('@')[2]}")
            if host == CLOUD:
                client = chromadb.CloudClient(tenant, database, self._api_key, settings)
            else:
                client = chromadb.HttpClient(
                    host,
                    port,
                    secure,
                    self._headers,
                    settings,
                    tenant or "default_tenant",
                    database or "default_database",
                )
            for each in _sessions(client):
                each.timeout = self._timeout
        return client

    @property
    def _headers(self) -> dict[str, str]:
        return {"x-chroma-token": self._api_key} if self._api_key else {}

    def _require_chroma(self, address: str) -> None:
        port = "" if self._parts.port or self._parts.scheme == "https" else ":8000"
        secure = self._parts.scheme == "https"
        reply = httpx.get(
            f"{address}{port}/api/v2/heartbeat", headers=self._headers, timeout=self._timeout, verify=secure
        )
        if reply.status_code in (401, 403):
            remedy = "Correct RAG_CHROMA_API_KEY." if self._api_key else "Set RAG_CHROMA_API_KEY."
            raise ProviderError(f"{self._url} wants another key ({reply.status_code}).", remedy)
        if reply.is_error or "heartbeat" not in reply.text:
            raise ProviderError(
                f"{self._url} is no Chroma server, or one before version 1 ({reply.status_code}).",
                "Correct RAG_CHROMA_URL.",
            )

    def _get(self, name: str) -> chromadb.Collection | None:
        with self._translated():
            try:
                found = self._client.get_collection(name, embedding_function=None)
            except NotFoundError as error:
                if "ollection" not in str(error):  # the tenant or the database
                    raise
                return None
        made_by = (found.metadata or {}).get("citerag")
        if made_by is None:
            raise EnvironmentFault(
                f"The Chroma server at {self._url} holds a collection {name} that this program did not make.",
                "Choose another name with RAG_CHROMA_COLLECTION.",
            )
        if made_by != FORMAT:
            raise IndexMismatch(
                f"{self.name} has format {made_by}; this program reads format {FORMAT}.",
                "Use the program that made it, or ingest into another: RAG_CHROMA_COLLECTION.",
            )
        return found

    def _rows(self) -> chromadb.Collection:
        found = self._get(self._papers)
        if found is None:
            raise EnvironmentFault(f"{self.name} was deleted meanwhile.", "Run the same command again.")
        return found

    def _ids(self, where: Any) -> set[str]:
        with self._translated():
            return ids_of(self._rows(), self._limits, where)

    @contextmanager
    def _writing(self) -> Iterator[chromadb.Collection]:
        with self._translated():
            rows = self._rows()
            self._before_writing()
            yield rows

    def _before_writing(self) -> None:
        if self._lease is None:
            raise RuntimeError("nothing may be written without the lock")
        self._lease.check()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except RagError:
            raise
        except Exception as error:  # Chroma raises a plain one for an answer that is no JSON
            raise self._fault(error) from error

    def _fault(self, error: BaseException) -> RagError:
        said = line(error)
        if isinstance(error, httpx.TimeoutException):
            return ProviderError(
                f"The Chroma server at {self._url} did not answer within {self._timeout:g} s.",
                "Look after it, then run the same command again; what was published is unchanged.",
            )
        if isinstance(error, httpx.HTTPError) or said.startswith("Could not connect"):
            return ProviderError(
                f"The Chroma server at {self._url} cannot be reached ({said}).",
                "Start it, or correct RAG_CHROMA_URL; what was published is unchanged.",
            )
        if isinstance(error, ChromaAuthError | AuthorizationError):
            return ProviderError(
                f"The Chroma server at {self._url} refuses ({said}).",
                "Check RAG_CHROMA_API_KEY, RAG_CHROMA_TENANT and RAG_CHROMA_DATABASE.",
            )
        if "is full" in said or "No space left" in said:
            return ProviderError(
                f"The disk of the Chroma server at {self._url} is full; what was published is unchanged.",
                "Free some space there, then run the same command again.",
            )
        return EnvironmentFault(
            f"{self.name} failed ({said}).", "If this happens again, compare and repair: rag index verify"
        )


def _sessions(client: Any) -> list[httpx.Client]:
    """The connections of a client: it has none that it shows, and a client within for the tenant."""
    return [each._server._session for each in (client, client._admin_client)]


def _state(papers: chromadb.Collection) -> State:
    said: Any = papers.metadata
    manifest = None
    if "fingerprint" in said:
        counts = {name: int(said[name]) for name in ("dimensions", "papers", "passages")}
        manifest = Manifest(
            format=FORMAT,
            embedder=said["embedder"],
            splitter=json.loads(said["splitter"]),
            fingerprint=said["fingerprint"],
            **counts,
        )
    return State(
        str(papers.id),
        int(said.get("generation", 0)),
        str(said.get("rows", "")),
        manifest,
        bool(said.get("unfinished", 0)),
    )


def _metadata(state: State) -> dict[str, str | int | float | bool]:
    said: dict[str, str | int | float | bool] = {
        **_MARK,
        "generation": state.generation,
        "rows": state.rows,
        "unfinished": int(state.unfinished),
    }
    if state.manifest is not None:
        for name in ("embedder", "dimensions", "papers", "passages", "fingerprint"):
            said[name] = getattr(state.manifest, name)
        said["splitter"] = json.dumps(dict(state.manifest.splitter))
    return said


def _packed(text: str) -> dict[str, str]:
    packed = base64.b85encode(zlib.compress(text.encode())).decode()
    return {f"part{n}": packed[at : at + _PART] for n, at in enumerate(range(0, len(packed), _PART))}


def _unpacked(said: Mapping[str, Any]) -> str:
    numbers = takewhile(lambda n: f"part{n}" in said, count())
    packed = "".join(said[f"part{n}"] for n in numbers)
    return zlib.decompress(base64.b85decode(packed)).decode()


def _place(id_: str) -> list[float]:
    """Chroma wants a vector for everything; rows are never searched by theirs."""
    return [int(id_[:8], 16) / 2**32]
