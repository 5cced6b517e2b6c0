"""A small HTTP server on 127.0.0.1 that answers like OpenAI-compatible servers do, in their bad moments too.

A script is a list of steps, one per chat request (the last one is repeated); a step writes its whole response
through the handler. ``server.requests`` holds the bodies, ``server.headers`` the headers that arrived;
what is put on ``server.leaving`` is closed with it.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = Callable[["Handler"], None]


def chunk(text: str | None = None, finish: str | None = None, usage: dict[str, int] | None = None) -> bytes:
    choices = [] if text is None and finish is None else [_choice(text, finish)]
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
    return b"data: " + json.dumps({**body, "usage": usage}, ensure_ascii=False).encode() + b"\n\n"


def _choice(text: str | None, finish: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": {"content": text} if text is not None else {}, "finish_reason": finish}


def stream(
    *texts: str, usage: tuple[int, int] | None = (7, 3), finish: str | None = "stop", done: bool = True
) -> Step:
    """A good reply, piece by piece."""

    def step(handler: Handler) -> None:
        handler.begin_stream()
        for text in texts:
            handler.piece(chunk(text))
        if finish:
            handler.piece(chunk(None, finish))
        if usage:
            handler.piece(
                chunk(usage={"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": 0})
            )
        if done:
            handler.piece(b"data: [DONE]\n\n")
        handler.piece(b"")

    return step


def torn(raw: Sequence[bytes], drop: bool = False) -> Step:
    """Raw pieces of a stream; with ``drop`` the connection is cut instead of ended."""

    def step(handler: Handler) -> None:
        handler.begin_stream()
        for piece in raw:
            handler.piece(piece)
        if drop:
            handler.connection.shutdown(socket.SHUT_RDWR)
        else:
            handler.piece(b"")

    return step


def status(code: int, body: object = None, kind: str = "application/json", **headers: str) -> Step:
    """A refusal."""

    def step(handler: Handler) -> None:
        text = body if isinstance(body, str) else json.dumps(body or {"error": {"message": f"no ({code})"}})
        handler.whole(code, text, kind, headers)

    return step


def hang(released: threading.Event) -> Step:
    """No answer until the test is over."""

    def step(handler: Handler) -> None:
        released.wait(20)

    return step


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(body)
        self.server.headers.append(dict(self.headers))
        script = self.server.script
        step = script[min(len(self.server.requests), len(script)) - 1]
        try:
            step(self)
        except (BrokenPipeError, ConnectionResetError):
            self.server.gone.set()

    def do_GET(self) -> None:
        if self.server.models is None:
            self.whole(404, "<html>not here</html>", "text/html", {})
        else:
            data = [
                {"id": name, "object": "model", "created": 1, "owned_by": "x"} for name in self.server.models
            ]
            self.whole(200, json.dumps({"object": "list", "data": data}), "application/json", {})

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def piece(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def whole(self, code: int, text: str, kind: str, headers: dict[str, str]) -> None:
        data = text.encode()
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@dataclass(eq=False)
class FakeServer(ThreadingHTTPServer):
    script: Sequence[Step]
    models: Sequence[str] | None = ("m",)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)
    leaving: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving(*script: Step, models: Sequence[str] | None = ("m",)) -> Iterator[FakeServer]:
    """Serve ``script`` while the block runs."""
    server = FakeServer(script, models)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.leaving.close()
        server.shutdown()
        thread.join()
        server.server_close()
