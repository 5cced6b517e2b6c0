"""A pile on a Chroma server: written by one machine, read by others that know only the address."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from chroma_servers import Running, asked, following, seen, shared
from index_pile import counts, ingest, paper, write

from rag import places, wiring
from rag.adapters.chroma_server import ChromaServer
from rag.adapters.chroma_store import Limits
from rag.adapters.embed_fake import FakeEmbedder
from rag.errors import EnvironmentFault, IndexMismatch, IndexMissing
from rag.index.follow import Following
from rag.index.library import Library
from rag.index.writer import Writer
from rag.settings import load

ROOT = Path(__file__).parents[1]
QUESTION = "By how much does SpecPrefill improve TTFT?"


@pytest.fixture
def server(running_server: Running) -> Iterator[ChromaServer]:
    """A server with nothing on it that another test left."""
    with closing(ChromaServer(running_server.url, collection=f"pile-{uuid.uuid4().hex[:8]}")) as server:
        yield server


def run(home: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run ``rag`` as a user of another machine would: with a home of its own."""
    home.mkdir(exist_ok=True)
    given = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        **environ,
    }
    return subprocess.run(
        [sys.executable, "-m", "rag", *words],
        capture_output=True,
        text=True,
        env={**given, **environ},
        check=False,
    )


def test_one_process_ingests_and_one_that_knows_only_the_address_gives_the_same_answer(
    running_server: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"RAG_EMBEDDER": "fake", "RAG_CHROMA_COLLECTION": "sample"}
    written = run(
        tmp_path / "ana", "ingest", str(places.SAMPLE), "--chroma-url", running_server.url, **environ
    )
    assert (written.returncode, written.stdout[:8]) == (0, "38 added"), written.stderr
    asked = run(tmp_path / "bo", "ask", QUESTION, "--json", RAG_CHROMA_URL=running_server.url, **environ)
    assert asked.returncode == 0, asked.stderr

    folder = load({"index": tmp_path / "index", "embedder": "fake"}, environ={}, files=())
    wiring.ingest(folder, [places.SAMPLE], lambda _: None)
    from rag.cli import output
    from rag.records import Filters

    output.answer(wiring.ask(QUESTION, Filters(), folder, lambda _: None), "json", False)
    here, there = json.loads(capsys.readouterr().out), json.loads(asked.stdout)
    del here["timings"], there["timings"]
    assert here == there
    assert "SpecPrefill" in here["answer"]


def test_readers_follow_what_is_published(server: ChromaServer, tmp_path: Path) -> None:
    file = write(tmp_path / "pile", [paper(n) for n in range(8)])
    ingest(tmp_path / "ana", file, parts=shared(server))
    with following(tmp_path / "bo", server) as reader:
        first = reader.fingerprint()
        assert asked(reader, "System3 for protein folding")[0] == "paper3"
        write(file, [paper(3, year=2026), paper(9), paper(10)])
        assert counts(ingest(tmp_path / "ana", file, parts=shared(server))) == (2, 1, 0, 7)
        assert reader.published() == first
        assert asked(reader, "System3 for protein folding")[0] == "paper3"
        assert reader.published() != first
        assert sorted(reader.keys()) == ["paper10", "paper3", "paper9"]
        assert [p.year for p in reader.papers() if p.key == "paper3"] == [2026]


def test_a_copy_says_what_a_folder_would(server: ChromaServer, tmp_path: Path) -> None:
    odd = [
        paper(1, doi="10.1/x", extra={"keywords": ["ü", None, 2**70]}, raw="raw \u2028 text"),
        paper(2, title=None, venue=None, year=None, authors=[]),
        paper(3, abstract="", title="A title alone"),
        paper(4, abstract="A long sentence about llamas and their ways. " * 60),
        paper(5, doi="10.1/x", abstract="The same paper, told at greater length than before. " * 3),
    ]
    file, other = write(tmp_path / "pile", odd), write(tmp_path / "other", [paper(6), odd[0]])
    ingest(tmp_path / "index", file, other)
    ingest(tmp_path / "ana", file, other, parts=shared(server))
    with Library(tmp_path / "index") as folder, following(tmp_path / "bo", server) as copy:
        assert [asdict(each) for each in copy.papers()] == [asdict(each) for each in folder.papers()]
        assert copy.manifest == folder.manifest
        keys = folder.keys()
        assert copy.passages_of(keys) == folder.passages_of(keys)
        assert any(each.also for each in copy.papers())


def test_a_second_ingest_sends_nothing(server: ChromaServer, tmp_path: Path) -> None:
    file = write(tmp_path / "pile", [paper(n) for n in range(4)])
    ingest(tmp_path / "ana", file, parts=shared(server))
    before = server.state()
    assert counts(ingest(tmp_path / "ana", file, parts=shared(server))) == (0, 0, 4, 0)
    assert server.state() == before


