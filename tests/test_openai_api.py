"""The OpenAI-compatible model against a server in good and bad moods."""

from __future__ import annotations

import json
import socket
import threading
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from rag.adapters.openai_api import OpenAIChat
from rag.errors import ProviderError, RagError, TapeError, UsageError
from rag.ports import ChatRequest, Message
from rag.records import Usage
from tests.openai_server import FakeServer, Step, chunk, hang, serving, status, stream, torn

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
PLAIN = ChatRequest((Message("system", "Be brief."), Message("user", "Grüße?")), max_tokens=20)
ASKS_JSON = ChatRequest((Message("user", "Reply in JSON"),), max_tokens=20, seed=1, schema=SCHEMA)
KEY = "sk-secret-0123456789abcdef"


class Client:
    """A model whose waits and notices are collected instead of waited for."""

    def __init__(self, server: FakeServer, **options: Any) -> None:
        self.waits: list[float] = []
        self.notices: list[str] = []
        self.model = OpenAIChat(
            "m",
            base_url=server.url,
            **{"api_key": KEY, "sleep": self.waits.append, "notice": self.notices.append, **options},
        )

        server.leaving.callback(self.model.close)

    def ask(self, request: ChatRequest = PLAIN) -> str:
        text = ""
        for delta in self.model.stream(request):
            text = delta.text if delta.restart else text + delta.text
        return text

    def fail(self, request: ChatRequest = PLAIN) -> RagError:
        with pytest.raises(ProviderError) as caught:
            self.ask(request)
        assert KEY not in str(caught.value)
        assert "\n" not in str(caught.value)
        return caught.value


def test_streams_text_and_ends_with_usage() -> None:
    with serving(stream("Guten ", "Tag")) as server:
        deltas = list(Client(server).model.stream(PLAIN))
    assert [d.text for d in deltas] == ["Guten ", "Tag", ""]
    assert deltas[-1].usage == Usage(7, 3)
    assert deltas[-1].finish_reason == "stop"
    sent = server.requests[0]
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Grüße?"},
    ]
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("m", 20, 0.0)
    assert sent["stream_options"] == {"include_usage": True}
    assert "response_format" not in sent
    assert "seed" not in sent


def test_usage_that_is_not_said_is_estimated() -> None:
    with serving(stream("Hello there", usage=None)) as server:
        usage = list(Client(server).model.stream(PLAIN))[-1].usage
    assert usage is not None
    assert 3 <= usage.completion_tokens <= 5
    assert usage.cost_usd is None


def test_a_missing_done_is_no_error() -> None:
    with serving(stream("fine", done=False, finish=None, usage=None)) as server:
        assert Client(server).ask() == "fine"


def test_unicode_split_across_pieces() -> None:
    data = chunk("μCODE – 7.66× 😀") + chunk(None, "stop") + b"data: [DONE]\n\n"
    with serving(torn([data[i : i + 1] for i in range(len(data))])) as server:
        assert Client(server).ask() == "μCODE – 7.66× 😀"


def test_a_server_that_does_not_stream_is_understood() -> None:
    message = {"role": "assistant", "content": "whole"}
    reply = {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }  # fmt: skip
    with serving(status(200, reply)) as server:
        deltas = list(Client(server).model.stream(PLAIN))
    assert "".join(d.text for d in deltas) == "whole"
    assert deltas[-1].usage == Usage(5, 2)


def test_thoughts_are_left_out() -> None:
    with serving(stream("<thi", "nk>Let me see. [1]</th", "ink>\n\nYes", ".")) as server:
        assert Client(server).ask() == "Yes."
    with serving(stream("The template opened it.</think>", "Yes.")) as server:
        assert Client(server).ask() == "Yes."


def test_a_reply_of_thoughts_only_names_the_limit() -> None:
    with serving(stream("<think>and on and on", finish="length")) as server:
        assert "RAG_MAX_TOKENS" in str(Client(server).fail())


@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key_is_named_by_its_variable(code: int) -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    with serving(status(code, body)) as server:
        error = Client(server, key_name="RAG_API_KEY").fail()
    assert str(error) == f"{server.host} refused the key ({code}). Check RAG_API_KEY."
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_what_a_right_key_may_not_do_is_no_wrong_key() -> None:
    country = {"error": {"message": "Country, region, or territory not supported"}}
    with serving(status(403, country)) as server:
        said = str(Client(server).fail())
    assert said.startswith(f"{server.host} does not allow this (403): Country, region, or territory not supp")
    model = {"error": {"message": "Project `p` does not have access to model `m`", "code": "model_not_found"}}
    with serving(status(403, model), models=["m"]) as server:
        assert "has the model 'm', but not for this key (403)" in str(Client(server).fail())


