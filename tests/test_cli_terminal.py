"""The commands in a real (pseudo) terminal: colour, width, and what a dumb terminal or NO_COLOR gets."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

pexpect = pytest.importorskip("pexpect")
ROOT = Path(__file__).parents[1]
QUESTION = "By how much does SpecPrefill improve TTFT?"
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def in_terminal(*words: object, columns: int = 80, code: int = 0, **environ: str) -> str:
    """Run a command in a terminal and return what appeared on it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **environ}
    env.pop("NO_COLOR", None) if "NO_COLOR" not in environ else None
    child = pexpect.spawn(
        sys.executable,
        ["-m", "rag", *map(str, words)],
        env=env,
        dimensions=(50, columns),
        encoding="utf-8",
        timeout=120,
    )
    text: str = child.read()
    child.close()
    assert child.exitstatus == code, text
    return text.replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [40, 100])
def test_an_answer_fits_the_window(sample_index: Path, columns: int) -> None:
    text = in_terminal("ask", QUESTION, "--quotes", "-q", "--index", sample_index, columns=columns)
    assert COLOUR.search(text)
    rows = COLOUR.sub("", text).splitlines()
    assert max(len(row) for row in rows if "https://" not in row) <= columns
    assert "\x1b" not in "".join(rows)
    assert any("[1] Speculative Prefill" in row for row in rows)
    assert "7.66×" in " ".join(rows)


def test_keys_are_whole_at_any_width(sample_index: Path) -> None:
    for columns in (30, 40, 80):
        text = COLOUR.sub("", in_terminal("papers", "list", "--index", sample_index, columns=columns))
        assert len(re.findall(r"^[a-z]+20\d\d[a-z]+ ", text, re.MULTILINE)) == 38
        assert max(len(row) for row in text.splitlines()) <= columns


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_none_is_wanted(sample_index: Path, environ: dict[str, str]) -> None:
    assert "\x1b" not in in_terminal(
        "search", "preference drift", "-k", 1, "--index", sample_index, **environ
    )


def test_a_models_sentences_flow_onto_the_screen(sample_index: Path) -> None:
    words = ("ask", QUESTION, "--model", "fake", "--fresh", "--index", sample_index)
    text = COLOUR.sub("", in_terminal(*words, columns=60))
    assert text.startswith("Asking fake ...\n")
    assert text.count("7.66×") == 1
    assert text.index("7.66×") < text.index("References") < text.index("fake · read")
    assert max(len(row) for row in text.splitlines() if "https://" not in row) <= 60


def test_an_error_is_red_and_one_line(tmp_path: Path) -> None:
    text = in_terminal("search", "x", "--index", tmp_path / "nope", columns=300, code=4)
    assert text.startswith("\x1b[31;1mError: \x1b[0mThere is no index in ")
    assert text.count("\n") == 1


def test_ask_without_a_question_does_not_wait_at_a_keyboard() -> None:
    assert "There is no question." in in_terminal("ask", code=2)
