"""``rag eval`` as a user types it: what is printed, what is written, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rag.cli import app
from rag.settings import SECRETS, Settings
from rag.wiring import evals as wiring_evals

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
