"""README.md is true: its tree names every file, its links lead somewhere, its session is what is printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag.cli import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def tree() -> set[str]:
    """The paths in the tree of README.md."""
    found, folders = set(), list[str]()
    lines = README.split("```text\nrag/\n")[1].split("```")[0].splitlines()
    for line in ["rag/", *lines]:
        depth = (len(line) - len(line.lstrip())) // 2
        name = line.split()[0]
        path = "".join(folders[:depth]) + name
        folders[depth:] = [name] if name.endswith("/") else []
        if not name.endswith("/"):
            found.add(path)
    return found


def test_the_tree_names_every_file() -> None:
    files = [*(ROOT / "rag").rglob("*.py"), *(ROOT / "prompts").glob("*.md"), *(ROOT / "tools").glob("*.py")]
    there = {str(file.relative_to(ROOT)) for file in files if file.name != "__init__.py"}
    named = {
        path for path in tree() if path.endswith((".py", ".md")) and not path.startswith("rag/evals/judge.md")
    }
    assert sorted(there - named) == [], "add to the tree of README.md"
    assert sorted(named - there) == [], "gone: remove from the tree of README.md"


def session() -> list[tuple[str, str]]:
    """Each command of the session at the top with what is shown below it."""
    block = README.split("```console\n")[1].split("```")[0]
    return [(shown.partition("\n")[0], shown.partition("\n")[2]) for shown in block.split("$ rag ")[1:]]


@pytest.mark.parametrize(("command", "shown"), session())
def test_the_session_is_what_the_program_prints(sample_index: Path, command: str, shown: str) -> None:
    """Word for word but for line breaks; three dots stand for something left out."""
    words, _, echoed = command.partition(";")
    result = CliRunner().invoke(app, [*shlex.split(words), "--index", str(sample_index)], prog_name="rag")
    printed = " ".join(f"{result.stdout} {result.stderr} {result.exit_code if echoed else ''}".split())
    for part in shown.split("\n...\n"):
        assert " ".join(part.split()) in printed


def test_links_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    links = [
        (page, target)
        for page in pages
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    ]
    assert [(page.name, target) for page, target in links if not (page.parent / target).exists()] == []
