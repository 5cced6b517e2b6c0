"""What can be wrong with an index or its disk: one line that says so, and nothing lost."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from index_pile import IDENTITY, counts, found, ingest, paper, parts, state, write

from rag.adapters import keyword
from rag.adapters.chroma_store import ChromaStore
from rag.adapters.embed_fake import FakeEmbedder
from rag.errors import EnvironmentFault, IndexMismatch, IndexMissing, ProviderError
from rag.index import database, lock
from rag.index.library import Library
from rag.index.live import LiveKeywords, LiveVectors
from rag.index.repair import rebuild, verify


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "pile.jsonl", [paper(n) for n in range(30)])


@pytest.fixture
def index(tmp_path: Path, file: Path) -> Path:
    ingest(tmp_path / "index", file)
    return tmp_path / "index"


def test_a_missing_index_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing) as caught:
        Library(tmp_path / "none")
    assert caught.value.remedy == f"Make one with: rag ingest PATH --index {tmp_path / 'none'}"


@pytest.mark.parametrize("where", ["manifest", "records"])
def test_another_format_is_refused_by_readers_and_writers(index: Path, file: Path, where: str) -> None:
    if where == "manifest":
        manifest = json.loads((index / "manifest.json").read_text(encoding="utf-8"))
        (index / "manifest.json").write_text(json.dumps({**manifest, "format": 99}), encoding="utf-8")
    else:
        db = sqlite3.connect(index / "papers.sqlite")
        db.execute("PRAGMA user_version = 99")
        db.close()
    for use in (lambda: Library(index), lambda: ingest(index, file)):
        with pytest.raises(
            IndexMismatch, match=f"has format 99; this program reads format {database.FORMAT}"
        ):
            use()


def test_another_embedder_is_refused_and_can_be_rebuilt(index: Path, file: Path) -> None:
    other = parts(FakeEmbedder(32))
    for use in (lambda: Library(index, "fake:32"), lambda: ingest(index, file, parts=other)):
        with pytest.raises(IndexMismatch, match="made with the embedder fake:64, not fake:32") as caught:
            use()
        assert f"rag index rebuild --index {index}" in caught.value.remedy
    report = rebuild(index, other, identity=IDENTITY)
    assert (report.papers, report.unchanged) == (30, 30)
    assert {len(vector) for vector in state(index)["vectors"]} == {32}
    assert counts(ingest(index, file, parts=other)) == (0, 0, 30, 0)


def test_searches_see_the_old_state_until_a_rebuild_is_done(index: Path) -> None:
    before = state(index)
    with Library(index) as library:
        live = LiveVectors(library, ChromaStore.in_folder)
        words = LiveKeywords(library, keyword.Bm25Index)
        vector = FakeEmbedder(64).embed(["What is System3?"])[0]
        expected = live.query(vector, 3), words.search("System3", 3)

        def search(done: int = 0, total: int = 0) -> None:
            assert (live.query(vector, 3), words.search("System3", 3)) == expected
            assert found(index, "What is System3?", 1) == ["paper3"]

        for _ in range(3):
            rebuild(index, parts(), identity=IDENTITY, progress=search)
            search()
            assert state(index) == before
        live.close()


def test_a_rebuild_that_fails_leaves_the_old_index(index: Path, file: Path) -> None:
    before = state(index)

    class Failing(FakeEmbedder):
        def embed(self, texts: Any) -> Any:
            raise ProviderError("The embedder is down.", "Start it.")

    with pytest.raises(ProviderError):
        rebuild(index, parts(Failing(32)), identity=IDENTITY)
    assert found(index, "What is System3?", 1) == ["paper3"]
    assert counts(ingest(index, file)) == (0, 0, 30, 0)
    assert state(index) == before


def test_an_open_index_that_got_another_embedder_says_so(index: Path) -> None:
    with Library(index, "fake:64") as library:
        rebuild(index, parts(FakeEmbedder(32)), identity=IDENTITY)
        with pytest.raises(IndexMismatch, match="made with the embedder fake:32, not fake:64"):
            library.fingerprint()


def test_a_narrower_window_is_refused_and_can_be_rebuilt(index: Path, file: Path) -> None:
    narrow = parts(FakeEmbedder(64, window=14))
    with pytest.raises(IndexMismatch, match="cut into passages by other rules"):
        ingest(index, file, parts=narrow)
    rebuild(index, narrow, identity=IDENTITY)
    with Library(index) as library:
        assert library.count_passages() == 60
    assert verify(index, narrow).problems == ()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, file: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "thesis.tex").touch()
    with pytest.raises(EnvironmentFault, match=r"is not an index: it holds thesis\.tex"):
        ingest(tmp_path / "docs", file)
    assert [each.name for each in (tmp_path / "docs").iterdir()] == ["thesis.tex"]
    with pytest.raises(EnvironmentFault, match="is a file, not an index folder"):
        ingest(file, file)
    with pytest.raises(IndexMissing):
        Library(tmp_path / "docs")


def test_damaged_records_are_named(index: Path, file: Path) -> None:
    path = index / "papers.sqlite"
    path.write_bytes(b"not a database at all " * 500)
    for use in (lambda: Library(index), lambda: ingest(index, file), lambda: verify(index, parts())):
        with pytest.raises(EnvironmentFault, match="are damaged") as caught:
            use()
        assert caught.value.remedy == f"Delete {index} and run rag ingest again."


@pytest.fixture
def no_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that only others may write; rights do not bind the superuser, whom this says it to as well."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)


@pytest.mark.usefixtures("no_rights")
def test_a_reader_without_rights_sees_what_the_writer_has_not_moved_yet(index: Path) -> None:
    writer = database.open_papers(index)
    writer.execute("INSERT INTO meta VALUES ('new', 'yes')")  # stands in -wal alone
    with closing(database.open_readonly(index)) as db:
        assert db.execute("SELECT value FROM meta WHERE name = 'new'").fetchone() == ("yes",)
        writer.execute("UPDATE meta SET value = 'later' WHERE name = 'new'")
        assert db.execute("SELECT value FROM meta WHERE name = 'new'").fetchone() == ("later",)
    writer.close()


def unshareable(index: Path) -> Path:
    """Let nobody make the file that readers and writers share, as in a folder without rights."""
    (index / "papers.sqlite-shm").symlink_to(index / "nowhere" / "at all")  # SQLite follows no links
    return index


@pytest.mark.usefixtures("no_rights")
def test_an_index_at_rest_is_read_without_rights(index: Path) -> None:
    with Library(unshareable(index)) as library:
        assert library.count_papers() == 30


@pytest.mark.usefixtures("no_rights")
def test_changes_that_cannot_be_read_are_not_passed_over(index: Path, tmp_path: Path) -> None:
    writer = database.open_papers(index)
    writer.execute("INSERT INTO meta VALUES ('new', 'yes')")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("papers.sqlite", "papers.sqlite-wal"):
        shutil.copy(index / name, copy / name)
    writer.close()
    with pytest.raises(EnvironmentFault, match="has changes that cannot be read without rights") as caught:
        Library(unshareable(copy))
    assert caught.value.remedy.startswith("Try again when its owner is done, or copy the folder")


@pytest.mark.usefixtures("no_rights")
@pytest.mark.parametrize("damage", ["all", "format"])
def test_who_may_not_write_an_index_is_not_told_to_delete_it(index: Path, damage: str) -> None:
    if damage == "all":
        (index / "papers.sqlite").write_bytes(b"not a database at all " * 500)
    else:
        with closing(sqlite3.connect(index / "papers.sqlite")) as db:
            db.execute("PRAGMA user_version = 99")
    with pytest.raises(EnvironmentFault) as caught:
        Library(unshareable(index))
    assert "Delete" not in caught.value.remedy
    assert "Ask its owner to make it anew" in caught.value.remedy


def test_another_programs_database_is_refused(tmp_path: Path, file: Path) -> None:
    (tmp_path / "index").mkdir()
    db = sqlite3.connect(tmp_path / "index" / "papers.sqlite")
    db.execute("CREATE TABLE theirs (x)")
    db.close()
    with pytest.raises(EnvironmentFault, match="is not a file of this program"):
        ingest(tmp_path / "index", file)


def test_a_full_disk_leaves_the_old_index(index: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state(index)
    real = database._open_for_writing

    def nearly_full(path: Path, schema: str) -> sqlite3.Connection:
        db = real(path, schema)
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 3}")
        return db

    monkeypatch.setattr(database, "_open_for_writing", nearly_full)
    write(file, [paper(n) for n in range(2000)])
    with pytest.raises(EnvironmentFault, match=r"The disk of the index in .* is full"):
        ingest(index, file)
    monkeypatch.undo()
    assert found(index, "What is System3?", 1) == ["paper3"]
    write(file, [paper(n) for n in range(30)])
    assert counts(ingest(index, file)) == (0, 0, 30, 0)
    assert state(index) == before


@pytest.mark.skipif(os.name != "posix", reason="limits of a process")
def test_a_file_size_limit_in_a_process_of_its_own(index: Path, file: Path) -> None:
    """Chroma writes too: what fails there must not look like a damaged index, nor be one afterwards."""
    before = state(index)
    program = (
        "import resource, signal, sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path;"
        "import index_pile; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000));"
        "index_pile.ingest(Path(sys.argv[2]), Path(sys.argv[3]))"
    )
    write(file, [paper(n, abstract=f"Abstract {n}. " * 60) for n in range(400)])
    run = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent), str(index), str(file)],
        env={"PYTHONPATH": str(Path(__file__).parents[1]), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr.splitlines()[-1].startswith("rag.errors.EnvironmentFault: The disk of ")
    assert found(index, "What is System3?", 1) == ["paper3"]
    write(file, [paper(n) for n in range(30)])
    ingest(index, file)
    assert state(index) == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="rights do not bind the superuser")
def test_a_folder_without_rights(tmp_path: Path, file: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(EnvironmentFault, match="cannot be opened or written"):
        ingest(tmp_path / "closed" / "index", file)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PermissionError(13, "Permission denied"), "cannot be opened or written"),
        (OSError(30, "Read-only file system"), "cannot be opened or written"),
        (OSError(28, "No space left on device"), "is full"),
        (OSError(5, "Input/output error", "x.npy"), r"Input/output error \(x\.npy\)"),
    ],
)
def test_system_errors_are_told_in_one_line(tmp_path: Path, error: OSError, told: str) -> None:
    with pytest.raises(EnvironmentFault, match=told), database.faults(tmp_path):
        raise error


def test_verify_finds_nothing_wrong_with_a_sound_index(index: Path) -> None:
    assert verify(index, parts()).problems == ()


def break_chroma(index: Path) -> None:
    for each in (index / "chroma").rglob("*"):
        if each.is_file():
            each.write_bytes(b"\0" * 100)


def lose_chroma(index: Path) -> None:
    shutil.rmtree(index / "chroma")


def lose_passages(index: Path) -> None:
    store = parts().open_vectors(index / "chroma")
    store.delete(sorted(store.ids())[:7])
    store.close()


def swap_vectors(index: Path) -> None:
    store: Any = parts().open_vectors(index / "chroma")
    ids = sorted(store.ids())
    store.collection.update(ids=ids, embeddings=[[1.0] + [0.0] * 63] * len(ids))
    store.close()


def break_keywords(index: Path) -> None:
    next((index / "keyword").glob("*/keys.npy")).write_bytes(b"")


def lose_keywords(index: Path) -> None:
    shutil.rmtree(index / "keyword")


def lose_manifest(index: Path) -> None:
    (index / "manifest.json").unlink()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (break_chroma, "is damaged"),
        (lose_chroma, "lacks 30 of 30 passages"),
        (lose_passages, "lacks 7 of 30 passages"),
        (swap_vectors, "does not find passages by their own vectors"),
        (break_keywords, "The keyword index in .* cannot be used"),
        (lose_keywords, "The keyword index in .* cannot be used"),
        (lose_manifest, r"manifest\.json does not describe the records"),
    ],
)
def test_verify_repairs(index: Path, damage: Any, told: str) -> None:
    before = state(index)
    damage(index)
    findings = verify(index, parts(), repair=False)
    assert not findings.repaired
    assert verify(index, parts()).problems == findings.problems
    assert len(findings.problems) == 1
    (problem,) = findings.problems
    assert "\n" not in problem
    assert re.search(told, problem)
    assert state(index) == before
    assert verify(index, parts()).problems == ()


def test_a_search_says_when_the_vectors_are_gone(index: Path) -> None:
    lose_chroma(index)
    with pytest.raises(EnvironmentFault, match="vector store of the index is empty"):
        found(index, "System3")


def _hold(folder: str, held: Any, done: Any) -> None:
    with lock.writing(Path(folder)):
        held.set()
        done.wait(30)


def test_a_second_writer_waits_and_says_for_whom(index: Path, file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    held, done = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(str(index), held, done))
    other.start()
    assert held.wait(30)
    waited: list[lock.Holder] = []
    with pytest.raises(EnvironmentFault, match=f"is being written by process {other.pid} since"):
        ingest(index, file, timeout=0.2, on_wait=waited.append)
    assert [holder.pid for holder in waited] == [other.pid]
    done.set()
    assert counts(ingest(index, file, timeout=30, on_wait=waited.append)) == (0, 0, 30, 0)
    other.join()
