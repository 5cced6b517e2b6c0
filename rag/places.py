"""Which index is meant when none, or one, was named.

    --index DIR, RAG_INDEX or a settings file     that folder, which must exist
    --index sample, where no folder is called so  the bundled sample, whatever was ingested
    --chroma-url URL or RAG_CHROMA_URL            a server, of whose records a copy is kept in the data folder
    nothing, and something was ingested           the user's own index in the data folder
    nothing at all                                the bundled sample, in a folder beside that one

The sample's folder is named by what it is made of, so another release's sample never meets this one's index,
and the user's own papers never meet either.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from rag import __version__
from rag.errors import EnvironmentFault
from rag.settings import Settings

SAMPLE = Path(__file__).with_name("data") / "icml2025-sample.jsonl"
_SAMPLED = Path("sample")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder and what it is to the user."""

    folder: Path
    kind: Literal["named", "server", "own", "sample"]


def reading(settings: Settings) -> Place:
    """Return the index to read from.

    Raises:
        EnvironmentFault: the sample that comes with the program is missing.
    """
    place = writing(settings)
    if settings.index == _SAMPLED and not _SAMPLED.exists():
        return _sample(settings)
    if place.kind in ("named", "server") or (place.folder / "papers.sqlite").exists():
        return place
    return _sample(settings)


def _sample(settings: Settings) -> Place:
    try:
        made_of = SAMPLE.read_bytes() + f"{__version__} {settings.embedder} {settings.embed_model}".encode()
    except OSError as error:
        raise EnvironmentFault(f"{SAMPLE}: {error.strerror}.", "Install the program again.") from None
    return Place(settings.data_dir / f"sample-{hashlib.sha256(made_of).hexdigest()[:12]}", "sample")


def prepared(place: Place) -> Path:
    """Return the folder of a place that is going to be written, made if it is ours to make.

    Raises:
        EnvironmentFault: it cannot be made.
    """
    if place.kind != "named":
        try:
            place.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentFault(
                f"The folder {place.folder} cannot be made: {error.strerror}.",
                "Name another place for all data with RAG_DATA_DIR, or for the index with RAG_INDEX.",
            ) from None
    return place.folder


def writing(settings: Settings) -> Place:
    """Return the index that an ingest goes to."""
    if settings.index is not None:
        return Place(settings.index, "named")
    if settings.chroma_url is not None:
        return Place(settings.data_dir / "servers" / _name(settings), "server")
    return Place(settings.data_dir / "index", "own")


def _name(settings: Settings) -> str:
    """Name the copy of a server's pile, legibly and by all that tells it from another."""
    url = settings.chroma_url or ""
    made_of = [url, settings.chroma_tenant, settings.chroma_database, settings.chroma_collection]
    legible = re.sub(r"[^A-Za-z0-9.]+", "-", f"{urlsplit(url).netloc} {settings.chroma_collection}")
    return f"{legible[:60]}-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:12]}"
