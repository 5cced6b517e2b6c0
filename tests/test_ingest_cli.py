"""``rag ingest`` over every format, again and again; watching; what it says meanwhile."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import zipfile
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pdf_pages import pdf
from typer.testing import CliRunner, Result

from rag.adapters.watch import changes
from rag.cli import app
from rag.render import progress

ROOT = Path(__file__).parents[1]
FORMATS = Path(__file__).with_name("fixtures") / "corpus"
ABSTRACT = (
    "We present FooNet, a network of bars that reaches 93.1% accuracy on the Baz benchmark in a single day."
)


def rag(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(autouse=True)
def fake_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_EMBEDDER", "fake")


def report(*words: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(rag("ingest", *words, "--json").stdout)
    return found


def stored(index: Path) -> dict[str, list[Any]]:
    """Everything that the index says of papers; of a record not when it was last seen."""
    tables = dict.fromkeys(("papers", "passages", "signatures", "failures"), "*")
    tables["records"] = "id, file, number, source, hash, paper_key, abstract, body"
    with closing(sqlite3.connect(index / "papers.sqlite")) as db:
        return {
            name: sorted(db.execute(f"SELECT {columns} FROM {name}").fetchall(), key=repr)
            for name, columns in tables.items()
        }


def line(title: str) -> str:
    return json.dumps({"title": title, "abstract": f"{ABSTRACT} It is called {title}."}) + "\n"


def test_every_format_twice_changes_nothing(tmp_path: Path) -> None:
    pile, index = tmp_path / "pile", tmp_path / "index"
    shutil.copytree(FORMATS, pile)
    packed(pile)
    others(pile)
    first = report(pile, "--index", index)
    assert first["added"] == first["papers"]
    before, manifest = stored(index), (index / "manifest.json").read_bytes()
    for _ in range(2):
        again = report(pile, "--index", index, "--prune")
        assert [again[name] for name in ("added", "changed", "removed")] == [0, 0, 0]
        assert (again["unchanged"], again["failed"]) == (first["papers"], first["failed"])
        assert stored(index) == before
        assert (index / "manifest.json").read_bytes() == manifest
    everything = {file.name for file in pile.iterdir()}
    assert {Path(row[1]).name for row in before["records"]} == everything - {"odd.csv"}  # it wants --map


def packed(pile: Path) -> None:
    """Put packed copies of some files beside them."""
    for name, opened in (("library.bib", gzip.open), ("export.ris", bz2.open), ("fields.md", lzma.open)):
        with opened(pile / f"{name}.packed", "wb") as out:
            out.write((pile / name).read_bytes())
    with zipfile.ZipFile(pile / "both.zip", "w") as out:
        for name in ("openalex.json", "medline.txt"):
            out.write(pile / name, name)


def others(pile: Path) -> None:
    """Put files beside them that only the extras can read, where those are installed."""
    if find_spec("pypdf"):
        lines = [
            "Abstract",
            "We guess abstracts from pages of 12",
            "lines and are right in 93%.",
            "1 Introduction",
        ]
        (pile / "paper.pdf").write_bytes(pdf("Guessing Abstracts from Pages", lines))
    if find_spec("pyarrow"):
        import pyarrow
        import pyarrow.parquet

        rows = {"title": ["QuuxNet"], "abstract": ["We present QuuxNet, which sorts columns faster."]}
        pyarrow.parquet.write_table(pyarrow.table(rows), pile / "rows.parquet")


def test_another_order_and_other_times_are_nothing_new(tmp_path: Path) -> None:
    pile, index = tmp_path / "pile", tmp_path / "index"
    shutil.copytree(FORMATS, pile)
    report(pile, "--index", index)
    before = stored(index)["papers"]
    files = sorted(pile.iterdir(), reverse=True)
    for file in files:
        os.utime(file)
    again = report(*files, "--index", index)
    assert [again[name] for name in ("added", "changed", "removed")] == [0, 0, 0]
    assert stored(index)["papers"] == before


def test_dry_run_shows_the_titles_of_the_catalogue(tmp_path: Path) -> None:
    pile, catalog = tmp_path / "pile.jsonl", tmp_path / "titles.jsonl"
    pile.write_text(line("FooNet: Half the Memory"))
    catalog.write_text(json.dumps({"title": "FooNet: Half the Memory", "authors": ["Ann Lee"]}))
    shown = json.loads(rag("ingest", pile, "--catalog", catalog, "--dry-run", "--json").stdout)
    assert [record["authors"] for record in shown["files"][0]["records"]] == [["Ann Lee"]]


def test_another_catalogue_reads_again(tmp_path: Path) -> None:
    pile, catalog, index = tmp_path / "pile.jsonl", tmp_path / "titles.jsonl", tmp_path / "index"
    pile.write_text(line("FooNet: Half the Memory"))
    for author, changed in (("Ann Lee", 0), ("Ann Lee", 0), ("Bo Berg", 1)):
        catalog.write_text(json.dumps({"title": "FooNet: Half the Memory", "authors": [author]}))
        assert report(pile, "--catalog", catalog, "--index", index)["changed"] == changed


def test_a_catalogue_holds_until_another_is_given(tmp_path: Path) -> None:
    pile, catalog, index = tmp_path / "pile", tmp_path / "titles.jsonl", tmp_path / "index"
    pile.mkdir()
    quux = json.dumps({"abstract": "We present QuuxNet, which reads tables by columns, and it wins 12.5%."})
    (pile / "a.json").write_text(json.dumps({"abstract": ABSTRACT}))
    (pile / "b.json").write_text(quux)
    given = ["FooNet: A Network of Bars for the Baz Benchmark", "QuuxNet: Reading Tables by Columns"]
    others = ["Sleep of Dogs", "Rain on Roofs", "Sorting with Lasers"]
    catalog.write_text("".join(json.dumps({"title": title}) + "\n" for title in given + others))
    assert report(pile, "--catalog", catalog, "--index", index)["added"] == 2
    before = stored(index)
    catalog.unlink()
    again = report(pile, "--index", index)
    assert [again[name] for name in ("added", "changed", "unchanged")] == [0, 0, 2]
    assert stored(index) == before
    os.utime(pile / "a.json", (1, 1))
    (pile / "b.json").write_text(quux.replace("12.5%", "13.5%"))
    assert report(pile / "b.json", "--index", index)["failed"] == []
    shown = json.loads(rag("ingest", pile, "--index", index, "--dry-run", "--json").stdout)
    titles = [record["title"] for file in shown["files"] for record in file["records"]]
    assert titles == [json.loads(row[2])[0] for row in stored(index)["papers"]] == given
    assert report(pile, "--forget", "--index", index)["papers"] == 2
    assert all(json.loads(row[2])[0] is None for row in stored(index)["papers"])
    with closing(sqlite3.connect(index / "papers.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM catalogs").fetchone() == (0,)


@pytest.mark.parametrize("name", ["a.csv", "a.json"])
def test_a_field_that_does_not_exist_is_refused_whatever_the_format(tmp_path: Path, name: str) -> None:
    record = f'[{{"Words": "{ABSTRACT}"}}]' if name.endswith("json") else f'Name,Words\nX,"{ABSTRACT}"\n'
    (tmp_path / name).write_text(record)
    found = rag("ingest", tmp_path / name, "--map", "abstrct=Words", "--index", tmp_path / "index")
    assert found.exit_code == 2
    assert "There is no field 'abstrct' to map. The fields are title, " in " ".join(found.output.split())


def test_columns_hold_for_files_that_come_later_in_the_folder(tmp_path: Path) -> None:
    pile, index = tmp_path / "pile", tmp_path / "index"
    pile.mkdir()
    row = f'"{{}}","{ABSTRACT} {{}}"\n'
    (pile / "a.csv").write_text("Name,Words\n" + row.format("FooNet", "It wins."))
    mapped = ("--map", "title=Name", "--map", "abstract=Words")
    assert report(pile, *mapped, "--index", index)["added"] == 1
    (pile / "b.csv").write_text("Name,Words\n" + row.format("BarNet", "It loses on everything else."))
    again = report(pile, "--index", index)
    assert [again[name] for name in ("added", "changed", "unchanged", "failed")] == [1, 0, 1, []]


@pytest.mark.skipif(os.name != "posix", reason="pipes with names")
def test_a_pipe_with_a_name_is_read_once_and_passed_over_in_a_folder(tmp_path: Path) -> None:
    pile, index = tmp_path / "pile", tmp_path / "index"
    pile.mkdir()
    (pile / "a.jsonl").write_text(line("FooNet"))
    os.mkfifo(pile / "pipe")
    assert report(pile, "--index", index)["added"] == 1
    writer = threading.Thread(target=(pile / "pipe").write_text, args=[line("BarNet")])
    writer.start()
    assert report(pile / "pipe", "--index", index)["added"] == 1
    writer.join()


def test_the_same_on_standard_input_is_nothing_new(tmp_path: Path) -> None:
    words = ["ingest", "-", "--index", str(tmp_path / "index"), "--json"]
    for counts in ((1, 0), (0, 1)):
        found = json.loads(CliRunner().invoke(app, words, input=line("FooNet")).stdout)
        assert (found["added"], found["unchanged"]) == counts


def test_utf_16_in_a_packed_file(tmp_path: Path) -> None:
    file = tmp_path / "pile.jsonl.gz"
    file.write_bytes(gzip.compress(line("FooNet").encode("utf-16")))
    shown = json.loads(rag("ingest", file, "--dry-run", "--json").stdout)
    assert [record["title"] for record in shown["files"][0]["records"]] == ["FooNet"]
    assert report(file, "--index", tmp_path / "index")["added"] == 1


def test_a_readers_bug_is_listed_and_spares_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(stream: object) -> None:
        raise TypeError("a reader's bug")

    monkeypatch.setattr("rag.corpus.readers.bibtex.read", breaks)
    bad, good = tmp_path / "a.bib", tmp_path / "b.jsonl"
    bad.write_text("@article{a, title={Dogs}, abstract={Dogs sleep.}}")
    good.write_text(line("FooNet"))
    error = "TypeError: a reader's bug"
    shown = json.loads(rag("ingest", bad, good, "--dry-run", "--json").stdout)
    assert [[each.get("error") for each in file["records"]] for file in shown["files"]] == [[error], [None]]
    found = report(bad, good, "--index", tmp_path / "index")
    assert (found["added"], [(each["record"], each["error"]) for each in found["failed"]]) == (
        1,
        [(0, error)],
    )
    alone = rag("ingest", bad, "--index", tmp_path / "other")
    assert (alone.exit_code, error in alone.stderr) == (2, True)


def test_numbers_that_are_none_leave_the_output_valid(tmp_path: Path) -> None:
    file, index = tmp_path / "a.jsonl", tmp_path / "index"
    file.write_text('{"title": "T", "abstract": "Dogs sleep.", "score": NaN, "held": [Infinity]}')
    assert report(file, "--index", index)["added"] == 1

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    shown = rag("papers", "list", "--index", index, "--json").stdout
    assert json.loads(shown, parse_constant=refuse)
    assert json.loads(stored(index)["papers"][0][2], parse_constant=refuse)[-1] == {"held": [None]}


@pytest.mark.parametrize("words", [["index", "verify"], ["index", "rebuild"], ["papers", "remove", "x"]])
def test_looking_after_an_index_makes_none(tmp_path: Path, own_home: Path, words: list[str]) -> None:
    named = rag(*words, "--index", tmp_path / "typo")
    assert (named.exit_code, list(tmp_path.iterdir())) == (4, [])
    assert f"rag ingest PATH --index {tmp_path / 'typo'}" in named.stderr.replace("\n", " ")
    fresh = rag(*words)
    assert fresh.exit_code == 4
    assert "There is no index yet." in fresh.stderr
    assert "--index" not in fresh.stderr
    assert [each for each in own_home.rglob("*") if each.is_file()] == []


# Watching


def test_changes_come_once_at_first_then_for_what_is_watched(tmp_path: Path) -> None:
    pile, file, index = tmp_path / "pile", tmp_path / "other" / "one.txt", tmp_path / "pile" / "index"
    for folder in (pile, file.parent, index):
        folder.mkdir()
    file.write_text("1")
    turns = changes([pile, file], ignore=[index])
    with closing(turns):
        next(turns)
        (index / "papers.sqlite").write_text("ours")
        (pile / ".hidden").write_text("x")
        (file.parent / "two.txt").write_text("beside it")
        later = threading.Timer(0.5, (pile / "new.txt").write_text, ["x"])
        later.start()
        next(turns)
        assert (pile / "new.txt").exists()  # had an ignored one counted, the turn would have come before
        later.join()
        os.replace(_written(file.with_name(".one.swp"), "2"), file)
        next(turns)


def _written(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def test_watch_follows_the_files(tmp_path: Path, own_home: Path) -> None:
    pile, index = tmp_path / "pile", tmp_path / "index"
    pile.mkdir()
    (pile / "a.jsonl").write_text(line("FooNet"))
    process = subprocess.Popen(
        [sys.executable, "-m", "rag", "ingest", pile, "--watch", "--prune", "--index", index],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": str(own_home), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("1 added")
        (pile / "b.jsonl").write_text(line("BarNet"))
        assert process.stdout.readline().startswith("1 added, 0 changed, 1 unchanged, 0 removed; 2 papers")
        (pile / "a.jsonl").unlink()
        assert process.stdout.readline().startswith("0 added, 0 changed, 1 unchanged, 1 removed; 1 papers")
        # A folder that is empty for a moment is no reason to stop.
        (pile / "b.jsonl").unlink()
        assert process.stderr is not None
        assert "Watching for changes" in process.stderr.readline()
        assert "no papers in the folder" in process.stderr.readline()
        (pile / "c.jsonl").write_text(line("QuuxNet"))
        assert process.stdout.readline().startswith("1 added")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    finally:
        process.kill()
        process.communicate()


def test_watch_is_for_files_that_are_there(tmp_path: Path) -> None:
    assert "pipe cannot be watched" in rag("ingest", "-", "--watch").stderr
    assert "no file or folder" in rag("ingest", tmp_path / "nope", "--watch").stderr
    empty = rag("ingest", tmp_path, "--watch")
    assert (empty.exit_code, "no papers in the folder" in empty.stderr) == (2, True)


# A line a minute


def test_log_says_rate_and_time_left_of_each_stage() -> None:
    now, notes = 0.0, []
    with progress.log("Ingesting", notes.append, clock=lambda: now) as told:
        for seconds, done, total in ((0, 0, 0), (30, 500, 0), (70, 7000, 0), (100, 9000, 0), (130, 0, 9000)):
            now = seconds
            told(done, total)
        now = 200
        told(1400, 9000)
    assert notes == [
        "Ingesting: 7,000, 100 a second",
        "Ingesting: 1,400 of 9,000, 6 min left, 20 a second",
    ]
