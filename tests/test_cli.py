"""The commands as a user types them: words, outputs, exit codes, and one line for a mistake."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from rag import __version__, places, wiring
from rag.cli import app, guard, ingest, options, output
from rag.errors import UsageError

ROOT = Path(__file__).parents[1]
QUESTION = "By how much does SpecPrefill improve TTFT?"


def rag(*words: object, stdin: str | None = None) -> Result:
    """Run a command; an exception outside the error family is a failure of the test."""
    result = CliRunner().invoke(app, [str(word) for word in words], prog_name="rag", input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def process(*words: object, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    command = [sys.executable, "-m", "rag", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, env=env, check=False, stdin=subprocess.DEVNULL
    )


def one_line(result: Result, code: int) -> str:
    """The error line of a command that failed."""
    assert (result.exit_code, result.stdout) == (code, "")
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("Error: ")
    return lines[0]


# ask


def test_ask_prints_the_answer_to_stdout_and_the_rest_to_stderr(sample_index: Path) -> None:
    result = rag("ask", QUESTION, "--index", sample_index)
    assert result.exit_code == 0
    assert "7.66×" in result.stdout
    assert "[1] Speculative Prefill: Turbocharging" in result.stdout
    assert "\x1b" not in result.stdout + result.stderr
    assert result.stderr.splitlines()[-1].startswith("extractive mode: quoted, no model · read ")


@pytest.mark.parametrize(
    "words",
    [
        ["ask", *QUESTION.split()],
        ["ask", QUESTION, "--paper", "liu2025speculative"],
        ["ask", QUESTION, "--venue", "icml", "--year", "2025", "--author", "liu"],
        ["ask", QUESTION, "-k", "3", "--mode", "extractive"],
    ],
)
def test_ask_takes_words_and_filters(sample_index: Path, words: list[str]) -> None:
    answer = json.loads(rag(*words, "--json", "--index", sample_index).stdout)
    assert answer["references"][0]["key"] == "liu2025speculative"
    assert "7.66" in answer["answer"]


@pytest.mark.parametrize("words", [["ask", "-"], ["ask"]])
def test_ask_reads_a_pipe(sample_index: Path, words: list[str]) -> None:
    answer = json.loads(rag(*words, "--json", "--index", sample_index, stdin=f"{QUESTION}\n").stdout)
    assert answer["question"] == QUESTION


def test_a_filter_that_leaves_nothing_is_an_abstention(sample_index: Path) -> None:
    result = rag("ask", QUESTION, "--year", "1999", "--json", "--index", sample_index)
    assert result.exit_code == 5
    assert json.loads(result.stdout)["status"] == "abstained"


@pytest.mark.parametrize("command", [["ask"], ["search"], ["chat", "--no-save"]])
def test_a_paper_that_is_not_there_is_refused(sample_index: Path, command: list[str]) -> None:
    words = [*command, "What is PILAF?", "--paper", "feng2025pilav", "--index", sample_index]
    line = one_line(rag(*words), 2)
    assert "No paper has the key 'feng2025pilav'. Did you mean feng2025pilaf" in line


def test_a_filter_that_leaves_nothing_is_told(sample_index: Path) -> None:
    words = ["--venue", "ICMLL", "--index", sample_index]
    for command in (["search", "PILAF"], ["papers", "list"]):
        found = rag(*command, *words)
        assert (found.exit_code, found.stdout) == (0, "")
        assert found.stderr == "No paper passes 'venue ICMLL'.\n"
    assert "No paper passes 'venue ICMLL'." in one_line(rag("chat", "--no-save", *words), 2)


def test_ask_declines_what_no_paper_is_about(sample_index: Path) -> None:
    result = rag("ask", "How do I bake sourdough bread?", "--index", sample_index)
    assert result.exit_code == 5
    assert result.stdout.startswith("Not answered from these papers.")


def test_ask_formats(sample_index: Path) -> None:
    def asked(*words: str) -> str:
        return rag("ask", QUESTION, *words, "--index", sample_index).stdout

    assert asked("--format", "markdown").startswith(f"## {QUESTION}\n\n")
    assert re.match(r"@inproceedings\{liu2025speculative,\n", asked("-f", "bibtex"))
    assert json.loads(asked("-f", "json")).keys() == json.loads(asked("--json")).keys()
    assert "“" in asked("--quotes")


def test_ask_with_the_fake_model(sample_index: Path) -> None:
    answer = json.loads(rag("ask", QUESTION, "--model", "fake", "--json", "--index", sample_index).stdout)
    assert (answer["mode"], answer["model"], answer["status"]) == ("model", "fake", "answered")
    assert answer["prompt"]["sha256"]
    keys = {reference["key"] for reference in answer["references"]}
    assert {citation["key"] for s in answer["sentences"] for citation in s["citations"]} <= keys


def test_dry_run_sends_nothing(sample_index: Path) -> None:
    result = rag("ask", QUESTION, "--model", "fake", "--dry-run", "--index", sample_index)
    assert result.exit_code == 0
    assert re.search(r"At most [\d,]+ \+ [\d,]+ tokens \(estimated\), \$0\.0000", result.stdout)


# search, papers


def test_search_ranks_papers(sample_index: Path) -> None:
    found = json.loads(
        rag("search", "preference drift", "--top", 3, "--json", "--index", sample_index).stdout
    )
    assert [hit["rank"] for hit in found["hits"]] == [1, 2, 3]
    assert found["hits"][0]["key"] == "son2025right"
    assert len({hit["key"] for hit in found["hits"]}) == 3
    assert found["index"]["papers"] == 38
    passage = found["hits"][0]["passage"]
    paper = json.loads(rag("papers", "show", "son2025right", "--json", "--index", sample_index).stdout)
    assert paper["abstract"][passage["start"] : passage["end"]] == passage["text"]


def test_search_as_text_and_bibtex(sample_index: Path) -> None:
    text = rag("search", "preference drift", "-k", 1, "--index", sample_index).stdout
    assert text.startswith(" 1 Right Now, Wrong Then")
    bib = rag("search", "preference drift", "-k", 2, "-f", "bibtex", "--index", sample_index).stdout
    assert bib.count("@inproceedings{") == 2


def test_papers_list_and_filters(sample_index: Path) -> None:
    listed = rag("papers", "list", "--index", sample_index).stdout
    assert len(listed.splitlines()) == 38
    assert rag("papers", "--index", sample_index).stdout == listed
    assert rag("--index", sample_index, "papers").stdout == listed
    assert rag("papers", "list", "--year", "<2025", "--index", sample_index).stdout == ""
    by_liu = json.loads(
        rag("papers", "list", "--author", "jingyu liu", "--json", "--index", sample_index).stdout
    )
    assert [paper["key"] for paper in by_liu["papers"]] == ["liu2025speculative"]


def test_papers_show_several(sample_index: Path) -> None:
    shown = rag("papers", "show", "liu2025speculative", "son2025right", "--json", "--index", sample_index)
    assert [p["key"] for p in json.loads(shown.stdout)["papers"]] == ["liu2025speculative", "son2025right"]


def test_an_unknown_key_names_the_nearest(sample_index: Path) -> None:
    line = one_line(rag("papers", "show", "liu2025spekulative", "--index", sample_index), 2)
    assert "Did you mean liu2025speculative" in line


# ingest, remove

BARE = """NeurIPS 2024 Papers

