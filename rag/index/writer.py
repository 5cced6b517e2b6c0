"""An index opened for writing, and the one way in which a new state of it is published.

    with writing_to(folder, parts) as writer, writer.transaction():
        changes = ...                      # papers and passages brought up to date
        writer.publish(progress)

What a reader sees meanwhile:

    1  the transaction on the records begins             the old state
    2  papers and passages are derived                   the old state
    3  new passages are embedded and put into Chroma     the old state: ids that are not published are ignored
    4  a keyword index is written beside the old one     the old state
       (a vector store that is made anew likewise)
    5  the transaction ends: the new state is published  the new state
    6  what only the old state used is deleted           the new state

Where a server holds the pile, the folder is a copy: the rows that other machines read are written between 4
and 5, and the server publishes a moment before the folder does (``rag.index.upload``). If the process is
killed in that moment, the next one takes over from the server what it finds there.

A process killed before 5 leaves the old state, after 5 the new one, and in both cases the file
``unfinished``: the next writer then compares Chroma with the records, tries it with known vectors, and
repairs it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from rag.errors import EnvironmentFault, IndexMismatch
from rag.index import lock, manifest
from rag.index.adopt import adopt
from rag.index.database import FORMAT, PAPERS, VECTORS, faults, open_papers
from rag.index.library import EXACT, keyword_folder, made, published_token, vector_folders, wrong_embedder
from rag.index.manifest import Manifest
from rag.index.parts import Parts
from rag.index.passages import Splitter, joined
from rag.index.shared import OnWait, Sharing
from rag.index.upload import Upload
from rag.index.vector_side import Progress, VectorSide
from rag.index.vectors import StoredVectors

UNFINISHED = "unfinished"
_OURS = (PAPERS, VECTORS, manifest.NAME, lock.NAME, lock.HOLDER, UNFINISHED, "chroma", "keyword")


@contextmanager
def writing_to(
    folder: Path, parts: Parts, *, timeout: float = 60.0, on_wait: OnWait | None = None, rebuild: bool = False
) -> Iterator[Writer]:
    """Open ``folder`` as the only writer; see ``rag.index.lock.writing`` for ``timeout`` and ``on_wait``.

    Args:
        rebuild: accept an index made with another embedder or splitter.

    Raises:
        EnvironmentFault: it is no index, cannot be written, or is being written.
        IndexMismatch: it was made with another format, embedder or splitter.
    """
    _require_ours(folder)
    alone = parts.sharing.server.writing(timeout, on_wait) if parts.sharing else nullcontext()
    with alone, faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
        manifest.check_format(folder)
        with lock.writing(folder, timeout, on_wait):
            writer = Writer(folder, parts)
            try:
                if parts.sharing:
                    writer.join(parts.sharing)
                if not rebuild:
                    writer.require_same_settings()
                yield writer
            finally:
                writer.close()


class Writer:
    """An index opened for writing; made by ``writing_to``, which holds the lock."""

    def __init__(self, folder: Path, parts: Parts) -> None:
        self.folder = folder
        self.parts = parts
        self.db = open_papers(folder)
        self.stored = StoredVectors(folder, parts.embedder.id)
        self.splitter = Splitter(parts.embedder.count_tokens, parts.embedder.window)
        self.vectors = VectorSide(folder, parts, self.db, self.stored)
        self.upload: Upload | None = None
        if not parts.sharing and published_token(self.db):
            self.close()
            raise EnvironmentFault(
                f"{folder} is a copy of what a Chroma server holds.",
                "Name the server instead: --chroma-url URL",
            )
        if parts.sharing:
            self.db.execute(
                "CREATE TABLE IF NOT EXISTS shared (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE)"
            )

    def join(self, sharing: Sharing) -> None:
        """Take over what was published on the server, of which this process is the only writer."""
        state = sharing.server.state()
        if state is None:
            raise RuntimeError("a server that is held for writing has a state")
        if published_token(self.db) != state.token:
            adopt(self, sharing, state)
        self.upload = Upload(self.db, sharing.server, state)

    def close(self) -> None:
        self.vectors.close()
        self.stored.close()
        self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Undo everything unless ``publish`` was reached."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")

    def published(self) -> Manifest | None:
        row = self.db.execute("SELECT value FROM meta WHERE name = 'manifest'").fetchone()
        return Manifest.loads(row[0]) if row else None

    def count_papers(self) -> int:
        """How many papers the state in the transaction has."""
        return int(self.db.execute("SELECT count(*) FROM papers").fetchone()[0])

    def require_same_settings(self) -> None:
        found = self.published()
        if found is None:
            return
        sharing = self.parts.sharing
        name = sharing.server.name if sharing else f"The index in {self.folder}"
        again = "rag index rebuild" if sharing else f"rag index rebuild --index {self.folder}"
        if found.embedder != self.parts.embedder.id:
            raise wrong_embedder(name, found.embedder, self.parts.embedder.id, again)
        if dict(found.splitter) != self.splitter.settings():
            raise IndexMismatch(f"{name} was cut into passages by other rules.", f"Cut it anew: {again}")

    def publish(
        self, progress: Progress | None = None, *, distrust: bool = False, refill: bool = False
    ) -> bool:
        """Bring vectors and keyword index into line with the passages, then publish them; steps 3 to 6.

        Args:
            progress: told (done, total) passages as they are embedded.
            distrust: compare Chroma with the records even if the last writer ended well.
            refill: store every passage again, whatever is stored.

        Returns:
            whether there was anything to do.
        """
        old = self.published()
        new = self._describe(old)
        suspect = distrust or self.is_suspect()
        keywords = self._keywords(new, anew=distrust)
        rows_differ = self.upload is not None and self.upload.compare()
        moved = self._any("fresh") or self._any("gone") or rows_differ
        if old == new and keywords.is_dir() and not suspect and not moved:
            self.db.execute("COMMIT")
            return False
        self.begin()
        self._fill(progress, suspect=suspect, refill=refill)
        self.vectors.close()  # a large one takes more memory than all the rest
        if distrust or not keywords.is_dir():  # one that is there is whole: it was renamed when done
            self._build_keywords(keywords, new.dimensions)
        token = ""
        if self.upload is not None:
            self.upload.push(suspect=suspect)
            token = self.upload.publish(new)
        self._commit(new, token, keywords)
        self._clean_up(new, keywords)
        return True

    def _keywords(self, new: Manifest, *, anew: bool = False) -> Path:
        """Where the keyword index of the new state is or comes to be; ``anew`` never where it is read now."""
        now = made(self.folder, self.db)
        if now.fingerprint == new.fingerprint and not anew:
            return now.keywords
        first = keyword_folder(self.folder, new.fingerprint)
        return first if now.keywords != first else first.with_name(f"{first.name}-2")

    def _fill(self, progress: Progress | None, *, suspect: bool, refill: bool) -> None:
        if suspect:
            self.vectors.drop_strangers()
            missing = self._ids("passages") if refill else self.vectors.missing()
            self.vectors.fill(missing, len(missing), progress)
            return
        total = self.db.execute("SELECT count(*) FROM temp.fresh").fetchone()[0]
        fresh = self.db.execute("SELECT id FROM temp.fresh ORDER BY id")
        self.vectors.fill((id_ for (id_,) in fresh), total, progress)

    def is_suspect(self) -> bool:
        """Whether the last writer was cut off."""
        return (self.folder / UNFINISHED).exists() or (self.upload is not None and self.upload.unfinished)

    def begin(self) -> None:
        """Say that what is there besides the published state may be incomplete."""
        (self.folder / UNFINISHED).touch()
        if self.upload is not None:
            self.upload.begin()

    def take_over(self, new: Manifest | None, token: str) -> None:
        """Publish here what a server published, the records being those already."""
        if new is None:
            self.db.execute("DELETE FROM meta")
            self.db.execute("INSERT INTO meta VALUES ('server', ?)", (token,))
            self.db.execute("COMMIT")
            return
        keywords = self._keywords(new)
        if not keywords.is_dir():
            self._build_keywords(keywords, new.dimensions)
        self._commit(new, token, keywords)
        manifest.write(self.folder, new)
        self._drop_old(keywords)

    def _commit(self, new: Manifest, token: str, keywords: Path) -> None:
        said = [("manifest", new.dumps()), ("fingerprint", new.fingerprint)]
        said += [("keywords", keywords.name), ("vectors", self.vectors.folder.name)]
        said += [("server", token)] if token else []
        self.db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", said)
        self.db.execute("COMMIT")

    def _build_keywords(self, folder: Path, dimensions: int) -> None:
        part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        self.parts.build_keywords(part, self._texts())
        self._build_exact(part / EXACT, dimensions)
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)

    def _build_exact(self, folder: Path, dimensions: int) -> None:
        """Write the matrix, unless a vector is not at hand; then questions go to the vector store."""
        if self.parts.build_exact is None:
            return
        count = self.db.execute("SELECT count(*) FROM passages").fetchone()[0]
        hashes = self.db.execute("SELECT id, text_hash FROM passages ORDER BY id")
        try:
            self.parts.build_exact(folder, self.stored.of(hashes), count, dimensions)
        except KeyError:
            shutil.rmtree(folder)

    def _texts(self) -> Iterator[tuple[str, str]]:
        for key, abstract, body in self.db.execute("SELECT key, abstract, body FROM papers ORDER BY key"):
            title = json.loads(body)[0]
            yield key, joined((title or "").strip(), abstract)

    def _describe(self, old: Manifest | None) -> Manifest:
        """The manifest of the state in the transaction."""
        settings = self.splitter.settings()
        digest = hashlib.sha256(json.dumps([FORMAT, self.parts.embedder.id, settings]).encode())
        papers = 0
        for (hash_,) in self.db.execute("SELECT hash FROM papers ORDER BY key"):
            digest.update(hash_.encode())
            papers += 1
        passages = self.db.execute("SELECT count(*) FROM passages").fetchone()[0]
        embedder = self.parts.embedder
        # A remote embedder has to be asked for its dimensions; an unchanged index needs no server.
        known = old is not None and old.embedder == embedder.id and old.dimensions
        dimensions = known or embedder.dimensions
        return Manifest(FORMAT, embedder.id, dimensions, settings, papers, passages, digest.hexdigest()[:16])

    def _clean_up(self, new: Manifest, keywords: Path) -> None:
        """Delete what only the old state used. Whoever is killed in here leaves ``unfinished`` behind."""
        manifest.write(self.folder, new)
        gone = self._ids("temp.gone")
        if gone:
            self.vectors.delete([id_ for id_ in gone if not self._is_published(id_)])
        self.stored.forget(
            text_hash
            for (text_hash,) in self.db.execute(
                "SELECT text_hash FROM temp.gone WHERE text_hash NOT IN (SELECT text_hash FROM passages)"
            ).fetchall()
        )
        if self.upload is not None:
            self.upload.clean()
        self._drop_old(keywords)
        (self.folder / UNFINISHED).unlink()

    def _drop_old(self, keywords: Path) -> None:
        kept = {keywords, self.vectors.folder}
        for each in {*(self.folder / "keyword").iterdir(), *vector_folders(self.folder)} - kept:
            # Where files in use cannot be deleted, a later run does it.
            shutil.rmtree(each, ignore_errors=True)

    def _is_published(self, id_: str) -> bool:
        return self.db.execute("SELECT 1 FROM passages WHERE id = ?", (id_,)).fetchone() is not None

    def _ids(self, table: str) -> list[str]:
        return [id_ for (id_,) in self.db.execute(f"SELECT id FROM {table} ORDER BY id")]

    def _any(self, table: str) -> bool:
        return self.db.execute(f"SELECT 1 FROM temp.{table}").fetchone() is not None


def _require_ours(folder: Path) -> None:
    """Refuse to write into a folder that holds something else."""
    try:
        names = sorted(each.name for each in folder.iterdir())
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise EnvironmentFault(
            f"{folder} is a file, not an index folder.", "Choose another with --index."
        ) from None
    except OSError:
        return  # what is wrong is said when it is opened
    strangers = [name for name in names if not name.startswith(_OURS)]
    if strangers and PAPERS not in names:
        raise EnvironmentFault(
            f"{folder} is not an index: it holds {strangers[0]}.", "Choose an empty folder with --index."
        )