def test_records_that_only_moved_reach_the_readers(server: ChromaServer, tmp_path: Path) -> None:
    file = write(tmp_path / "pile", [paper(1)])
    ingest(tmp_path / "ana", file, parts=shared(server))
    write(file, [paper(2), paper(1)])
    ingest(tmp_path / "ana", file, parts=shared(server))
    with following(tmp_path / "bo", server) as reader:
        assert {each.key: each.source.record for each in reader.papers()} == {"paper1": 2, "paper2": 1}


def test_a_writer_on_another_machine_goes_on(server: ChromaServer, tmp_path: Path) -> None:
    embedded = Counting(64)
    ours = write(tmp_path / "ours", [paper(1, doi="10.1/1"), paper(2)])
    theirs = write(tmp_path / "theirs", [paper(1, doi="10.1/1"), paper(3)])
    ingest(tmp_path / "ana", ours, parts=shared(server, "ana"))
    assert counts(ingest(tmp_path / "bo", theirs, parts=shared(server, "bo", embedded))) == (1, 0, 1, 0)
    assert embedded.texts == 1
    with following(tmp_path / "reader", server) as reader:
        (one,) = [each for each in reader.papers() if each.key == "paper1"]
        assert [source.file for source in (one.source, *one.also)] == [str(ours), str(theirs)]
    before = seen(tmp_path / "reader", server)
    assert counts(ingest(tmp_path / "ana", ours, parts=shared(server, "ana"))) == (0, 0, 2, 0)
    assert seen(tmp_path / "reader", server) == before


def test_files_of_other_machines_are_theirs(server: ChromaServer, tmp_path: Path) -> None:
    file = write(tmp_path / "pile", [paper(1)])
    ingest(tmp_path / "ana", file, parts=shared(server, "ana"))
    write(file, [paper(2)])  # on another machine the same path is another file
    assert counts(ingest(tmp_path / "bo", file, parts=shared(server, "bo"))) == (1, 0, 0, 0)
    file.unlink()
    own = write(tmp_path / "own", [paper(3)])
    assert counts(ingest(tmp_path / "bo", own, parts=shared(server, "bo"), prune=True)) == (1, 0, 0, 1)
    with following(tmp_path / "reader", server) as reader:
        assert sorted(reader.keys()) == ["paper1", "paper3"]


