"""Is everything in order? Each check says what it found; one that failed says what to do about it.

for examine in ALL:
    for check in examine(load()): print(check.status, check.name, check.detail, check.fix)
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rag import places, wiring
from rag.errors import RagError
from rag.settings import KEYS, Settings, default_files

DISTRIBUTION = "citerag"
REINSTALL = "Install the program again, in its folder: make install, or pip install ."
OLDEST = (3, 11)


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, and what was found. ``skipped`` is neither good nor bad."""

    name: str
    status: Literal["ok", "failed", "skipped"]
    detail: str
    fix: str = ""


def python(settings: Settings) -> Iterable[Check]:
    """The interpreter is new enough."""
    detail = f"{sys.version.split()[0]} in {sys.prefix}"
    good = sys.version_info >= OLDEST
    yield Check("python", "ok" if good else "failed", detail, "" if good else "Use Python 3.11 or newer.")


def packages(settings: Settings) -> Iterable[Check]:
    """Every package the program needs is installed."""
    try:
        wanted = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        yield Check("packages", "skipped", "run from source without an installation")
        return
    names = [name for line in wanted if "extra ==" not in line if (name := _name(line))]
    versions = {name: _version(name) for name in names}
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        yield Check("packages", "failed", f"missing: {', '.join(missing)}", REINSTALL)
        return
    yield Check("packages", "ok", ", ".join(f"{name} {version}" for name, version in versions.items()))


def _name(requirement: str) -> str | None:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    return match[0] if match else None


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def settings_files(settings: Settings) -> Iterable[Check]:
    """Which settings files are read. A bad one has stopped the program before it comes here."""
    there = [str(path.absolute()) for path in default_files() if path.exists()]
    yield Check(
        "settings", "ok", ", ".join(there) if there else "no files, all from defaults and environment"
    )


def data_folder(settings: Settings) -> Iterable[Check]:
    """The data folder can be written."""
    folder = next(p for p in (settings.data_dir, *settings.data_dir.absolute().parents) if p.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        fix = "Make it writable, or name another: RAG_DATA_DIR."
        yield Check("data folder", "failed", f"{settings.data_dir}: {error.strerror}", fix)
        return
    yield Check("data folder", "ok", str(settings.data_dir))


def embedder(settings: Settings) -> Iterable[Check]:
    """The embedder's files are the right ones and it makes vectors."""

    def examine() -> str:
        made = wiring.embedder(settings)
        vectors = made.embed(["one text", "another"])  # the bundled one checks its files when given several
        return f"{made.id}, {vectors.shape[1]} dimensions"

    yield _examined("embedder", examine)


def index(settings: Settings) -> Iterable[Check]:
    """The index opens, and records, vectors and keyword index agree."""
    place = places.reading(settings)
    if place.kind == "sample" and not place.folder.exists():
        yield Check("index", "skipped", "none yet; the bundled sample is indexed at the first question")
        return

    yield _examined("index", lambda: wiring.consistency(settings, place.folder))


def model(settings: Settings) -> Iterable[Check]:
    """The model server answers and has the model."""
    if settings.mode == "extractive":
        yield Check("model", "skipped", "none set: answers are extractive")
        return
    yield _examined("model", lambda: wiring.offered(settings))


def _examined(name: str, examine: Callable[[], str]) -> Check:
    try:
        return Check(name, "ok", examine())
    except RagError as error:
        return Check(name, "failed", error.message, error.remedy)
    except ImportError as error:
        return Check(name, "failed", f"a package cannot be loaded: {error}", REINSTALL)


def origins(settings: Settings) -> Mapping[str, tuple[str, str]]:
    """Return every setting that is not a default: its value, secrets masked, and where it came from."""
    return MappingProxyType(
        {key: (settings.shown(key), settings.origin(key)) for key in KEYS if key in settings.origins}
    )


ALL: tuple[Callable[[Settings], Iterable[Check]], ...] = (
    python,
    packages,
    settings_files,
    data_folder,
    embedder,
    index,
    model,
)
