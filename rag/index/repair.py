"""Compares the parts of an index with its records, and makes them again from the records.

verify(folder, parts)         # what is wrong, after it was put right
rebuild(folder, parts)        # everything anew, also for another embedder
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from rag.errors import EnvironmentFault
from rag.index import manifest
from rag.index.derive import Derivation
from rag.index.follow import require_index
from rag.index.library import made
from rag.index.parts import Identity, Parts
from rag.index.report import SyncReport
from rag.index.shared import OnWait
from rag.index.vector_side import Progress
from rag.index.writer import Writer, writing_to

_ALONE = Identity(lambda _: [], lambda first, _: first, lambda proposed, _: proposed)


@dataclass(frozen=True, slots=True)
class Findings:
    """What ``verify`` found wrong, in one line each, and whether it was put right."""

    problems: tuple[str, ...]
    repaired: bool


def verify(
    folder: Path,
    parts: Parts,
    *,
    repair: bool = True,
    progress: Progress | None = None,
    on_wait: OnWait | None = None,
    timeout: float = 60.0,
) -> Findings:
    """Compare records, vector store and keyword index; repair the last two from the first.

    Raises:
        EnvironmentFault: the records themselves are damaged, or as for ``sync``.
    """
    require_index(folder, parts)
    with writing_to(folder, parts, timeout=timeout, on_wait=on_wait) as writer, writer.transaction():
        _require_sound_records(writer.db, folder)
        problems = [*_about_vectors(writer), *_about_keywords(writer), *_about_exact(writer)]
        problems += [*_about_files(writer), *(writer.upload.problems() if writer.upload else ())]
        if problems and repair:
            Derivation(writer.db, _ALONE, writer.splitter)
            writer.publish(progress, distrust=True)
    return Findings(tuple(problems), repaired=bool(problems) and repair)


def rebuild(
    folder: Path,
    parts: Parts,
    *,
    identity: Identity,
    progress: Progress | None = None,
    on_wait: OnWait | None = None,
    timeout: float = 60.0,
) -> SyncReport:
    """Derive papers, passages, vector store and keyword index anew from the records, for this embedder.

    Vectors that this embedder made before are used again. Searches by other processes see the old state until
    it is done; only on a server, for another embedder, they fail or miss papers meanwhile.

    Raises:
        EnvironmentFault, ProviderError: as for ``sync``.
    """
    began = time.monotonic()
    require_index(folder, parts)
    with (
        writing_to(folder, parts, timeout=timeout, on_wait=on_wait, rebuild=True) as writer,
        writer.transaction(),
    ):
        _require_sound_records(writer.db, folder)
        writer.begin()
        derived = Derivation(writer.db, identity, writer.splitter)
        derived.touch_all()
        derived.settle()
        old = writer.published()
        # On a server others read the very collection: what is there is written over, unless it cannot stay.
        refill = parts.sharing is not None and old is not None and old.embedder == parts.embedder.id
        if not refill:
            writer.vectors.replace()
        _, changed, _, _ = derived.counts([])
        writer.publish(progress, distrust=True, refill=refill)
        papers = writer.count_papers()
    return SyncReport(
        changed=changed, unchanged=papers - changed, papers=papers, seconds=time.monotonic() - began
    )


def _require_sound_records(db: sqlite3.Connection, folder: Path) -> None:
    found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise EnvironmentFault(
            f"The records of the index in {folder} are damaged ({found}).",
            f"Delete {folder} and run rag ingest again.",
        )


def _about_vectors(writer: Writer) -> list[str]:
    wanted = {id_ for (id_,) in writer.db.execute("SELECT id FROM passages")}
    try:
        store = writer.parts.open_vectors(writer.vectors.folder)
        try:
            stored = store.ids()
            found = store.finds(writer.vectors.sample(stored & wanted))
        finally:
            store.close()
    except EnvironmentFault as fault:
        return [fault.message]
    problems = []
    if lacking := len(wanted - stored):
        problems.append(f"The vector store lacks {lacking} of {len(wanted)} passages.")
    if extra := len(stored - wanted):
        problems.append(f"The vector store holds {extra} passages that no paper has.")
    if not found:
        problems.append("The vector store does not find passages by their own vectors.")
    return problems


def _about_keywords(writer: Writer) -> list[str]:
    if writer.published() is None:
        return ["Nothing was published yet."]
    wanted = [key for (key,) in writer.db.execute("SELECT key FROM papers ORDER BY key")]
    try:
        found = writer.parts.keyword_keys(made(writer.folder, writer.db).keywords)
    except EnvironmentFault as fault:
        return [fault.message]
    return [] if list(found) == wanted else ["The keyword index holds other papers than the records."]


def _about_exact(writer: Writer) -> list[str]:
    """The matrix is a copy that may be missing, in an index of an older version; it must not be wrong."""
    folder = made(writer.folder, writer.db).exact
    if writer.published() is None or writer.parts.exact_ids is None or not folder.is_dir():
        return []
    wanted = {id_ for (id_,) in writer.db.execute("SELECT id FROM passages")}
    try:
        found = writer.parts.exact_ids(folder)
    except EnvironmentFault as fault:
        return [fault.message]
    return [] if found == wanted else ["The copy of the vectors holds other passages than the records."]


def _about_files(writer: Writer) -> list[str]:
    problems = []
    if writer.is_suspect():
        problems.append("The last writer was cut off.")
    published = writer.published()
    path = writer.folder / manifest.NAME
    if published and (not path.is_file() or path.read_text(encoding="utf-8") != published.dumps()):
        problems.append(f"{manifest.NAME} does not describe the records.")
    return problems
