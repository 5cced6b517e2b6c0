"""Real Chroma servers for tests, and piles on them as different machines see them."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import httpx
from index_pile import parts, signatures

from rag.adapters import keyword
from rag.adapters.chroma_server import ChromaServer
from rag.adapters.embed_fake import FakeEmbedder
from rag.chain.retrieve import Retriever
from rag.index.follow import Following
from rag.index.parts import Parts
from rag.index.shared import FileNames, Sharing
from rag.ports import Embedder

CHROMA = Path(sys.executable).with_name("chroma")


class Running:
    """A Chroma server that a test may kill and start again, always at one address."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self.start()

    def start(self) -> None:
        where = ["--path", str(self._folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [str(CHROMA), "run", *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while not self._answers():
            assert self._process.poll() is None, "the server ended"
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/api/v2/heartbeat", timeout=5).is_success
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def running(folder: Path) -> Iterator[Running]:
    server = Running(folder)
    try:
        yield server
    finally:
        server.kill()


def shared(server: ChromaServer, machine: str = "ana", embedder: Embedder | None = None) -> Parts:
    """What the machine called ``machine`` writes an index on ``server`` with."""
    return replace(
        parts(embedder),
        open_vectors=lambda _: server.passages(make=True),
        build_exact=None,
        exact_ids=None,
        sharing=Sharing(server, FileNames(f"@{machine}:"), signatures),
    )


def following(folder: Path, server: ChromaServer) -> Following:
    return Following(folder, server, lambda: shared(server, "reader"), on_change=lambda: None)


def seen(folder: Path, server: ChromaServer) -> dict[str, Any]:
    """Everything that a reader of ``server`` with its copy in ``folder`` could tell apart."""
    with following(folder, server) as library:
        stored: Any = server.passages().collection.get(include=["embeddings", "documents", "metadatas"])
        order = sorted(range(len(stored["ids"])), key=lambda at: stored["ids"][at])
        state = server.state()
        assert state is not None
        keys = sorted(library.keys())
        return {
            "papers": [asdict(each) for each in library.papers()],
            "passages": {key: list(map(asdict, of)) for key, of in library.passages_of(keys).items()},
            "manifest": state.manifest,
            "rows": server.every(),
            "keywords": keyword.Bm25Index(library.keyword_folder).keys(),
            "ids": [stored["ids"][at] for at in order],
            "documents": [stored["documents"][at] for at in order],
            "metadata": [stored["metadatas"][at] for at in order],
            "vectors": [[round(float(x), 5) for x in stored["embeddings"][at]] for at in order],
            "unfinished": state.unfinished,
        }


def asked(library: Following, question: str, top: int = 5) -> list[str]:
    """Keys that a search gives."""
    search = Retriever(
        library,
        library.server.passages(),
        keyword.Bm25Index(library.keyword_folder),
        FakeEmbedder(64),  # type: ignore[attr-defined]
    )
    return [hit.paper.key for hit in search.search(question, top)]
