"""Model mode through the command line, against a server of our own: answers, and every refusal."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from rag.cli import app

QUESTION = "By how much does SpecPrefill improve TTFT?"
KEY = "sk-0123456789abcdef"
MODEL = "tiny"


class Handler(BaseHTTPRequestHandler):
    """Answers as ``server.plan`` says; lists one model."""

    server: FakeServer

    def log_message(self, *args: Any) -> None:
        """Be silent."""

    def do_GET(self) -> None:
        self.reply(
            200, {"object": "list", "data": [{"id": name, "object": "model"} for name in self.server.models]}
        )

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        status, message = self.server.plan
        if status != 200:
            self.reply(status, {"error": {"message": message, "code": None}})
            return
        choice = {"index": 0, "message": {"role": "assistant", "content": message}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
        head = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
        self.reply(200, {**head, "choices": [choice], "usage": usage})

    def reply(self, status: int, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class FakeServer(ThreadingHTTPServer):
    """An OpenAI-compatible server whose every reply is ``plan``."""

    def __init__(self, plan: tuple[int, str], models: tuple[str, ...]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan, self.models = plan, models
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def serving(status: int = 200, message: str = "", models: tuple[str, ...] = (MODEL,)) -> Iterator[FakeServer]:
    server = FakeServer((status, message), models)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def reply(text: str, quote: str, ref: int = 1) -> str:
    citation = {"ref": ref, "quote": quote}
    return json.dumps({"answerable": True, "sentences": [{"text": text, "citations": [citation]}]})


GOOD = reply("SpecPrefill improves TTFT by 7.66×.", "SpecPrefill improves TTFT by 7.66×")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_RETRIES", "0")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ask(index: Path, url: str, *words: str, model: str | None = MODEL) -> Result:
    named = ["--model", model] if model else []
    command = ["ask", QUESTION, "--index", str(index), "--base-url", url, *named, *words]
    result = CliRunner().invoke(app, command, prog_name="rag")
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_an_answer_is_checked_and_counted(sample_index: Path) -> None:
    with serving(message=GOOD) as server:
        result = ask(sample_index, server.url, "--json")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["mode"], answer["model"]) == (0, "model", MODEL)
    assert answer["answer"] == "SpecPrefill improves TTFT by 7.66× [1]."
    assert answer["references"][0]["key"] == "liu2025speculative"
    assert answer["usage"] == {"prompt_tokens": 1000, "completion_tokens": 50, "cost_usd": None}
    assert answer["prompt"]["name"] == "answer"
    assert re.search(r"tiny · read \d of 38 papers · 1,000 \+ 50 tokens · price unknown", result.stderr)


def test_the_only_model_of_a_server_needs_no_name(sample_index: Path) -> None:
    with serving(message=GOOD) as server:
        assert json.loads(ask(sample_index, server.url, "--json", model=None).stdout)["model"] == MODEL
    with serving(message=GOOD, models=("a", "b")) as server:
        refused = ask(sample_index, server.url, model=None)
    assert refused.exit_code == 2
    assert "Set one of: a, b" in refused.stderr
    with serving(message=GOOD, models=()) as server:
        refused = ask(sample_index, server.url, model=None)
    assert refused.exit_code == 2
    assert "offers no model. Load one there, or name " in refused.stderr


@pytest.mark.parametrize(
    "sentence",
    [
        reply("SpecPrefill improves TTFT by 76.6×.", "SpecPrefill improves TTFT by 7.66×"),
        reply("SpecPrefill improves TTFT by 9.1×.", "SpecPrefill improves TTFT by 9.1×"),
        reply("SpecPrefill improves TTFT by 9.1×.", "SpecPrefill improves TTFT by 9.1×", ref=99),
    ],
    ids=["changed digit", "invented quote", "invented paper"],
)
def test_what_the_papers_do_not_say_is_not_shown(sample_index: Path, sentence: str) -> None:
    with serving(message=sentence) as server:
        result = ask(sample_index, server.url)
    assert result.exit_code == 5
    assert "9.1" not in result.stdout
    assert "76.6" not in result.stdout


def test_the_same_question_is_paid_for_once(sample_index: Path) -> None:
    with serving(message=GOOD) as server:
        first, second, fresh = (ask(sample_index, server.url, *words) for words in ([], [], ["--fresh"]))
    assert first.stdout == second.stdout == fresh.stdout
    assert "cache" not in first.stderr
    assert "came from the response cache" in second.stderr
    assert len(server.asked) == 2


def test_without_a_cache_nothing_is_kept(
    sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("RAG_CACHE", "off")
    with serving(message=GOOD) as server:
        for words in ([], ["--fresh"]):
            assert ask(sample_index, server.url, *words).exit_code == 0
    assert len(server.asked) == 2
    assert not (tmp_path / "replies").exists()
    monkeypatch.delenv("RAG_CACHE")
    with serving(message=GOOD) as server:
        assert ask(sample_index, server.url, "--fresh").exit_code == 0
    assert len(list((tmp_path / "replies").iterdir())) == 1


@pytest.mark.parametrize(
    ("status", "message", "said"),
    [
        (401, "Incorrect API key", "OPENAI_API_KEY"),
        (404, "The model does not exist", MODEL),
        (429, "Rate limit reached", "limit"),
        (500, "boom", "500"),
    ],
)
def test_a_server_that_refuses_is_one_line(sample_index: Path, status: int, message: str, said: str) -> None:
    with serving(status, message) as server:
        result = ask(sample_index, server.url)
    assert (result.exit_code, result.stdout) == (4, "")
    line = result.stderr.strip()
    assert line.startswith("Error: ")
    assert "\n" not in line
    assert said in line
    assert f"127.0.0.1:{server.server_port}" in line
    assert KEY not in line


def test_a_server_that_is_not_there_is_one_line(sample_index: Path) -> None:
    with serving() as server:
        url = server.url
    result = ask(sample_index, url)
    assert (result.exit_code, result.stdout) == (4, "")
    assert len(result.stderr.splitlines()) == 1
    assert url.split("/")[2] in result.stderr


def test_doctor_asks_the_server_for_the_model(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        monkeypatch.setenv("RAG_BASE_URL", server.url)
        monkeypatch.setenv("RAG_MODEL", "tinny")
        report = CliRunner().invoke(app, ["doctor", "--json", "--index", str(sample_index)], prog_name="rag")
    found = {check["name"]: check for check in json.loads(report.stdout)["checks"]}
    assert report.exit_code == 4
    assert found["model"]["status"] == "failed"
    assert "tiny" in found["model"]["fix"]
    assert [found[name]["status"] for name in ("python", "embedder", "index")] == ["ok", "ok", "ok"]
    assert KEY not in report.stdout