def test_a_wanted_key_is_asked_for() -> None:
    with serving(status(401)) as server:
        error = Client(server, api_key=None).fail()
    assert str(error) == f"{server.host} wants the key (401). Set OPENAI_API_KEY."


def test_an_unknown_model_lists_the_nearest_first() -> None:
    body = {"error": {"message": "The model `m` does not exist.", "code": "model_not_found"}}
    offered = ["zephyr", "m2", "llama", "a", "b", "c"]
    for code in (404, 400):
        with serving(status(code, body), models=offered) as server:
            error = Client(server).fail()
        assert str(error).startswith(f"{server.host} has no model 'm'. It offers m2, ")
        assert str(error).endswith("and 1 more.")


def test_a_server_without_chat_points_at_the_base_url() -> None:
    with serving(status(404, "<html>404</html>", "text/html"), models=None) as server:
        assert str(Client(server).fail()) == (
            f"{server.url} offers no chat completions (404). Check the base URL; most end in /v1."
        )


def test_a_limit_is_waited_for_as_long_as_the_server_says() -> None:
    with serving(status(429, retry_after="3"), status(503), stream("late")) as server:
        client = Client(server)
        assert client.ask() == "late"
    assert client.waits == [3.0, 1.0]
    assert client.notices[0] == f"{server.host} is not ready; try 1 of 4 in 3.0 s."


def test_a_date_in_retry_after_is_understood() -> None:
    with serving(status(429, retry_after=formatdate(time.time() + 20, usegmt=True)), stream("ok")) as server:
        client = Client(server)
        client.ask()
    assert 15 <= client.waits[0] <= 21


def test_a_wait_beyond_the_cap_is_left_to_the_user() -> None:
    with serving(status(429, {"error": {"message": "slow down"}}, retry_after="3600")) as server:
        client = Client(server)
        error = client.fail()
    assert str(error) == f"{server.host} is at its limit (429): slow down Try again in 3600 s."
    assert client.waits == []


def test_a_limit_that_advertises_more_is_still_waited_for() -> None:
    said = (
        "Rate limit reached for m on requests per min (RPM): Limit 3, Used 3. Please try again in 20s. Visit"
        " https://example.org/account/billing to add a payment method for more."
    )
    body = {"error": {"message": said, "type": "requests", "code": "rate_limit_exceeded"}}
    with serving(status(429, body, retry_after="1"), stream("ok")) as server:
        assert Client(server).ask() == "ok"


def test_no_credit_is_not_tried_again() -> None:
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    with serving(status(429, body)) as server:
        assert "no credit" in str(Client(server).fail())
    assert len(server.requests) == 1


def test_a_failing_server_is_tried_a_few_times() -> None:
    with serving(status(500, {"error": {"message": "CUDA out of memory"}})) as server:
        client = Client(server, max_retries=2)
        error = client.fail()
    assert str(error).startswith(f"{server.host} failed (500): CUDA out of memory")
    assert client.waits == [0.5, 1.0]
    assert len(server.requests) == 3


def test_a_stream_that_breaks_is_asked_for_again() -> None:
    half = torn([chunk("Half a sen")], drop=True)
    with serving(half, stream("Whole.")) as server:
        client = Client(server)
        deltas = list(client.model.stream(PLAIN))
    assert [d.text for d in deltas if d.text] == ["Half a sen", "Whole."]
    assert [d.restart for d in deltas] == [False, True, False, False]


def test_a_stream_that_always_breaks_is_an_error() -> None:
    with serving(torn([chunk("Half")], drop=True)) as server:
        error = Client(server, max_retries=1).fail()
    assert "broke off in the middle" in str(error)


def test_an_error_inside_the_stream() -> None:
    event = b'data: {"error": {"message": "engine died", "code": 500}}\n\n'
    with serving(torn([chunk("Ha"), event])) as server:
        error = Client(server, max_retries=0).fail()
    assert str(error) == f"{server.host} gave up on the reply: engine died Try again."


def test_a_server_that_hangs() -> None:
    released = threading.Event()
    with serving(hang(released)) as server:
        error = Client(server, timeout=0.2).fail()
        released.set()
    assert str(error).startswith(f"{server.host} did not answer within 0.2 s.")
    assert len(server.requests) == 1


def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = OpenAIChat("m", base_url=f"http://127.0.0.1:{port}/v1")
    with pytest.raises(ProviderError, match=f"No server answers at 127.0.0.1:{port}") as caught:
        list(model.stream(PLAIN))
    assert f"http://127.0.0.1:{port}/v1" in caught.value.remedy


