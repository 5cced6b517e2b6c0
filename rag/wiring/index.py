"""Settings -> an index that is written: ingest, removal, repair, the bundled sample; part of ``rag.wiring``.

ingest(load(), [Path("papers")], note=print).added
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rag import __version__, places
from rag.errors import EnvironmentFault, IndexMissing, RagError, UsageError
from rag.records import Failure, Paper
from rag.settings import Settings
from rag.wiring import server as wiring_server

if TYPE_CHECKING:
    from rag.adapters.chroma_server import ChromaServer
    from rag.adapters.chroma_store import ChromaStore
    from rag.corpus import Description
    from rag.corpus.catalog import Catalog
    from rag.index.parts import Identity, Ingest, Parts, Read
    from rag.index.repair import Findings
    from rag.index.report import SyncReport
    from rag.index.shared import FileNames
    from rag.index.ways import Ways
    from rag.ports import Embedder

Note = Callable[[str], None]
EVERY = 500


def embedder(settings: Settings) -> Embedder:
    """Make the embedder the settings name."""
    if settings.embedder == "minilm":
        from rag.adapters.embed_minilm import MiniLm

        return MiniLm()
    if settings.embedder == "fake":
        from rag.adapters.embed_fake import FakeEmbedder

        return FakeEmbedder()
    from rag.adapters.embed_http import HttpEmbedder

    if settings.embed_model is None:
        raise UsageError("The embedder 'http' needs a model.", "Set embed_model, for example in rag.toml.")
    base_url = settings.embed_base_url or settings.base_url
    key = settings.embed_api_key or settings.api_key
    return HttpEmbedder(
        settings.embed_model, base_url, key, timeout=settings.timeout, max_retries=settings.retries
    )


@dataclass(frozen=True, slots=True)
class Told:
    """What is told about reading, beside the files: None for what was told before, if anything.

    Args:
        columns: by hand, {"title": "Name"}.
        catalog: a file of titles for bare abstracts.
        forget: whether nothing of what was told before counts.
    """

    columns: Mapping[str, str] | None = None
    catalog: Path | None = None
    forget: bool = False


NOTHING = Told()


def ingest(
    settings: Settings, paths: Sequence[Path], note: Note, *, prune: bool = False, told: Told = NOTHING
) -> SyncReport:
    """Bring the index into line with files and folders.

    Raises:
        UsageError: a path is missing, or nothing in any of them is a paper; the index is left as it was.
    """
    from rag import corpus
    from rag.index.database import knows

    paths = given(settings, paths)
    files = corpus.discover(paths)
    names = file_names(settings)
    place = places.writing(settings)
    ways = _ways(names, place.folder, paths, told)
    read = _Reading(place.folder, ways, names)
    if not knows(place.folder, map(names.name, files)):  # else a file that did not change would be opened
        _require_a_paper(files, read.bare)
    report = _sync(
        settings,
        places.prepared(place),
        files,
        note,
        read=read,
        ways=ways,
        prune=prune,
        label="Ingesting",
    )
    if report.failed and not (report.added or report.changed or report.unchanged or report.removed):
        raise _nothing(report.failed)
    return report


def describe(settings: Settings, paths: Sequence[Path], told: Told = NOTHING) -> list[Description]:
    """Say what an ingest would read, with the first records of each file."""
    from rag import corpus

    paths = given(settings, paths)
    folder = places.writing(settings).folder
    names = file_names(settings)
    read = _Reading(folder, _ways(names, folder, paths, told), names)
    described = [_described(file, read.columns(file)) for file in corpus.discover(paths)]
    return [
        # The catalogue judges papers together: the first ones alone could get other titles.
        replace(each, records=tuple(islice(_guarded(read, Path(each.file)), len(each.records))))
        if read.titles(Path(each.file))
        else each
        for each in described
    ]


def _described(file: Path, columns: Mapping[str, str]) -> Description:
    from rag import corpus

    try:
        return corpus.describe(file, columns)
    except RagError:
        raise
    except Exception as error:  # noqa: BLE001 - a reader's bug on odd input, as in _guarded
        return corpus.Description(str(file), "", (_failure(file, error),))


def _ways(names: FileNames, folder: Path, paths: Sequence[Path], told: Told) -> Ways:
    """What was told of reading these paths, now or before."""
    from rag.corpus.catalog import Catalog
    from rag.corpus.fields import FIELDS
    from rag.index.ways import Ways

    if unknown := sorted(set(told.columns or ()) - set(FIELDS)):
        raise UsageError(f"There is no field {unknown[0]!r} to map.", f"The fields are {', '.join(FIELDS)}.")
    ways = Ways.recalled(folder)
    columns = {} if told.forget and told.columns is None else told.columns
    catalog = ("", b"") if told.forget else None
    if told.catalog:
        titles = Catalog.load(told.catalog)
        catalog = (titles.fingerprint, titles.dumps())
    if columns is None and catalog is None:
        return ways
    for path in paths:
        ways = ways.given(names.name(path), columns=columns, catalog=catalog)
    return ways


class _Reading:
    """Reads files, each as was told; a catalogue is opened when a file that did change needs it."""

    def __init__(self, folder: Path, ways: Ways, names: FileNames) -> None:
        self._folder = folder
        self._ways = ways
        self._names = names
        self._catalogs: dict[str, Catalog] = {}

    def __call__(self, path: Path) -> Iterator[Paper | Failure]:
        items = self.bare(path)
        titles = self.titles(path)
        return titles.entitle(items) if titles else items

    def bare(self, path: Path) -> Iterator[Paper | Failure]:
        """Read a file without giving titles."""
        from rag import corpus

        return corpus.read(path, self.columns(path))

    def columns(self, path: Path) -> dict[str, str]:
        return dict(self._ways.of(self._names.name(path)).columns)

    def titles(self, path: Path) -> Catalog | None:
        """Return the catalogue for a file, if it has one."""
        id_ = self._ways.of(self._names.name(path)).catalog
        if id_ and id_ not in self._catalogs:
            self._catalogs[id_] = self._catalog(id_)
        return self._catalogs.get(id_)

    def _catalog(self, id_: str) -> Catalog:
        from rag.corpus.catalog import Catalog
        from rag.index.ways import titles

        packed = self._ways.catalogs.get(id_) or titles(self._folder, id_)
        if packed is None:
            raise EnvironmentFault("The catalogue of titles is gone.", "Give it once more: --catalog FILE")
        return Catalog.loads(packed)


def changes(settings: Settings, paths: Sequence[Path]) -> Iterator[None]:
    """Yield once at the beginning and after every change under ``paths``; see ``rag.adapters.watch``.

    Raises:
        UsageError: a pipe cannot be watched, and neither can what is not there.
    """
    from rag import corpus
    from rag.adapters.watch import changes

    if any(map(corpus.is_pipe, paths)):
        raise UsageError("A pipe cannot be watched.", "Leave out --watch, or name files or folders.")
    if missing := next((path for path in paths if not path.exists()), None):
        raise UsageError(f"There is no file or folder {missing}.", "Check the spelling.")
    return changes(paths, [places.writing(settings).folder])


def given(settings: Settings, paths: Sequence[Path]) -> list[Path]:
    """Return the paths as files and folders; what is piped in (``-`` or a named pipe) is kept as a file."""
    from rag import corpus

    return [_kept(settings, path) if corpus.is_pipe(path) else Path(os.path.abspath(path)) for path in paths]


def file_names(settings: Settings) -> FileNames:
    """What files of this machine are called in the records."""
    from rag.index.shared import FileNames

    return wiring_server.files() if places.writing(settings).kind == "server" else FileNames()


def _kept(settings: Settings, path: Path) -> Path:
    """Keep what is piped in under the name of its content, so that the same again is nothing new."""
    from rag import corpus

    folder = (settings.data_dir / "piped").absolute()
    digest = hashlib.sha256()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (
            nullcontext(sys.stdin.buffer) if path == corpus.STDIN else path.open("rb") as pipe,
            TemporaryDirectory(dir=folder, prefix=".") as own,  # goes with whatever stops this
        ):
            part = Path(own) / "part"
            with part.open("wb") as out:
                while block := pipe.read(2**20):
                    digest.update(block)
                    out.write(block)
            return part.replace(folder / digest.hexdigest()[:16])
    except OSError as error:
        raise EnvironmentFault(
            f"{folder} cannot be written: {error.strerror}.", "Name another folder with RAG_DATA_DIR."
        ) from None


def _counted(read: Read, told: Callable[[int, int], None]) -> Read:
    """Count what is read on the bar; of how many, nobody knows before the end."""
    numbers = count(1)

    def counted(path: Path) -> Iterator[Paper | Failure]:
        for item in read(path):
            number = next(numbers)
            if number % EVERY == 0:
                told(number, 0)
            yield item

    return counted


def build_sample(settings: Settings, folder: Path, note: Note, *, bar: bool = True) -> None:
    """Make the index of the bundled papers."""
    from rag import corpus

    note("No index yet: building one of the 38 bundled papers (your own: rag ingest PATH) ...")
    _sync(settings, folder, [places.SAMPLE], note, read=corpus.read, label="Building", bar=bar)


def remove(settings: Settings, keys: Sequence[str], note: Note) -> SyncReport:
    """Remove papers from the index."""
    from rag.index.sync import remove as remove_papers

    return remove_papers(
        _existing(settings), keys, identity=_identity(), parts=parts(settings), on_wait=_waiting(note)
    )


def verify(settings: Settings, note: Note) -> Findings:
    """Compare the parts of the index and repair what differs."""
    from rag.index import repair

    folder = _existing(settings)
    with progress("Repairing", note) as told:
        return repair.verify(folder, parts(settings), progress=told, on_wait=_waiting(note))


def rebuild(settings: Settings, note: Note) -> SyncReport:
    """Make everything but the records anew."""
    from rag.index import repair

    folder = _existing(settings)
    with progress("Rebuilding", note) as told:
        return repair.rebuild(
            folder, parts(settings), identity=_identity(), progress=told, on_wait=_waiting(note)
        )


def _existing(settings: Settings) -> Path:
    """Return the folder of the index that is looked after; a server's copy is made if it is not there.

    Raises:
        IndexMissing: nothing was ingested yet, and the sample was not built.
    """
    from rag.index.database import PAPERS

    place = places.reading(settings)
    if place.kind == "sample" and not (place.folder / PAPERS).is_file():
        # Its folder is no place for the user's own papers, so it is not named.
        raise IndexMissing("There is no index yet.", "Make one with: rag ingest PATH")
    return places.prepared(place) if place.kind == "server" else place.folder


def parts(settings: Settings, server: ChromaServer | None = None) -> Parts:
    """Make what an index is built with; ``server`` is the one that the settings mean, if it is connected."""
    from rag.adapters import exact, keyword
    from rag.index.parts import Parts

    # An ingest that finds nothing new opens none of these three.
    def open_vectors(folder: Path) -> ChromaStore:
        from rag.adapters.chroma_store import ChromaStore

        return ChromaStore.in_folder(folder)

    def build_keywords(folder: Path, texts: Iterable[tuple[str, str]]) -> None:
        from rag.adapters import keyword_build

        keyword_build.build(folder, texts)

    def open_ingest(vectors: ChromaStore, made_for: Embedder) -> Ingest:
        from rag.adapters.ingest import LlamaIngest

        return LlamaIngest(vectors, made_for)

    made = Parts(
        embedder=embedder(settings),
        open_vectors=open_vectors,
        open_ingest=open_ingest,  # type: ignore[arg-type]
        build_keywords=build_keywords,
        keyword_keys=lambda folder: keyword.Bm25Index(folder).keys(),
        build_exact=exact.build,
        exact_ids=lambda folder: exact.ExactVectors(folder).ids(),
    )
    if places.writing(settings).kind != "server":
        return made
    return wiring_server.shared(made, server or wiring_server.connect(settings))


def _sync(
    settings: Settings,
    folder: Path,
    files: Sequence[Path],
    note: Note,
    *,
    read: Read,
    label: str,
    ways: Ways | None = None,
    prune: bool = False,
    bar: bool = True,
) -> SyncReport:
    from rag.index.sync import sync

    with progress(label, note, bar=bar) as told:
        return sync(
            folder,
            files,
            read=_counted(read, told),
            identity=_identity(),
            parts=parts(settings),
            reading=__version__,
            ways=ways,
            prune=prune,
            progress=told,
            on_wait=_waiting(note),
        )


def _identity() -> Identity:
    from rag.corpus import identity, keys
    from rag.index.parts import Identity

    return Identity(identity.signatures, identity.merge, keys.distinct, identity.contradicted)


def _require_a_paper(files: Sequence[Path], read: Read) -> None:
    reasons = []
    for file in files:
        for item in _guarded(read, file):
            if isinstance(item, Paper):
                return
            reasons.append(item)
    raise _nothing(reasons)


def _guarded(read: Read, file: Path) -> Iterator[Paper | Failure]:
    """What ``read`` yields; a reader's bug on odd input is a failure of that file, told with its type."""
    try:
        yield from read(file)
    except RagError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not cost the other files
        yield _failure(file, error)


def _failure(file: Path, error: Exception) -> Failure:
    from rag.index.changes import reason

    return Failure(str(file), 0, reason(error))


def _nothing(reasons: Sequence[Failure]) -> UsageError:
    first = reasons[0]
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return UsageError(f"{first.file} {first.error}{more}.", "Name files or folders with abstracts.")


def _waiting(note: Note) -> Callable[[object], None]:
    return lambda holder: note(f"Waiting: the index is being written by {holder}.")


def progress(
    label: str, note: Note, *, bar: bool = True
) -> AbstractContextManager[Callable[[int, int], None]]:
    """Show how far something is: a bar in a terminal, a line a minute elsewhere."""
    from rag.render import progress

    return progress.bar(label) if bar and sys.stderr.isatty() else progress.log(label, note)
