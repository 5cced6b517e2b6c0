"""``rag eval`` as a user types it: what is printed, what is written, and the exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from test_cli_model import GOOD, serving
from typer.testing import CliRunner, Result

from rag.cli import app
from rag.settings import SECRETS, Settings, load
from rag.wiring import evals as wiring_evals
from rag.wiring import runs as wiring_runs

CASES = [
    {
        "id": "decoding",
        "question": "What does ReVISE add to strengthen decoding?",
        "kind": "named",
        "split": "tune",
        "answerable": True,
        "papers": ["lee2025revise"],
        "facts": [{"text": "confidence-aware", "aliases": ["confidence"]}],
        "evidence": [
            {"key": "lee2025revise", "quote": "a confidence-aware decoding mechanism strengthens it further"}
        ],
    },
    {
        "id": "capital",
        "question": "What is the capital of Mongolia?",
        "kind": "far",
        "split": "test",
        "answerable": False,
        "papers": [],
    },
]
SUITE = (
    'gold = ["gold"]\nbaseline = "base.json"\n[settings]\nembedder = "fake"\n[gate]\nmetrics = ["right"]\n'
)
MODEL = (
    'gold = ["gold"]\ncassettes = "tapes"\n[settings]\nmode = "model"\nmodel = "tiny"\nembedder = "fake"\n'
)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "gold").mkdir()
    lines = "\n".join(json.dumps(case) for case in CASES)
    (tmp_path / "gold" / "all.jsonl").write_text(lines, "utf-8")
    (tmp_path / "eval" / "suites").mkdir(parents=True)
    for name, text in (("mine", SUITE), ("model", MODEL)):
        (tmp_path / "eval" / "suites" / f"{name}.toml").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_result_holds_no_secret() -> None:
    settings = Settings(**dict.fromkeys(SECRETS, "hush"), openreview_username="hush")  # type: ignore[arg-type]
    assert "hush" not in json.dumps(wiring_evals.dials(settings))


def rag(*words: str) -> Result:
    return CliRunner().invoke(app, ["eval", *words])


def test_a_run_prints_its_tables_and_writes_what_was_wished_for(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(desk / "summary.md"))
    done = rag("run", "mine", "--html", "r.html", "--junit", "j.xml", "--name", "first")
    assert done.exit_code == 0, done.output
    assert "2 questions, 2 answers by extractive mode" in done.stdout
    assert "2 of 2" in done.stdout
    assert (desk / "r.html").read_text("utf-8").startswith("<!doctype html>")
    assert 'tests="3"' in (desk / "j.xml").read_text("utf-8")
    assert (desk / "summary.md").read_text("utf-8").startswith("## Evals: mine ✓ passed")
    assert json.loads((desk / "eval" / "out" / "mine.json").read_text("utf-8"))["tag"] == "first"


def test_json_goes_to_stdout_whole(desk: Path) -> None:
    done = rag("run", "mine", "--only", "capital", "--json")
    found = json.loads(done.stdout)
    assert [row["case"] for row in found["rows"]] == ["capital"]
    assert found["dials"]["embedder"] == "fake"
    assert "api_key" not in found["dials"]


def test_the_gate_is_green_against_itself_and_red_with_a_floor(desk: Path) -> None:
    assert rag("run", "mine", "--update-baseline").exit_code == 0
    green = rag("run", "mine", "--gate")
    assert green.exit_code == 0
    assert "The gate is green." in green.stderr
    suite = desk / "eval" / "suites" / "mine.toml"
    suite.write_text(SUITE + "[gate.floors]\nfalse_refusal = -0.5\n", "utf-8")
    red = rag("run", "mine", "--gate")
    assert red.exit_code == 1
    assert "GATE: false_refusal is" in red.stderr


def test_a_part_of_a_suite_makes_no_baseline(desk: Path) -> None:
    refused = rag("run", "mine", "--only", "capital", "--update-baseline")
    assert refused.exit_code == 2
    assert not (desk / "base.json").exists()


def test_without_the_packages_of_evals_one_line_names_them(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = wiring_evals.find_spec
    monkeypatch.setattr(
        wiring_evals, "find_spec", lambda name: None if name == "ir_measures" else there(name)
    )
    found = rag("run", "mine", "-j", "2")
    assert found.exit_code == 2
    assert "Scoring answers needs ir-measures. Install: pip install ir-measures" in " ".join(
        found.output.split()
    )


def test_missing_recordings_exit_3_before_anything_runs(desk: Path) -> None:
    done = rag("run", "model")
    assert done.exit_code == 3
    assert "not recorded yet: 2 answers" in done.stderr
    assert "rag eval record model --only missing" in done.stderr
    assert not (desk / "eval" / "out").exists()


def test_lint_exits_1_and_names_file_and_line(desk: Path) -> None:
    assert rag("lint", "--suite", "mine").exit_code == 0
    spoilt = [{**CASES[0], "papers": ["nobody2020"], "evidence": []}, CASES[1]]
    (desk / "gold" / "all.jsonl").write_text("\n".join(map(json.dumps, spoilt)), "utf-8")
    found = rag("lint", "--suite", "mine")
    assert found.exit_code == 1
    assert "all.jsonl:1: decoding: missing paper: nobody2020 is not in the pile" in found.stdout


def test_compare_report_and_sweep_work_on_stored_results(desk: Path) -> None:
    rag("run", "mine", "--out", "a.json")
    found = rag("compare", "a.json", "a.json", "--html", "d.html")
    assert found.exit_code == 0
    assert "Unchanged: " in found.stdout
    assert (desk / "d.html").exists()
    assert rag("report", "a.json", "--summary", "s.md").exit_code == 0
    assert (desk / "a.html").exists()
    swept = rag("sweep", "a.json", "--dial", "weight")
    assert swept.stdout.splitlines()[0].split()[:2] == ["weight", "recall@1"]
    assert rag("sweep", "a.json", "--dial", "luck").exit_code == 2


def test_a_gold_set_of_ones_own_needs_no_suite(desk: Path) -> None:
    done = rag("run", "--gold", "gold", "--tag", "far")
    assert done.exit_code == 0, done.output
    assert "1 questions, 1 answers" in done.stdout


def test_drafts_are_lines_of_json(desk: Path) -> None:
    done = rag("draft", "lee2025revise", "--per-paper", "1")
    assert json.loads(done.stdout)["papers"] == ["lee2025revise"]


def test_quiet_leaves_no_remarks(desk: Path) -> None:
    runner = CliRunner()
    for words in (
        "lint --suite mine",
        "run mine --out a.json --gate",
        "compare a.json a.json",
        "report a.json",
    ):
        done = runner.invoke(app, ["--quiet", "eval", *words.split()])
        assert (done.exit_code, done.stderr) == (0, ""), words


def whole(*words: str) -> Result:
    """A command with the program's own options, after which no exception may be left."""
    done = CliRunner().invoke(app, [*words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def error_line(done: Result, code: int) -> str:
    assert done.exit_code == code, done.output
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    return line


OWN = ["run --gold gold", "lint gold", "draft", "run --gold gold -j 2"]


@pytest.mark.parametrize("words", OWN)
@pytest.mark.parametrize("before", [True, False])
def test_an_index_named_before_or_after_the_command_is_the_one_asked(
    desk: Path, words: str, before: bool
) -> None:
    named, command = ["--index", "typo"], ["eval", *words.split()]
    done = whole(*named, *command) if before else whole(*command, *named)
    assert "typo" in error_line(done, 4)


@pytest.mark.parametrize("words", OWN[:3])
def test_a_server_of_papers_is_the_one_asked(desk: Path, words: str) -> None:
    done = whole("eval", *words.split(), "--chroma-url", "http://127.0.0.1:9")
    assert "127.0.0.1:9" in error_line(done, 4)


@pytest.mark.parametrize("words", ["run mine", "lint --suite mine", "lint"])
def test_a_suite_is_not_asked_of_a_server(desk: Path, words: str) -> None:
    (desk / "eval" / "suites" / "extractive.toml").write_text(SUITE, "utf-8")
    line = error_line(whole("eval", *words.split(), "--chroma-url", "http://127.0.0.1:9"), 2)
    assert "papers of its own" in line


def test_an_index_named_for_the_program_is_asked_by_a_suite(desk: Path) -> None:
    assert "typo" in error_line(whole("--index", "typo", "eval", "run", "mine"), 4)


@pytest.mark.parametrize("words", ["compare a b", "report a", "sweep a", "record model", "judge"])
@pytest.mark.parametrize("option", ["--index", "--chroma-url"])
def test_where_papers_play_no_part_no_place_of_papers_is_taken(desk: Path, words: str, option: str) -> None:
    line = error_line(whole(option, "http://x", "eval", *words.split()), 2)
    assert f"rag eval {words.split(maxsplit=1)[0]} takes no {option}: " in line


def test_a_server_that_is_down_exits_4_after_everything_is_written(desk: Path) -> None:
    suite = MODEL + 'base_url = "http://127.0.0.1:9/v1"\nretries = 0\n[gate]\nmetrics = ["right"]\n'
    (desk / "eval" / "suites" / "model.toml").write_text(suite, "utf-8")
    for words in ((), ("--gate", "--junit", "j.xml")):
        done = rag("run", "model", "--live", "--only", "decoding", "--html", "r.html", *words)
        assert done.exit_code == 4, done.output
        assert "1 of 1 answers ended in an error." in done.stderr
        assert json.loads((desk / "eval" / "out" / "model.json").read_text("utf-8"))["errors"] == 1
        assert (desk / "r.html").exists()
    assert "ProviderError" in (desk / "j.xml").read_text("utf-8")


def test_the_model_of_a_server_is_found_once_and_asked(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_EMBEDDER", "fake")
    with serving(message=GOOD) as server:
        monkeypatch.setenv("RAG_BASE_URL", server.url)
        done = rag("run", "--gold", "gold", "--only", "decoding", "--out", "r.json")
    result = json.loads((desk / "r.json").read_text("utf-8"))
    assert (done.exit_code, result["mode"], result["model"], result["errors"]) == (0, "model", "tiny", 0)
    assert {body["model"] for body in server.asked} == {"tiny"}


def test_a_server_of_several_models_is_refused_before_anything_runs(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_EMBEDDER", "fake")
    with serving(models=("a", "b")) as server:
        monkeypatch.setenv("RAG_BASE_URL", server.url)
        assert "Set one of: a, b" in error_line(rag("run", "--gold", "gold", "--out", "r.json"), 2)
        assert rag("lint", "gold").exit_code == 0  # asks no model
    assert not (desk / "r.json").exists()


def test_a_key_alone_means_the_usual_model(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    spec = wiring_runs.planned(wiring_runs.Ask(gold=[desk / "gold"])).spec
    assert wiring_evals.named(spec, wiring_evals.silent).settings.model == "gpt-4o-mini"
    named = replace(spec, settings=wiring_evals.sendable(load({"model": "mine"})))
    assert wiring_evals.named(named, wiring_evals.silent).settings.model == "mine"


def test_a_suite_in_model_mode_without_a_model_is_refused_at_once(desk: Path) -> None:
    (desk / "eval" / "suites" / "model.toml").write_text(MODEL.replace('model = "tiny"\n', ""), "utf-8")
    for words in (("run", "model", "--live"), ("record", "model")):
        assert "names its model" in error_line(rag(*words), 2)


@pytest.mark.parametrize("option", ["--out", "--html", "--junit"])
@pytest.mark.parametrize("name", ["gold", "gold/all.jsonl/x"])
def test_what_could_not_be_written_is_refused_before_the_run(desk: Path, option: str, name: str) -> None:
    done = rag("run", "mine", option, name)
    assert f"{name} cannot be written: " in error_line(done, 2)
    assert "of 2" not in done.stderr
    assert done.stdout == ""


def test_a_step_summary_or_baseline_that_cannot_be_written_is_refused_before_the_run(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk / "base.json").mkdir()
    assert "base.json cannot be written: " in error_line(rag("run", "mine", "--update-baseline"), 2)
    assert "base.json cannot be read: " in error_line(rag("run", "mine", "--gate"), 2)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(desk / "gold"))
    done = rag("run", "mine")
    assert error_line(done, 2).endswith("Is a directory. Correct or unset it.")
    assert "of 2" not in done.stderr


def test_a_disk_that_is_full_costs_only_what_it_was_to_hold(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = rag("run", "mine", "--html", "/dev/full", "--junit", "j.xml")
    assert "/dev/full cannot be written: No space left on device. Make room" in error_line(done, 4)
    assert "2 questions" in done.stdout
    assert (desk / "j.xml").exists()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/dev/full")
    assert "GITHUB_STEP_SUMMARY: /dev/full" in error_line(rag("run", "mine", "--out", "a.json"), 4)
    assert (desk / "a.json").exists()
    for words in (
        ("report", "a.json", "--summary", "/dev/full"),
        ("compare", "a.json", "a.json", "--html", "gold"),
    ):
        assert "cannot be written" in error_line(rag(*words), 4 if words[0] == "report" else 2)


def test_the_gate_of_a_part_looks_at_that_part(desk: Path) -> None:
    gate = '[gate]\nmetrics = ["right", "false_answer"]\n[gate.floors]\nfalse_answer = 0.9\n'
    (desk / "eval" / "suites" / "mine.toml").write_text(SUITE.partition("[gate]")[0] + gate, "utf-8")
    assert rag("run", "mine", "--update-baseline").exit_code == 0
    done = rag("run", "mine", "--gate", "--only", "decoding")
    assert done.exit_code == 0, done.output
    assert "false_answer: these questions do not score it" in done.stderr