@pytest.mark.parametrize(
    "step",
    [
        status(200, "<html>Log in</html>", "text/html"),
        status(200, "<html>Log in</html>", "text/plain"),
        status(200, '{"hello": 1}'),
        torn([b"data: 42\n\n"]),
    ],
)
def test_something_else_than_a_model_answers(step: Step) -> None:
    with serving(step) as server:
        error = Client(server).fail()
    assert f"Check the base URL {server.url}" in str(error)


@pytest.mark.parametrize("step", [torn([b'data: {"id": "c", "cho\n\n']), status(200, "{not json")])
def test_replies_that_are_not_json(step: Step) -> None:
    with serving(step) as server:
        assert "not JSON" in str(Client(server).fail())


def test_an_empty_reply() -> None:
    with serving(stream()) as server:
        assert "empty reply" in str(Client(server).fail())


def test_too_long_a_prompt() -> None:
    body = {
        "error": {
            "message": "the request exceeds the available context size",
            "type": "exceed_context_size_error",
        }
    }
    with serving(status(400, body)) as server:
        assert "RAG_EVIDENCE_TOKENS" in str(Client(server).fail())


def test_a_refused_schema_falls_down_a_level_and_is_remembered(tmp_path: Path) -> None:
    refused = {"error": {"message": "Invalid parameter: 'response_format' of type 'json_schema'."}}
    memory = tmp_path / "cache" / "capabilities.json"
    with serving(status(400, refused), status(400, refused), stream("{}")) as server:
        assert Client(server, capabilities=memory).ask(ASKS_JSON) == "{}"
        assert Client(server, capabilities=memory).ask(ASKS_JSON) == "{}"
    formats = [body.get("response_format", {}).get("type") for body in server.requests]
    assert formats == ["json_schema", "json_object", None, None]
    assert server.requests[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    stored = memory.read_text()
    assert KEY not in stored
    assert json.loads(stored)[f"{server.url} m"]["json"] == "none"


def test_other_refused_parameters_are_left_out() -> None:
    refusals = [
        {"error": {"message": "Unknown field: stream_options"}},
        {"error": {"message": "Use 'max_completion_tokens' instead.", "param": "max_tokens"}},
        {"error": {"message": "Unsupported value", "param": "temperature"}},
        {"detail": "seed: extra fields not permitted"},
    ]
    with serving(*[status(400 if i < 3 else 422, r) for i, r in enumerate(refusals)], stream("ok")) as server:
        assert Client(server).ask(ASKS_JSON) == "ok"
    last = server.requests[-1]
    assert set(last) == {"model", "messages", "max_completion_tokens", "stream", "response_format"}


def test_a_refusal_that_names_no_parameter_is_shown() -> None:
    with serving(status(400, {"error": {"message": "bad\x1b[31m request"}})) as server:
        error = Client(server).fail(ASKS_JSON)
    assert str(error).startswith(f"{server.host} refused the request (400): bad [31m request")


def test_a_damaged_memory_is_ignored(tmp_path: Path) -> None:
    memory = tmp_path / "capabilities.json"
    memory.write_text('{"http://x m": 3, ')
    with serving(stream("{}")) as server:
        assert Client(server, capabilities=memory).ask(ASKS_JSON) == "{}"


def test_a_reader_who_stops_closes_the_connection() -> None:
    many = torn([chunk("word ")] * 20000)
    with serving(many) as server:
        reading = Client(server).model.stream(PLAIN)
        next(reading)
        reading.close()  # what Ctrl-C and a loop that is left do to a generator
        assert server.gone.wait(5)


def test_the_reason_of_a_transport_of_our_own_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    def missing(*args: object, **kwargs: object) -> None:
        raise TapeError("No recorded response.")

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", missing)
    with serving(stream("x")) as server, pytest.raises(TapeError, match="No recorded response"):
        Client(server, max_retries=0).ask()


def test_models_are_listed() -> None:
    with serving(stream("x"), models=["b", "a"]) as server:
        assert Client(server).model.models() == ["a", "b"]


def test_bad_arguments_are_refused_at_once() -> None:
    with pytest.raises(UsageError, match="OpenAI wants a key"):
        OpenAIChat("m")
    with pytest.raises(UsageError, match="characters no key has"):
        OpenAIChat("m", base_url="http://127.0.0.1:1/v1", api_key="sk-\u201cquoted\u201d")
    with pytest.raises(UsageError, match="is no address"):
        OpenAIChat("m", base_url="http://[::1/v1")
