"""``rag chat`` as a person meets it, in a real pseudo-terminal; and from a pipe."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from chat_pty import BEGINS, ESCAPES, ROOT, widest, window
from openai_server import Handler, chunk, serving, status, stream

from rag.chat import screen

PREFILL = "By how much did SpecPrefill improve time-to-first-token?"
QUOTE = "SpecPrefill improves TTFT by 7.66×"
SENTENCE = json.dumps(
    {"text": "SpecPrefill improves TTFT by 7.66×.", "citations": [{"ref": 1, "quote": QUOTE}]},
    ensure_ascii=False,
)
GOOD = f'{{"answerable": true, "sentences": [{SENTENCE}]}}'
PASTED = "\x1b[200~{}\x1b[201~"


def rag(*words: str, given: str = "", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rag", *words],
        check=False,
        input=given,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        timeout=120,
    )


@pytest.fixture(autouse=True)
def of_the_sample(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_INDEX", str(sample_index))
    monkeypatch.setenv("RAG_RETRIES", "0")


def test_an_hour_in_short() -> None:
    with window() as chat:
        chat.prompt()
        chat.enter(PREFILL)
        assert "7.66×" in chat.prompt()
        chat.enter("Which model was it measured with?")
        shown = chat.prompt()
        assert "Understood as: Which model was SpecPrefill measured with?" in " ".join(shown.split())
        chat.enter("/cite")
        assert "@inproceedings{liu2025speculative," in chat.prompt()
        assert chat.leave() == 0
    assert "2\twhich" not in rag("sessions").stdout
    assert "\t2\tBy how much" in rag("sessions").stdout
    with window("-c") as chat:
        assert "Going on with" in chat.prompt()
        chat.enter("And on real tasks?")
        assert "[1]" in chat.prompt()
        assert chat.leave() == 0


def test_ctrl_c_twice_at_an_empty_prompt_leaves() -> None:
    with window() as chat:
        chat.prompt()
        chat.type("half a question\x03")
        chat.prompt()
        chat.type("\x03")
        assert "Ctrl-C again, or Ctrl-D, leaves." in chat.prompt()
        chat.type("and now something\x03")
        chat.prompt()
        chat.type("\x03")
        chat.prompt()
        chat.type("\x03")
        assert chat.end() == 0


def test_ctrl_c_stops_the_answer_and_not_the_chat() -> None:
    def slow(handler: Handler) -> None:
        handler.begin_stream()
        handler.piece(chunk(GOOD[: GOOD.index(SENTENCE) + len(SENTENCE)] + ", "))
        handler.server.gone.wait(30)
        handler.piece(chunk("never seen"))

    with serving(slow, stream(GOOD)) as server, window("--model", "m", "--base-url", server.url) as chat:
        chat.prompt()
        chat.enter(PREFILL)
        chat.wait("7.66×")
        chat.type("\x03")
        shown = chat.prompt()
        assert "Stopped; what was checked is kept." in shown
        assert "liu2025speculative" in shown
        server.gone.set()
        chat.enter("/retry")
        assert "7.66×" in chat.prompt()
        assert chat.leave() == 0


def test_a_provider_that_fails_leaves_the_question_to_edit() -> None:
    with (
        serving(status(500), stream(GOOD)) as server,
        window("--model", "m", "--base-url", server.url) as chat,
    ):
        chat.prompt()
        chat.enter(PREFILL[:-1])
        assert "Error: " in chat.prompt()
        chat.wait(PREFILL[:-1])
        chat.enter("?")
        assert "7.66×" in chat.prompt()
        assert chat.leave() == 0
        assert f"Question: {PREFILL}" in server.requests[-1]["messages"][-1]["content"]


def test_killed_in_the_middle_of_an_answer() -> None:
    def endless(handler: Handler) -> None:
        handler.begin_stream()
        handler.piece(chunk(GOOD[: GOOD.index(SENTENCE) + len(SENTENCE)] + ", "))
        handler.server.gone.wait(30)

    with serving(endless) as server, window("--model", "m", "--base-url", server.url) as chat:
        chat.prompt()
        chat.enter(PREFILL)
        chat.wait("7.66×")
        chat.child.kill(9)
        chat.child.wait()
        server.gone.set()
    shown = rag("sessions", "show", "1").stdout
    assert "SpecPrefill improves TTFT by 7.66× [1]." in shown
    assert "The program ended here." in shown


def test_without_colours() -> None:
    with window(columns=60, env={"NO_COLOR": "1"}) as chat:
        chat.wait(BEGINS)
        chat.enter(PREFILL)
        assert "7.66×" in chat.wait(BEGINS)
        assert chat.leave() == 0
    assert re.findall(r"\x1b\[(?:\d+;)*(?:[349][0-7]|[34]8)(?:;\d+)*m", chat.seen) == []


def test_a_dumb_terminal() -> None:
    with window(columns=60, env={"TERM": "dumb"}) as chat:
        chat.wait("> ")
        chat.enter(PREFILL)
        chat.wait("read 8 of 38 papers")
        chat.wait("> ")
        assert chat.leave() == 0
    assert "7.66×" in chat.seen
    assert "\x1b" not in chat.seen


@pytest.mark.parametrize("columns", [40, 100])
def test_rows_fit_the_window_and_follow_it(columns: int) -> None:
    with window(columns=100) as chat:
        chat.prompt()
        chat.child.setwinsize(30, columns)
        chat.enter(PREFILL)
        chat.wait("Serving")
        shown = chat.prompt()
        assert chat.leave() == 0
    assert columns - 20 < widest(shown) <= columns


def test_wide_characters() -> None:
    with window(columns=40) as chat:
        chat.prompt()
        chat.enter("SpecPrefill 首個令牌的時間改善了多少？")
        assert "[1]" in chat.prompt()
        assert chat.leave() == 0
    assert "SpecPrefill 首個令牌的時間改善了多少？" in rag("sessions", "list").stdout


def test_fifty_pasted_lines_are_sent_as_one_question() -> None:
    lines = "\n".join(["By how much did SpecPrefill improve TTFT?", *(f"Line {n} of it." for n in range(49))])
    with window(rows=20) as chat:
        chat.prompt()
        chat.type(PASTED.format(lines))
        chat.wait("Line 48 of it.")
        chat.type("\r")
        assert "liu2025speculative" in chat.prompt()
        assert chat.leave() == 0
    assert rag("sessions").stdout.split("\t")[3] == "1"


def test_several_lines_by_keys() -> None:
    with window() as chat:
        chat.prompt()
        chat.type("By how much did\x1b\rSpecPrefill improve\x1b\rTTFT?\r")
        assert "liu2025speculative" in chat.prompt()
        assert chat.leave() == 0
    exported = json.loads(rag("sessions", "export", "1", "--format", "json").stdout)
    assert exported["turns"][0]["question"] == "By how much did\nSpecPrefill improve\nTTFT?"


def test_tab_completes_commands_keys_and_names() -> None:
    with window() as chat:
        chat.prompt()
        chat.wait("38 papers")  # the papers are open
        chat.enter("/sou")
        assert "No papers were cited yet." in chat.prompt()
        chat.type("What is AnyE\t")
        chat.wait("dit")
        chat.enter("?")
        assert "jiang2025anyedit" in chat.prompt()
        assert chat.leave() == 0


def test_a_pipe_is_answered_in_plain_text() -> None:
    result = rag("chat", given=f"{PREFILL}\n\nWhich model was it measured with?\n")
    assert result.returncode == 0
    assert result.stdout.count("[1] Speculative Prefill") == 2
    assert "7.66×" in result.stdout
    assert "\x1b" not in result.stdout + result.stderr
    assert "Understood as: Which model was SpecPrefill measured with?" in result.stderr


def test_a_pipe_goes_on_after_a_failure_and_says_so_at_the_end() -> None:
    result = rag("chat", given=f"/nothing\n{PREFILL}\n/quit\nnever asked\n")
    assert result.returncode == 4
    assert "7.66×" in result.stdout
    assert "never asked" not in result.stdout
    assert "Traceback" not in result.stderr


def test_nothing_is_kept_when_that_is_wanted() -> None:
    assert rag("chat", "--no-save", given=f"{PREFILL}\n").returncode == 0
    assert rag("sessions").stdout == ""


def test_sessions_on_the_command_line(tmp_path: Path) -> None:
    assert "There is no conversation" in rag("chat", "-c").stderr
    rag("chat", "--session", "thesis", given=f"{PREFILL}\n")
    rag("chat", "-s", "thesis", given="Which model was it measured with?\n")
    assert rag("sessions").stdout.split("\t")[1:4:2] == ["thesis", "2"]
    assert "7.66×" in rag("sessions", "show", "thesis").stdout
    assert "thesis #1" in rag("sessions", "search", "7.66").stdout
    assert json.loads(rag("sessions", "list", "--json").stdout)["sessions"][0]["name"] == "thesis"
    assert rag("sessions", "export", "thesis", str(tmp_path / "t.bib")).returncode == 0
    assert (tmp_path / "t.bib").read_text().startswith("@inproceedings{liu2025speculative,")
    out = str(tmp_path / "out")
    assert rag("sessions", "export", "thesis", out, "--format", "json").returncode == 0
    assert json.loads((tmp_path / "out").read_text())["session"] == "thesis"
    again = rag("sessions", "export", "thesis", out)
    assert (again.returncode, "--force" in again.stderr) == (2, True)
    assert rag("sessions", "export", "thesis", out, "--force").returncode == 0
    assert (tmp_path / "out").read_text().startswith("# thesis")
    assert "Did you mean thesis?" in rag("sessions", "show", "thesi").stderr
    refused = rag("sessions", "delete", "thesis", given="n\n")
    assert (refused.returncode, rag("sessions").stdout == "") == (2, False)
    unasked = rag("sessions", "delete", "thesis")
    assert (unasked.returncode, "--yes" in unasked.stderr.splitlines()[-1]) == (2, True)
    assert rag("sessions", "delete", "thesis", given="y\n").stdout == "Deleted thesis.\n"
    assert rag("sessions", "delete", "thesis", "--yes").returncode == 2
    assert rag("sessions").stdout == ""


def test_a_session_open_in_another_window() -> None:
    with window("--session", "thesis") as chat:
        chat.prompt()
        chat.enter(PREFILL)
        chat.prompt()
        other = rag("chat", "-s", "thesis", given="Why?\n")
        assert other.returncode == 2
        assert "open in another window" in other.stderr
        assert chat.leave() == 0


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = rag("chat", given=f"{PREFILL}\n", env={"RAG_DATA_DIR": str(tmp_path / "file" / "data")})
    assert result.returncode == 4
    assert result.stderr.count("\n") == 1
    assert "--no-save" in result.stderr
    assert ESCAPES.sub("", result.stdout) == ""


def test_a_history_that_cannot_be_kept_does_not_end_the_chat(tmp_path: Path) -> None:
    file = tmp_path / "history"
    history = screen._history(file)
    file.unlink()
    file.mkdir()
    history.append_string(PREFILL)
    assert history.get_strings() == [PREFILL]
