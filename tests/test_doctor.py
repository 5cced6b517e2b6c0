"""The doctor: what it looks at, what it says, and that every failure comes with its fix."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag import doctor
from rag.cli import app
from rag.settings import Settings, load


def checks(settings: Settings, *examine: str) -> dict[str, doctor.Check]:
    return {check.name: check for name in examine for check in getattr(doctor, name)(settings)}


def test_a_healthy_machine(sample_index: Path) -> None:
    result = CliRunner().invoke(app, ["doctor", "--json", "--index", str(sample_index)], prog_name="rag")
    report = json.loads(result.stdout)
    assert (result.exit_code, report["ok"]) == (0, True)
    assert [check["name"] for check in report["checks"]] == [
        "python", "packages", "settings", "data folder", "embedder", "index", "model"
    ]  # fmt: skip
    assert report["settings"] == [{"key": "index", "value": str(sample_index), "origin": "option --index"}]


def test_text_shows_status_and_origin(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_INDEX", str(sample_index))
    monkeypatch.setenv("RAG_MODE", "extractive")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret-1234")
    result = CliRunner().invoke(app, ["doctor"], prog_name="rag")
    assert result.exit_code == 0
    assert "ok      index       38 papers, " in result.stdout
    assert "setting api_key = …1234  environment variable OPENAI_API_KEY" in result.stdout
    assert "secret" not in result.stdout


def test_no_index_yet_is_no_failure() -> None:
    assert checks(load(environ={}, files=()), "index")["index"].status == "skipped"


def test_a_missing_index_comes_with_its_fix(tmp_path: Path) -> None:
    settings = load({"index": tmp_path / "nope"}, environ={}, files=())
    found = checks(settings, "index")["index"]
    assert (found.status, "rag ingest" in found.fix) == ("failed", True)
    result = CliRunner().invoke(app, ["doctor", "--index", str(tmp_path / "nope")], prog_name="rag")
    assert result.exit_code == 4
    assert "fix: Make one with: rag ingest" in result.stdout


def test_a_data_folder_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = checks(load({"data_dir": tmp_path / "file"}, environ={}, files=()), "data_folder")["data folder"]
    assert (found.status, "RAG_DATA_DIR" in found.fix) == ("failed", True)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["no-such-package-at-all>=1", "rich>=13", "ruff; extra == 'dev'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: wanted)
    found = checks(Settings(), "packages")["packages"]
    assert (found.status, found.detail) == ("failed", "missing: no-such-package-at-all")


def test_an_old_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "OLDEST", (99, 0))
    assert checks(Settings(), "python")["python"].status == "failed"


def test_an_embedder_without_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load({"embedder": "http"}, environ={}, files=())
    assert checks(settings, "embedder")["embedder"].status == "failed"
