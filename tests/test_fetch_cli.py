"""``rag fetch`` from the command line against local servers, and what it writes through ``rag ingest``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import paper_services
import pytest
from paper_services import Server, serving
from typer.testing import CliRunner, Result

from rag.adapters import polite_http
from rag.cli import app
from rag.fetch.arxiv import MOST


def rag(*words: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder; nobody really waits."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RAG_EMBEDDER", "fake")
    monkeypatch.setattr(polite_http.PoliteHttp.__init__, "__kwdefaults__", _unhurried())
    return folder


def _unhurried() -> dict[str, object]:
    defaults = polite_http.PoliteHttp.__init__.__kwdefaults__
    return {**(defaults or {}), "sleep": lambda seconds: None}


@pytest.fixture
def arxiv(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(paper_services.arxiv(250)) as server:
        monkeypatch.setenv("RAG_ARXIV_URL", server.url)
        yield server


def test_as_many_are_asked_for_as_arxiv_gives() -> None:
    refused = rag("fetch", "arxiv", "x", "--max", MOST + 1)
    assert (refused.exit_code, f"1<=x<={MOST}" in refused.stderr) == (2, True)


def test_arxiv_to_the_index_and_nothing_new_the_second_time(arxiv: Server, place: Path) -> None:
    done = rag("fetch", "arxiv", "test-time", "training", "--max", "230")
    assert (done.exit_code, done.stdout) == (
        0,
        "230 papers in arxiv-test-time-training.jsonl. Next: rag ingest arxiv-test-time-training.jsonl\n",
    )
    index = place.parent / "index"
    first = json.loads(rag("ingest", place, "--index", index, "--json").stdout)
    assert (first["added"], first["failed"]) == (230, [])
    again = rag("fetch", "arxiv", "test-time", "training", "--max", "230")
    assert "Fetched within a day already; --again asks anew." in again.stderr
    assert len(arxiv.requests) == 2
    assert json.loads(rag("ingest", place, "--index", index, "--json").stdout)["unchanged"] == 230


def test_arxiv_identifiers_as_words_or_with_commas(arxiv: Server) -> None:
    done = rag("fetch", "arxiv", "2501.00001,arXiv:2501.00002v1", "2512.00001", "--json", "-o", "out.jsonl")
    assert json.loads(done.stdout) == {
        "file": "out.jsonl",
        "records": 2,
        "fetched": 2,
        "kept": 0,
        "missing": ["2512.00001"],
    }
    assert "Not there: 2512.00001" in done.stderr
    assert arxiv.asked("search_query") == [None]
    listed = rag("fetch", "arxiv", "-", stdin="2501.00001\n2501.00003\n")
    assert listed.stdout.startswith("2 papers in arxiv-2-papers-")


def test_a_busy_arxiv_is_said_and_kept(arxiv: Server) -> None:
    arxiv.faults = [None, (503, {"Retry-After": "900"})]
    stopped = rag("fetch", "arxiv", "x")
    assert stopped.exit_code == 4
    assert stopped.stderr.splitlines()[-1].startswith("Error: arXiv (127.0.0.1:")
    assert "HTTP 503, come back in 15 minutes. Run the same command again later" in stopped.stderr
    done = rag("fetch", "arxiv", "x")
    assert (
        done.stdout
        == "250 papers in arxiv-x.jsonl (200 from an earlier run). Next: rag ingest arxiv-x.jsonl\n"
    )


def test_semantic_scholar_reads_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"DOI:10.1234/7": 7, "ARXIV:2501.00009": 9}
    with serving(paper_services.semantic_scholar(known)) as server:
        monkeypatch.setenv("RAG_S2_URL", server.url)
        monkeypatch.setenv("S2_API_KEY", "k3y-from-the-environment")
        done = rag("fetch", "s2", "-", stdin="10.1234/7\nhttps://arxiv.org/abs/2501.00009v2\n")
        wrong = rag("fetch", "s2", "attention")
    assert done.stdout.startswith("2 papers in s2-2-papers-")
    assert server.requests[0].headers["x-api-key"] == "k3y-from-the-environment"
    assert (wrong.exit_code, "no identifier" in wrong.stderr) == (2, True)


def test_openreview_with_an_account(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(paper_services.openreview({"ICML.cc/2025/Conference": 3})) as server:
        monkeypatch.setenv("RAG_OPENREVIEW_URL", server.url)
        monkeypatch.setenv("RAG_OPENREVIEW_V1_URL", server.url)
        monkeypatch.setenv("OPENREVIEW_USERNAME", "ann@example.org")
        monkeypatch.setenv("OPENREVIEW_PASSWORD", "secret")
        done = rag("fetch", "openreview", "ICML.cc/2025/Conference")
        unknown = rag("fetch", "openreview", "ICML")
    assert done.stdout.startswith("3 papers in openreview-icml.cc-2025-conference.jsonl.")
    assert (unknown.exit_code, "no papers of the venue 'ICML'" in unknown.stderr) == (2, True)


def test_nothing_to_look_for() -> None:
    assert rag("fetch", "arxiv", " ").exit_code == 2
    assert rag("fetch", "s2", "-", stdin="\n").exit_code == 2
    assert rag("fetch", "s2").exit_code == 2