class Counting(FakeEmbedder):
    """Counts what it embeds."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.texts = 0

    def embed(self, texts: Any) -> Any:
        self.texts += len(texts)
        return super().embed(texts)


class CutOff(ChromaServer):
    """Fails at one of its writing requests, as a killed process does: nothing after it is sent."""

    def __init__(self, url: str, collection: str, last: int) -> None:
        super().__init__(url, collection=collection)
        self.left = last

    def _before_writing(self) -> None:
        super()._before_writing()
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


def test_an_ingest_cut_off_at_any_request_costs_nothing(running_server: Running, tmp_path: Path) -> None:
    old, new = [paper(n) for n in range(4)], [paper(0, year=2026), *(paper(n) for n in range(2, 6))]
    file = tmp_path / "pile"

    def after(last: int, name: str) -> tuple[dict[str, Any], list[bool], int]:
        """Ingest old, then new cut off after ``last`` requests, then again; and what a reader saw between."""
        collection = f"cut-{uuid.uuid4().hex[:8]}"
        server = ChromaServer(running_server.url, collection=collection)
        ingest(tmp_path / name, write(file, old), parts=shared(server))
        write(file, new)
        cut = CutOff(running_server.url, collection, last)
        with suppress(KeyboardInterrupt):
            ingest(tmp_path / name, file, parts=shared(cut))
        with following(tmp_path / f"{name} reader", server) as reader:
            between = [
                sorted(reader.keys()) == [f"paper{n}" for n in span]
                for span in ((0, 1, 2, 3), (0, 2, 3, 4, 5))
            ]
        copy = name if last % 2 else f"{name} anew"  # whoever comes next puts it right
        ingest(tmp_path / copy, file, parts=shared(server))
        return seen(tmp_path / f"{name} after", server), between, cut.left

    expected, between, left = after(1000, "whole")
    assert between == [False, True]
    requests = 1000 - left
    for last in range(requests):
        found, between, _ = after(last, str(last))
        assert found == expected, last
        assert sum(between) == 1, last
    assert requests >= 7


def test_killed_after_publishing_there_and_before_here(
    server: ChromaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "pile", [paper(1), paper(2)])
    ingest(tmp_path / "ana", file, parts=shared(server))
    write(file, [paper(2), paper(3)])

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Writer, "_commit", killed)
    with pytest.raises(KeyboardInterrupt):
        ingest(tmp_path / "ana", file, parts=shared(server))
    monkeypatch.undo()
    with following(tmp_path / "bo", server) as reader:
        assert sorted(reader.keys()) == ["paper2", "paper3"]
    assert counts(ingest(tmp_path / "ana", file, parts=shared(server))) == (0, 0, 2, 0)
    found = seen(tmp_path / "bo", server)
    assert (len(found["rows"]), len(found["ids"]), found["unfinished"]) == (2, 2, False)


@pytest.mark.parametrize("suffix", ["", ".papers", ".lock"])
def test_somebody_elses_collections_are_left_alone(server: ChromaServer, tmp_path: Path, suffix: str) -> None:
    name = server._collection + suffix
    with closing(ChromaServer(server._url)) as them:
        theirs = them._client.create_collection(name, embedding_function=None)
        theirs.upsert(ids=["a"], embeddings=[1.0], documents=["theirs"])
        with pytest.raises(EnvironmentFault, match=f"a collection {name} that this program did not make"):
            ingest(tmp_path / "ana", write(tmp_path / "pile", [paper(1)]), parts=shared(server))
        assert theirs.get()["documents"] == ["theirs"]
        assert [each.name for each in them._client.list_collections() if name in each.name] == [name]


def test_nothing_there_yet(server: ChromaServer, tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match=r"holds no papers yet. Fill it with: rag ingest PATH"):
        following(tmp_path / "bo", server)


def test_another_embedder_is_told_before_anything_is_read(server: ChromaServer, tmp_path: Path) -> None:
    ingest(tmp_path / "ana", write(tmp_path / "pile", [paper(1)]), parts=shared(server))
    with pytest.raises(
        IndexMismatch, match=r"made with the embedder fake:64, not other. Set the embedder to fake:64"
    ):
        Following(tmp_path / "bo", server, lambda: shared(server), embedder="other", on_change=lambda: None)
    assert not (tmp_path / "bo").exists()


def test_a_copy_is_not_written_as_a_folder(server: ChromaServer, tmp_path: Path) -> None:
    file = write(tmp_path / "pile", [paper(1)])
    ingest(tmp_path / "ana", file, parts=shared(server))
    with pytest.raises(EnvironmentFault, match="is a copy of what a Chroma server holds"):
        ingest(tmp_path / "ana", file)


def test_no_request_is_larger_than_chroma_cloud_allows(
    server: ChromaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_limits", Limits(3, 3, 3, server._before_writing))
    noise = "".join(chr(0x4E00 + (n * 7919) % 20000) for n in range(6000))  # hard to compress
    papers = [*(paper(n) for n in range(9)), paper(9, raw=noise)]
    ingest(tmp_path / "ana", write(tmp_path / "pile", papers), parts=shared(server))
    rows: Any = server._rows().get(include=["metadatas"])["metadatas"]
    assert max(len(str(value).encode()) for row in rows for value in row.values()) <= 4096
    assert max(map(len, rows)) in range(5, 33)
    told: Any = server._rows().metadata
    assert max(len(str(value).encode()) for value in told.values()) <= 256
    with following(tmp_path / "bo", server) as reader:
        assert reader.count_papers() == 10
        assert next(each.raw for each in reader.papers() if each.key == "paper9") == noise
        assert asked(reader, "System3 for protein folding")[0] == "paper3"


def test_verify_repairs_what_the_server_lost(server: ChromaServer, tmp_path: Path) -> None:
    from rag.index.repair import verify

    ingest(tmp_path / "ana", write(tmp_path / "pile", [paper(n) for n in range(5)]), parts=shared(server))
    expected = seen(tmp_path / "bo", server)
    rows, passages = server._rows(), server.passages().collection
    rows.delete(ids=rows.get(limit=2)["ids"])
    rows.upsert(ids=["stray"], embeddings=[0.5], metadatas=[{"since": 9, "until": 0}])
    passages.delete(ids=passages.get(limit=1)["ids"])
    with pytest.raises(EnvironmentFault, match="does not hold all of what was published"):
        Following(tmp_path / "new", server, lambda: shared(server), on_change=lambda: None, timeout=0)
    found = verify(tmp_path / "ana", shared(server))
    assert found.repaired
    assert set(found.problems) == {
        "The vector store lacks 1 of 5 passages.",
        "The server lacks 2 of 5 papers.",
        "The server holds 1 versions of papers that are not published.",
    }
    assert seen(tmp_path / "bo", server) == expected
    assert verify(tmp_path / "ana", shared(server)).problems == ()
