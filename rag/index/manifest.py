"""``manifest.json``: what an index was made with, for people and for other programs.

    {"format": 1, "embedder": "minilm-l6-v2-int8", "dimensions": 384, "splitter": {...},
     "papers": 38, "passages": 41, "fingerprint": "9f86d081884c7d65"}

The same values are part of ``papers.sqlite``, which decides; the file is written after each change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rag.index.database import FORMAT, wrong_format
from rag.records import IndexInfo

NAME = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index was made with and what is in it. ``fingerprint`` changes with any paper or setting."""

    format: int
    embedder: str
    dimensions: int
    splitter: Mapping[str, int]
    papers: int
    passages: int
    fingerprint: str

    @property
    def info(self) -> IndexInfo:
        return IndexInfo(self.papers, self.passages, self.embedder, self.fingerprint)

    def dumps(self) -> str:
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def loads(cls, text: str) -> Manifest:
        return cls(**json.loads(text))


def write(folder: Path, manifest: Manifest) -> None:
    """Replace the file in one step."""
    part = folder / f"{NAME}.part"
    part.write_text(manifest.dumps(), encoding="utf-8")
    os.replace(part, folder / NAME)


def check_format(folder: Path) -> None:
    """Refuse a folder whose manifest names another format; a missing or unreadable manifest says nothing.

    Raises:
        IndexMismatch: the index was made by another version of this program.
    """
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8")).get("format")
    except (OSError, ValueError, AttributeError):
        return
    if found != FORMAT:
        raise wrong_format(folder, found)
