"""Settings -> a pile on a Chroma server; part of ``rag.wiring``.

with library(settings, folder, note) as following:
    following.count_papers()                 # of what is published there now
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag.settings import Settings

if TYPE_CHECKING:
    from rag.adapters.chroma_server import ChromaServer
    from rag.adapters.chroma_store import ChromaStore
    from rag.index.follow import Following
    from rag.index.parts import Parts
    from rag.index.shared import FileNames


def connect(settings: Settings) -> ChromaServer:
    """Make the server that the settings name; nothing is asked of it yet."""
    from rag.adapters.chroma_server import ChromaServer

    return ChromaServer(
        settings.chroma_url or "",
        tenant=settings.chroma_tenant,
        database=settings.chroma_database,
        api_key=settings.chroma_api_key,
        collection=settings.chroma_collection,
        timeout=settings.timeout,
    )


def library(
    settings: Settings, folder: Path, note: Callable[[str], None], embedder: str | None = None
) -> Following:
    """Open what is published on the server, with a copy of its records in ``folder``."""
    from rag.index.follow import Following
    from rag.wiring.index import parts

    server = connect(settings)
    return Following(
        folder,
        server,
        lambda: parts(settings, server),
        embedder=embedder,
        on_change=lambda: note(f"Reading what changed on {settings.chroma_url} ..."),
    )


def passages(following: Following) -> Callable[[Path], ChromaStore]:
    """Return what opens the vector store of an opened library: the server's, whatever the folder."""
    from rag.adapters.chroma_server import ChromaServer

    server = following.server
    if not isinstance(server, ChromaServer):
        raise TypeError("a server of another kind")
    return lambda _: server.passages()


def shared(parts: Parts, server: ChromaServer) -> Parts:
    """Return the parts of an index whose records and vectors are on ``server``."""
    from rag.corpus import identity
    from rag.index.shared import Sharing

    return replace(
        parts,
        open_vectors=lambda _: server.passages(make=True),
        build_exact=None,
        exact_ids=None,
        sharing=Sharing(server, files(), identity.signatures),
    )


def files() -> FileNames:
    """What files of this machine are called on a server."""
    from rag.index.shared import FileNames

    return FileNames(f"@{platform.node()}:")
