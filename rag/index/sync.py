"""Makes an index equal to the files it is made from.

    report = sync(Path("my-index"), files, read=corpus.read, identity=identity, parts=parts)
    report.added, report.unchanged                       # (38, 0), and (0, 38) the next time

Files that did not change are not opened, records that did not change are not embedded again, and a search
during all this sees the old state or the new one (``rag.index.writer`` says how).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from rag.errors import UsageError
from rag.index.changes import Changes, drop_paper
from rag.index.derive import Derivation
from rag.index.follow import require_index
from rag.index.parts import Identity, Parts, Read
from rag.index.report import SyncReport
from rag.index.shared import OnWait
from rag.index.vector_side import Progress
from rag.index.ways import Ways
from rag.index.writer import writing_to


def sync(
    folder: Path,
    files: Sequence[Path],
    *,
    read: Read,
    identity: Identity,
    parts: Parts,
    reading: str = "",
    ways: Ways | None = None,
    prune: bool = False,
    progress: Progress | None = None,
    on_wait: OnWait | None = None,
    timeout: float = 60.0,
) -> SyncReport:
    """Bring the index in ``folder`` into line with ``files``; other files that it knows stay as they are.

    Args:
        folder: the index; made when it is not there.
        files: the files to read, already found.
        read: yields the papers of a file and the failures in it; the keys of the papers are proposals.
        identity: when two records are the same paper.
        parts: the adapters.
        reading: a name for how ``read`` works; when it changes, every file is read again.
        ways: what was given for reading some files, now or before; remembered from now on.
        prune: drop papers whose file is gone.
        progress: told (done, total) passages while they are embedded.
        on_wait: told who is writing when another process is; ``timeout`` is how many seconds to wait for it.

    Raises:
        EnvironmentFault: the folder is no index, cannot be written, or is being written by another process.
        IndexMismatch: the index was made with another format, embedder or splitter.
        ProviderError: the embedder failed; what it embedded is kept for the next run.
        KeyboardInterrupt: likewise.
    """
    began = time.monotonic()
    ways = ways or Ways()
    with writing_to(folder, parts, timeout=timeout, on_wait=on_wait) as writer, writer.transaction():
        derived = Derivation(writer.db, identity, writer.splitter)
        changes = Changes(
            writer.db, derived, read=read, identity=identity, reading=reading, ways=ways, files=parts.files
        )
        ways.keep(writer.db)
        for path in files:
            changes.take_file(path)
        if prune:
            changes.drop_missing_files()
        derived.settle()
        added, changed, unchanged, removed = derived.counts([parts.files.name(path) for path in files])
        writer.publish(progress)
        papers = writer.count_papers()
    return SyncReport(
        added, changed, unchanged, removed, tuple(changes.failed), papers, time.monotonic() - began
    )


def remove(
    folder: Path,
    keys: Sequence[str],
    *,
    identity: Identity,
    parts: Parts,
    on_wait: OnWait | None = None,
    timeout: float = 60.0,
) -> SyncReport:
    """Remove papers from the index. Ingesting a file that still holds one brings it back.

    Raises:
        UsageError: there is no paper of that key; nothing is removed then.
        IndexMissing: there is no index; none is made.
        EnvironmentFault, IndexMismatch: as for ``sync``.
    """
    began = time.monotonic()
    require_index(folder, parts)
    with writing_to(folder, parts, timeout=timeout, on_wait=on_wait) as writer, writer.transaction():
        derived = Derivation(writer.db, identity, writer.splitter)
        for key in keys:
            if not writer.db.execute("SELECT 1 FROM papers WHERE key = ?", (key,)).fetchone():
                raise UsageError(f"There is no paper {key!r} in {folder}.", "See: rag papers list")
            drop_paper(writer.db, derived, key)
        derived.settle()
        _, changed, _, removed = derived.counts([])
        writer.publish()
        papers = writer.count_papers()
    return SyncReport(changed=changed, removed=removed, papers=papers, seconds=time.monotonic() - began)