We present FooNet, a network of bars that reaches 93.1% accuracy on the Baz benchmark, 4.2 points above the
best earlier method, while it needs only half the memory of a comparable model and trains in a single day.

Quux is a sampler for large language models that halves the number of tokens without any loss of quality; the
evaluation covers six tasks, and theory shows that the gain grows with the length of the text that is written.
"""


@pytest.fixture
def abstracts(tmp_path: Path) -> Path:
    file = tmp_path / "papers" / "abstracts.txt"
    file.parent.mkdir()
    file.write_text(BARE, encoding="utf-8")
    return file


def test_ingest_counts_and_repeats(abstracts: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    first = json.loads(rag("ingest", abstracts.parent, "--index", index, "--json").stdout)
    assert [first[k] for k in ("added", "changed", "unchanged", "removed", "papers")] == [2, 0, 0, 0, 2]
    assert first["failed"] == []
    again = rag("ingest", abstracts, "--index", index)
    assert again.stdout.startswith("0 added, 0 changed, 2 unchanged, 0 removed; 2 papers in the index")


def test_own_papers_replace_the_sample(abstracts: Path, own_home: Path) -> None:
    assert rag("ingest", abstracts).exit_code == 0
    listed = json.loads(rag("papers", "list", "--json").stdout)["papers"]
    assert {(paper["venue"], paper["year"]) for paper in listed} == {("NeurIPS", 2024)}
    assert len(listed) == 2


def test_removed_papers_come_back_with_their_file(abstracts: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    rag("ingest", abstracts, "--index", index)
    key = rag("papers", "--index", index).stdout.split("\t")[0]
    assert rag("papers", "remove", key, "--index", index).stdout == "1 removed; 1 papers in the index.\n"
    assert key not in rag("papers", "--index", index).stdout


def test_a_bad_file_beside_a_good_one_is_listed(abstracts: Path, tmp_path: Path) -> None:
    (abstracts.parent / "empty.txt").touch()
    result = rag("ingest", abstracts.parent, "--index", tmp_path / "index")
    assert result.exit_code == 0
    assert "1 not read" in result.stdout
    assert f"Not read: {abstracts.parent / 'empty.txt'}: is empty" in result.stderr
    strict = rag("ingest", abstracts.parent, "--index", tmp_path / "other", "--strict")
    assert strict.exit_code == 2


def test_ingest_dry_run_changes_nothing(abstracts: Path, tmp_path: Path, own_home: Path) -> None:
    (abstracts.parent / "noise.txt").write_bytes(b"\x00\x01\x02\xff" * 64)
    result = rag("ingest", abstracts.parent, "--dry-run", "--index", tmp_path / "index")
    assert result.stdout.startswith(f"{abstracts}  abstract list\n  “We present FooNet")
    assert f"{abstracts.parent / 'noise.txt'}  not read\n  not read: is a binary file" in result.stdout
    files = json.loads(rag("ingest", abstracts.parent, "--dry-run", "--json").stdout)["files"]
    assert [(file["format"], len(file["records"])) for file in files] == [("abstract list", 2), (None, 1)]
    assert not (tmp_path / "index").exists()
    assert not (own_home / "data").exists()


def test_ingest_reads_a_pipe(tmp_path: Path) -> None:
    first = json.loads(rag("ingest", "-", "--index", tmp_path / "index", "--json", stdin=BARE).stdout)
    again = json.loads(rag("ingest", "-", "--index", tmp_path / "index", "--json", stdin=BARE).stdout)
    assert (first["added"], again["unchanged"], again["papers"]) == (2, 2, 2)


def test_a_catalogue_completes_records(tmp_path: Path) -> None:
    pile, catalog, index = tmp_path / "pile.jsonl", tmp_path / "titles.jsonl", tmp_path / "index"
    pile.write_text(json.dumps({"title": "FooNet: Half the Memory", "abstract": BARE.split("\n\n")[1]}))
    catalog.write_text(json.dumps({"title": "FooNet: Half the Memory", "authors": ["Ann Lee"]}))
    rag("ingest", pile, "--catalog", catalog, "--index", index)
    listed = json.loads(rag("papers", "list", "--json", "--index", index).stdout)["papers"]
    assert [paper["authors"] for paper in listed] == [["Ann Lee"]]
    missing = rag("ingest", pile, "--catalog", tmp_path / "nope", "--index", index)
    assert str(tmp_path / "nope") in one_line(missing, 2)


def test_map_pairs() -> None:
    assert ingest.mapping(["title=Name", "abstract = Long text"]) == {
        "title": "Name",
        "abstract": "Long text",
    }
    with pytest.raises(UsageError, match="Bad --map 'title'"):
        ingest.mapping(["title"])


# The first run


def test_the_first_question_builds_the_sample_once(own_home: Path) -> None:
    first = rag("search", "preference drift", "-k", 1)
    assert "building one of the 38 bundled papers" in first.stderr
    second = rag("search", "preference drift", "-k", 1)
    assert (second.stdout, second.stderr) == (first.stdout, "")
    folders = [path.name for path in (own_home / "data" / "citerag").iterdir()]
    assert [name.startswith("sample-") for name in folders] == [True]


# Mistakes


def folder_of(tmp_path: Path, name: str, content: bytes | None) -> Path:
    folder = tmp_path / "bad"
    folder.mkdir()
    if content is not None:
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.txt", b"", "is empty"),
        ("blank.txt", b" \n\n", "is empty"),
        ("binary.txt", b"\x00\x01\x02\xff" * 64, "is a binary file of no known format"),
        ("prose.txt", b"Hello.\n", "holds no"),
        ("list.json", b"[]", "holds no"),
    ],
)
@pytest.mark.parametrize("as_folder", [False, True])
def test_input_without_a_paper_changes_nothing(
    tmp_path: Path, sample_copy: Path, *, name: str, content: bytes, said: str, as_folder: bool
) -> None:
    folder = folder_of(tmp_path, name, content)
    before = state(sample_copy)
    line = one_line(rag("ingest", folder if as_folder else folder / name, "--index", sample_copy), 2)
    assert said in line
    assert str(folder / name) in line
    assert state(sample_copy) == before


def test_missing_paths_and_empty_folders(tmp_path: Path, sample_copy: Path) -> None:
    before = state(sample_copy)
    assert "no file or folder" in one_line(rag("ingest", tmp_path / "nope", "--index", sample_copy), 2)
    empty = folder_of(tmp_path, "", None)
    assert "no papers in the folder" in one_line(rag("ingest", empty, "--index", sample_copy), 2)
    assert state(sample_copy) == before


@pytest.fixture
def sample_copy(sample_index: Path, tmp_path: Path) -> Path:
    """An index to which a test may do something."""
    import shutil

    return Path(shutil.copytree(sample_index, tmp_path / "copy"))


def state(folder: Path) -> dict[str, object]:
    """What is stored: the rows of our databases, the bytes of everything else."""
    found: dict[str, object] = {}
    for file in sorted(folder.rglob("*")):
        if file.name in ("papers.sqlite", "vectors.sqlite"):
            with closing(sqlite3.connect(file)) as db:
                found[file.name] = list(db.iterdump())
        elif file.is_file() and not file.name.endswith(("-wal", "-shm")):
            found[str(file)] = file.read_bytes()
    return found


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_named_index_that_is_missing(tmp_path: Path, command: str) -> None:
    line = one_line(rag(command, "anything", "--index", tmp_path / "nope"), 4)
    assert f"There is no index in {tmp_path / 'nope'}" in line
    assert "rag ingest" in line
    assert not (tmp_path / "nope").exists()


def test_an_index_of_another_version(sample_copy: Path) -> None:
    manifest = sample_copy / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 99'))
    before = state(sample_copy)
    for words in (["ask", QUESTION], ["search", "x"], ["papers"], ["ingest", str(places.SAMPLE)]):
        assert "format" in one_line(rag(*words, "--index", sample_copy), 4)
    assert state(sample_copy) == before


def test_an_index_of_another_embedder(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_EMBEDDER", "fake")
    line = one_line(rag("ask", QUESTION, "--index", sample_index), 4)
    assert "embedder" in line
    assert "rag index rebuild" in line


def test_a_folder_that_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    line = one_line(rag("ingest", places.SAMPLE, "--index", tmp_path), 4)
    assert "not an index" in line
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_place_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    line = one_line(rag("ingest", places.SAMPLE, "--index", tmp_path / "file" / "index"), 4)
    assert str(tmp_path / "file" / "index") in line
    monkeypatch.setenv("RAG_DATA_DIR", str(tmp_path / "file"))
    result = rag("ask", QUESTION)
    assert result.exit_code == 4
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert "RAG_DATA_DIR" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serch", "x"], "Did you mean 'search'"),
        (["ask", "x", "--yaer", "2024"], "--year"),
        (["ask", "x", "--format", "html"], "html"),
    ],
)
def test_misspelt_words_name_the_nearest(words: list[str], said: str) -> None:
    result = rag(*words)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask", "x", "--year", "20"], "must be like 2024, 2020-2024 or >=2024"),
        (["ask", "x", "--top", "0"], "Bad top 0 (option --top)"),
        (["ask", "x", "--mode", "magic"], "must be one of extractive, model"),
        (["ask", "x", "--base-url", "localhost"], "http://"),
        (["ask", "x", "--json", "--format", "bibtex"], "exclude each other"),
        (["chat", "-c", "--no-save"], "--continue and --no-save exclude each other"),
        (["chat", "-s", "thesis", "-c"], "--continue and --session exclude each other"),
        (["ingest", "x", "--strict", "--watch"], "--strict and --watch exclude each other"),
        (["ask", " "], "There is no question."),
        (["ask", "x", "--prompts", "/nope", "--model", "fake"], "/nope"),
        (["ask", "x", "--dry-run"], "none is set"),
        (["ask", "x", "--mode", "model"], "OpenAI wants a key"),
        (["search", "x", "--year", "2024-2020"], "must be like"),
    ],
)
def test_a_bad_value_is_one_line(words: list[str], said: str) -> None:
    assert said in one_line(rag(*words), 2)


def test_settings_from_a_file_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rag.toml").write_text("topp = 3")
    assert "Did you mean 'top'?" in one_line(rag("ask", "x"), 2)


def test_debug_shows_the_traceback_wherever_it_stands(tmp_path: Path) -> None:
    for words in (["--debug", "search", "x"], ["search", "x", "--debug"]):
        with pytest.raises(Exception, match="There is no index") as caught:
            rag(*words, "--index", tmp_path / "nope")
        assert type(caught.value).__name__ == "IndexMissing"


@pytest.mark.parametrize(
    ("args", "moved"),
    [
        (["ask", "x", "-q", "--debug"], ["-q", "--debug", "ask", "x"]),
        (["ask", "--", "-q"], ["ask", "--", "-q"]),
        ([], []),
    ],
)
def test_options_of_the_program_are_understood_anywhere(args: list[str], moved: list[str]) -> None:
    assert guard.hoisted(args) == moved


def test_quiet_says_nothing_but_the_answer(sample_index: Path) -> None:
    assert rag("ask", QUESTION, "--quiet", "--index", sample_index).stderr == ""


def test_version_and_help() -> None:
    assert rag("--version").stdout == f"rag {__version__}\n"
    assert process("--version").stdout == f"rag {__version__}\n"
    assert "Usage: rag ask" in rag("ask", "-h").stdout


# Signals and pipes


def test_ctrl_c_is_130_and_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(wiring, "open_pile", interrupt)
    result = rag("search", "x")
    assert (result.exit_code, result.output) == (130, "")


def test_ctrl_c_keeps_what_was_checked(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = wiring.ask(
        QUESTION, options.filters(None, None, None, None), settings_for(sample_index), options.silence
    )

    def interrupt(*_: object, **__: object) -> None:
        stop = KeyboardInterrupt()
        stop.answer = full  # type: ignore[attr-defined]
        raise stop

    monkeypatch.setattr(wiring, "ask", interrupt)
    result = rag("ask", QUESTION)
    assert result.exit_code == 130
    assert "7.66" in result.stdout


def settings_for(index: Path) -> Any:
    from rag.settings import load

    return load({"index": index}, environ={}, files=())


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_real_ctrl_c(sample_index: Path) -> None:
    command = [sys.executable, "-m", "rag", "ask", "-", "--index", str(sample_index)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )
    wait_until(
        lambda: "do_select" in wchan(child.pid) or "pipe" in wchan(child.pid) or child.poll() is not None
    )
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err) == (130, "", "")


def wchan(pid: int) -> str:
    """What a process waits for in the kernel, as far as that can be read."""
    try:
        return Path(f"/proc/{pid}/wchan").read_text()
    except OSError:
        time.sleep(1)
        return "pipe"


def wait_until(done: Callable[[], bool]) -> None:
    for _ in range(300):
        if done():
            return
        time.sleep(0.05)


def test_a_closed_pipe_is_quiet(sample_index: Path) -> None:
    keys = " ".join(
        line.split("\t")[0] for line in rag("papers", "--index", sample_index).stdout.splitlines()
    )
    command = f"{sys.executable} -m rag papers show {keys} --index {sample_index} | true"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_locale_without_unicode(sample_index: Path) -> None:
    done = process("ask", QUESTION, "--index", sample_index, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "7.66?" in done.stdout


@pytest.mark.parametrize("words", [["ask", "-"], ["chat", "--no-save"]])
def test_a_question_from_a_pipe_that_is_not_utf8(words: list[str], sample_index: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rag", *words, "--index", str(sample_index)],
        input=QUESTION.encode() + b" (caf\xe9)\n",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8:strict"},
        check=False,
    )
    assert (done.returncode in (0, 5), b"Speculative Prefill" in done.stdout) == (True, True), done.stderr


def test_words_that_are_not_utf8(sample_index: Path) -> None:
    """They arrive as halves of characters."""
    assert rag("search", f"{QUESTION} caf\udce9", "--index", sample_index).exit_code == 0
    assert "the key '?'" in one_line(rag("papers", "show", "\udce9", "--index", sample_index), 2)


@pytest.mark.parametrize(
    ("tty", "environ", "rich"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_colour_is_for_people(
    tty: bool, environ: dict[str, str], rich: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stream:
        def isatty(self) -> bool:
            return tty

    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert output.is_rich(Stream()) is rich  # type: ignore[arg-type]
