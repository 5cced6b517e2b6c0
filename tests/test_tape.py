"""Record and replay against a local server; each test is named after the trap it keeps shut."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from evals_server import Script, serving, stream

from rag.adapters import tape_file
from rag.adapters.openai_api import OpenAIChat
from rag.adapters.tape import body_digest, recording, replaying
from rag.adapters.tape_file import Interaction, TapeFile
from rag.errors import ProviderError, TapeError
from rag.ports import ChatRequest, Message

DEAD = "http://127.0.0.1:9/v1"  # nothing listens on the discard port: a replay that calls out fails


def ask(url: str, *words: str, retries: int = 0, seed: int | None = None) -> list[str]:
    model = OpenAIChat(
        "tiny", base_url=url, api_key="sk-very-secret-key", max_retries=retries, sleep=lambda _: None
    )
    return [said(model, word, seed) for word in words]


def said(model: OpenAIChat, word: str, seed: int | None = None) -> str:
    request = ChatRequest((Message("user", word),), max_tokens=20, seed=seed)
    return "".join(delta.text for delta in model.stream(request))


def record(path: Path, script: Script, *words: str) -> list[str]:
    with serving(script), recording(path, {"case": "c"}):
        return ask(script.url, *words)


def swallow(call: Callable[..., object], *arguments: str) -> None:
    with pytest.raises(ProviderError):
        call(*arguments)


def interrupt(_: object) -> None:
    raise KeyboardInterrupt


def echo() -> Script:
    return Script(reply=lambda body: "Echo: " + body["messages"][-1]["content"])


def test_what_was_recorded_is_replayed_without_a_server(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    said_then = record(file, echo(), "one", "two")
    with replaying(file):
        assert ask(DEAD, "one", "two") == said_then == ["Echo: one", "Echo: two"]


def test_the_body_decides_and_answers_are_never_swapped(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    record(file, echo(), *(f"question {i}" for i in range(8)))
    with replaying(file):
        assert ask(DEAD, *(f"question {i}" for i in reversed(range(8)))) == [
            f"Echo: question {i}" for i in reversed(range(8))
        ]


def test_a_changed_prompt_is_a_tape_error_and_not_a_connection_error(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    record(file, echo(), "one")
    with pytest.raises(TapeError, match=r"holds no response.*rag eval record"), replaying(file) as session:
        ask(DEAD, "one, please")
    assert session.missed[0]["messages"][0]["content"] == "one, please"


def test_a_miss_that_the_program_swallows_still_fails(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    record(file, echo(), "one")
    with pytest.raises(TapeError), replaying(file):
        swallow(ask, DEAD, "two")


def test_a_miss_does_not_wait_for_retries(tmp_path: Path) -> None:
    """With max_retries=0 the model is asked once: the miss is seen exactly once."""
    file = tmp_path / "a.yaml"
    record(file, echo(), "one")
    with pytest.raises(TapeError), replaying(file) as session:
        ask(DEAD, "two", retries=0)
    assert len(session.missed) == 1


def test_only_one_cassette_is_open_and_no_patch_stays(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    record(first, echo(), "one")
    record(second, echo(), "one")
    before = httpx.HTTPTransport.handle_request
    with pytest.raises(TapeError, match="another recording is open"), replaying(first), replaying(second):
        ask(DEAD, "one")
    assert httpx.HTTPTransport.handle_request is before
    with replaying(first):
        ask(DEAD, "one")
    assert httpx.HTTPTransport.handle_request is before


def test_nothing_is_written_when_the_answer_did_not_come_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    record(file, echo(), "one")
    kept = file.read_bytes()
    with pytest.raises(KeyboardInterrupt), serving(echo()) as script, recording(file, {}):
        interrupt(ask(script.url, "two"))
    assert file.read_bytes() == kept
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


def test_a_failed_write_leaves_the_old_file_and_no_debris(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.yaml"
    tape_file.write(file, TapeFile((), {"n": 1}))

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        tape_file.write(file, TapeFile((), {"n": 2}))
    assert tape_file.read(file).about == {"n": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


def test_three_samples_of_one_prompt_stay_three(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    answers = iter(["red", "green", "blue"])
    record(file, Script(reply=lambda _: next(answers)), "same", "same", "same")
    with replaying(file):
        assert ask(DEAD, "same", "same", "same") == ["red", "green", "blue"]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_passing_troubles_are_never_recorded(tmp_path: Path, status: int) -> None:
    file = tmp_path / "a.yaml"
    with serving(Script(statuses=[status])) as script, recording(file, {}):
        assert ask(script.url, "one", retries=2) == ["Fine."]
    assert len(script.asked) == 2
    assert [one.status for one in tape_file.read(file).interactions] == [200]


def test_no_key_cookie_organisation_or_address_reaches_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    record(file, echo(), "one")
    text = file.read_text("utf-8")
    for secret in (
        "sk-very-secret-key",
        "cookie-secret",
        "org-secret",
        "127.0.0.1",
        "authorization",
        "uthoriz",
    ):
        assert secret not in text
    assert "text/event-stream" in text


def test_a_missing_file_never_goes_to_the_network(tmp_path: Path) -> None:
    with serving(echo()) as script:
        with pytest.raises(TapeError, match="no recording"), replaying(tmp_path / "absent.yaml"):
            ask(script.url, "one")
        assert script.asked == []


def test_what_was_recorded_and_not_asked_for_fails(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    record(file, echo(), "one", "two")
    with pytest.raises(TapeError, match="1 recorded responses were not asked for"), replaying(file):
        ask(DEAD, "one")


def test_an_error_of_the_program_itself_stays_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    record(file, echo(), "one")
    with pytest.raises(ZeroDivisionError), replaying(file):
        print(1 / 0)


def test_streams_are_readable_and_come_back_event_by_event(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    text = "Ünïcode “quotes”\nand a second line of the reply, \x07 too."
    raw = stream(text, "tiny")
    tape_file.write(file, TapeFile((Interaction("POST", "/v1/x", b'{"a":1}', 200, {}, raw),), {}))
    written = file.read_text("utf-8")
    assert len(written) < len(raw) / 2
    plain = stream("A plain reply.\nSecond line.", "tiny")
    tape_file.write(file, TapeFile((Interaction("POST", "/v1/x", b'{"a":1}', 200, {}, plain),), {}))
    assert "A plain reply.\n" in file.read_text("utf-8")
    back = tape_file.read(file).interactions[0].response
    assert events(back) == events(plain)


def test_a_stream_of_an_unknown_form_is_kept_as_text(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    raw = b"event: ping\ndata: {}\n\n"
    tape_file.write(file, TapeFile((Interaction("POST", "/v1/x", b"", 200, {}, raw),), {}))
    assert tape_file.read(file).interactions[0].response == raw


def test_signs_of_life_in_a_stream_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    plain = stream("A reply.", "tiny")
    tape_file.write(
        file, TapeFile((Interaction("POST", "/v1/x", b"{}", 200, {}, b":\n\n:\n\n" + plain),), {})
    )
    assert events(tape_file.read(file).interactions[0].response) == events(plain)
    assert "text: A reply." in file.read_text("utf-8")


def test_prompts_are_literal_blocks(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    record(file, echo(), "First line.\nSecond line.")
    assert "content: |-\n" in file.read_text("utf-8")
    assert "Second line.\\n" not in file.read_text("utf-8")


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("interactions: [", "utf-8")
    with pytest.raises(TapeError, match=r"a\.yaml cannot be read"):
        tape_file.read(file)


def test_digests_ignore_the_order_of_keys_and_nothing_else() -> None:
    assert body_digest(b'{"a": 1, "b": [1, 2]}') == body_digest(b'{"b":[1,2],"a":1}')
    assert body_digest(b'{"a": 1, "b": [1, 2]}') != body_digest(b'{"a": 1, "b": [2, 1]}')


def test_matching_is_quick_with_long_prompts(tmp_path: Path) -> None:
    """120 calls of 8 KB: the digest of a recorded body is taken once, so the work grows with n, not n * n."""
    file = tmp_path / "a.yaml"
    bodies = [json.dumps({"n": i, "text": "word " * 1600}).encode() for i in range(120)]
    rows = tuple(Interaction("POST", "/v1", body, 200, {}, b"{}") for body in bodies)
    tape_file.write(file, TapeFile(rows, {}))
    start = time.process_time()
    with replaying(file), httpx.Client() as client:
        for body in reversed(bodies):
            assert client.post("http://127.0.0.1:9/v1", content=body).status_code == 200
    assert time.process_time() - start < 10  # 40 times what it takes; without the memory far above


def events(raw: bytes) -> list[object]:
    lines = [line.removeprefix("data: ") for line in raw.decode().split("\n") if line]
    parsed: list[object] = []
    for line in lines:
        event = json.loads(line) if line != "[DONE]" else line
        if isinstance(event, dict):
            event["created"] = 0
        parsed.append(event)
    return parsed
