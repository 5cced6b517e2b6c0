"""Which index is meant when none, or one, was named.

    --index DIR, RAG_INDEX or a settings file     that folder, which must exist
    nothing, and something was ingested           the user's own index in the data folder
    nothing at all                                the bundled sample, in a folder beside that one

The sample's folder is named by what it is made of, so another release's sample never meets this one's index,
and the user's own papers never meet either.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rag.settings import Settings


@dataclass(frozen=True, slots=True)
class Place:
    """A folder and what it is to the user."""

    folder: Path
    kind: Literal["named", "own", "sample"]


def reading(settings: Settings, sample: Path) -> Place:
    """Return the index to read from; ``sample`` is the bundled file."""
    place = writing(settings)
    if place.kind == "named" or (place.folder / "papers.sqlite").exists():
        return place
    digest = hashlib.sha256(
        sample.read_bytes() + settings.embedder.encode() + str(settings.embed_model).encode()
    )
    return Place(settings.data_dir / f"sample-{digest.hexdigest()[:12]}", "sample")


def writing(settings: Settings) -> Place:
    """Return the index that an ingest goes to."""
    if settings.index is not None:
        return Place(settings.index, "named")
    return Place(settings.data_dir / "index", "own")
