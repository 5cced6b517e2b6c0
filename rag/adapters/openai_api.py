"""A chat model behind any server that speaks OpenAI's API: OpenAI, vLLM, Ollama, llama.cpp, LM Studio.

    model = OpenAIChat("qwen2.5:7b", base_url="http://127.0.0.1:11434/v1")
    for delta in model.stream(ChatRequest((Message("user", "Hello"),), max_tokens=50)): ...

Replies are streamed. A stream that breaks is asked for again and announced by ``Delta(restart=True)``.
The SDK's own retries are off: they would neither be told to the user nor cover a broken stream.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from rag.adapters.capabilities import Capability, Memory, address
from rag.adapters.openai_errors import (
    LONGEST_WAIT,
    NotAReply,
    Server,
    complaint,
    translate,
    wait_before_retry,
)
from rag.adapters.thinking import ThinkFilter
from rag.errors import ProviderError, UsageError
from rag.ports import ChatRequest, Delta
from rag.records import Usage
from rag.text.size import tokens_in

OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_WINDOW = 8192
_FAILURES = (openai.OpenAIError, httpx.HTTPError, ValueError, NotAReply)


class OpenAIChat:
    """Implements ``ports.ChatModel``.

    Args:
        model: name as the server knows it.
        base_url: up to and with ``/v1``; None is OpenAI itself.
        api_key: may be None for a local server.
        timeout: seconds without a sign of life (a local model reads a long prompt in silence).
        max_retries: further tries after 429, 5xx and broken connections; 0 when responses are replayed.
        context_window: tokens of prompt and reply that fit.
        capabilities: file that remembers what servers can do; None remembers within this object.
        key_name: what error lines call the place the key comes from.
        notice: told, in one line, why a reply is late.
        sleep: waits between tries.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 120.0,
        max_retries: int = 4,
        context_window: int | None = None,
        capabilities: Path | None = None,
        key_name: str = "OPENAI_API_KEY",
        notice: Callable[[str], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._base_url = (base_url or OPENAI_URL).rstrip("/")
        key = (api_key or "").strip()
        if self._base_url == OPENAI_URL and not key:
            raise UsageError("OpenAI wants a key.", f"Set {key_name}, or base_url for a server of your own.")
        if not (key.isascii() and key.isprintable()):
            raise UsageError("The API key holds characters no key has.", f"Check {key_name}.")
        self._client = _client(self._base_url, key, timeout)
        self._model, self._window = model, context_window or DEFAULT_WINDOW
        self._retries, self._sleep = max_retries, sleep
        self._notice = notice or (lambda _: None)
        self._memory = Memory(capabilities)
        self._server = Server(address(self._base_url), model, timeout, key_name, key or None)

    @property
    def name(self) -> str:
        return self._model

    @property
    def context_window(self) -> int:
        return self._window

    def stream(self, request: ChatRequest) -> Iterator[Delta]:
        """Yield the reply piece by piece; the last piece has the usage, measured or (if unsaid) estimated.

        Raises:
            ProviderError: the server refuses, fails, or cannot be reached.
        """
        began, attempt = False, 0
        while True:
            try:
                for delta in self._attempt(request):
                    began = True
                    yield delta
                return
            except _FAILURES as error:
                if self._lower(error):
                    continue
                wait = wait_before_retry(error, attempt) if attempt < self._retries else None
                if wait is None:
                    raise translate(error, self._server, self._offered) from error
            attempt += 1
            self._notice(
                f"{self._server.host} is not ready; try {attempt} of {self._retries} in {wait:.1f} s."
            )
            self._sleep(min(wait, LONGEST_WAIT))
            if began:
                yield Delta(restart=True)

    def models(self) -> list[str]:
        """Names of the models the server offers.

        Raises:
            ProviderError: as for ``stream``.
        """
        try:
            return sorted(model.id for model in self._client.models.list())
        except (*_FAILURES, AttributeError, TypeError) as error:
            raise translate(error, self._server, lambda: None) from error

    def close(self) -> None:
        """Let go of kept connections."""
        self._client.close()

    def _offered(self) -> list[str] | None:
        try:
            return self.models()
        except ProviderError:
            return None

    def _lower(self, error: BaseException) -> bool:
        """Ask for less after a refusal that names a parameter; False when there is nothing to leave out."""
        said = complaint(error)
        known = self._memory.recall(self._base_url, self._model)
        lower = known.lowered(said) if said else None
        if lower is None:
            return False
        self._memory.learn(self._base_url, self._model, lower)
        return True

    def _attempt(self, request: ChatRequest) -> Iterator[Delta]:
        body = request_body(self._model, request, self._memory.recall(self._base_url, self._model))
        # Not through client.chat, which imports every other resource of the API first: a third of a second.
        stream = self._client.post(
            "/chat/completions",
            body=body,
            cast_to=ChatCompletion,
            stream=True,
            stream_cls=openai.Stream[ChatCompletionChunk],
        )
        with closing(stream.response):  # also on Ctrl-C and when the reader stops early
            kind = stream.response.headers.get("content-type", "")
            if "html" in kind:
                raise NotAReply("answered with a web page, not with a model's reply")
            pieces = _whole(stream.response) if "application/json" in kind else _pieces(stream)
            yield from _visible(pieces, request)


def request_body(model: str, request: ChatRequest, can: Capability) -> dict[str, Any]:
    """The arguments of a chat completion: what the request wants and the server can do."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        can.limit: request.max_tokens,
        "stream": True,
    }
    if can.usage:
        body["stream_options"] = {"include_usage": True}
    if can.temperature:
        body["temperature"] = request.temperature
    if can.seed and request.seed is not None:
        body["seed"] = request.seed
    if request.schema is not None and can.json == "json_schema":
        schema = {"name": "reply", "strict": True, "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.schema is not None and can.json == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def _client(base_url: str, key: str, timeout: float) -> openai.OpenAI:
    limit = httpx.Timeout(timeout, connect=min(timeout, 10.0))
    try:
        return openai.OpenAI(base_url=base_url, api_key=key or "none", timeout=limit, max_retries=0)
    except (httpx.InvalidURL, ValueError) as error:
        raise UsageError(
            f"The base URL {base_url!r} is no address: {error}.", "Example: http://host:8000/v1"
        ) from error


def _visible(pieces: Iterator[Delta], request: ChatRequest) -> Iterator[Delta]:
    """Leave out thoughts, and close with a piece that has the usage."""
    think, usage, reason, written, shown = ThinkFilter(), None, None, "", False
    for piece in pieces:
        usage, reason = piece.usage or usage, piece.finish_reason or reason
        written += piece.text
        text = think.feed(piece.text)
        if think.restarted:
            yield Delta(restart=True)
        if text:
            shown = True
            yield Delta(text)
    if rest := think.flush():
        shown = True
        yield Delta(rest)
    if not shown:
        raise NotAReply(_nothing(reason, request.max_tokens))
    yield Delta(usage=usage or _estimated(request, written), finish_reason=reason)


def _nothing(reason: str | None, max_tokens: int) -> str:
    if reason == "length":
        return f"spent all {max_tokens} tokens on thinking (raise max_tokens, RAG_MAX_TOKENS)"
    return "sent an empty reply"


def _estimated(request: ChatRequest, written: str) -> Usage:
    return Usage(sum(tokens_in(m.content) for m in request.messages), tokens_in(written))


def _pieces(stream: openai.Stream[ChatCompletionChunk]) -> Iterator[Delta]:
    seen = False
    for chunk in stream:
        if not isinstance(chunk, ChatCompletionChunk):
            raise NotAReply("streamed something that is no chat completion")
        seen = True
        usage = _usage(chunk.usage)
        for choice in (chunk.choices or [])[:1]:
            text = (choice.delta.content or "") if choice.delta else ""
            yield Delta(text, usage, choice.finish_reason)
            usage = None
        if usage:
            yield Delta(usage=usage)
    if not seen:
        raise NotAReply("answered with something that is no stream of a model's reply")


def _whole(response: httpx.Response) -> Iterator[Delta]:
    """The reply of a server that does not stream though asked to."""
    data = json.loads(response.read())
    try:
        reply = ChatCompletion.model_validate(data)
        choice = reply.choices[0]
    except (ValueError, IndexError) as error:
        raise NotAReply("answered with JSON that is no chat completion") from error
    yield Delta(choice.message.content or "", _usage(reply.usage), choice.finish_reason)


def _usage(said: CompletionUsage | None) -> Usage | None:
    if said is None or said.prompt_tokens is None:
        return None
    return Usage(said.prompt_tokens, said.completion_tokens or 0)
