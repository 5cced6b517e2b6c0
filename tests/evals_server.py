"""An OpenAI-compatible server on 127.0.0.1 whose replies a test scripts; it counts what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REFUSAL = b'{"error": {"message": "no"}}'
Reply = Callable[[dict[str, Any]], str]


@dataclass
class Script:
    """``reply`` makes the text for a request body; ``statuses`` are sent first, one a request."""

    reply: Reply = lambda body: "Fine."
    statuses: list[int] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(script: Script) -> Iterator[Script]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            script.asked.append(body)
            status = script.statuses.pop(0) if script.statuses else 200
            good = status == 200
            payload = stream(script.reply(body), body["model"]) if good else REFUSAL
            self.send_response(status)
            self.send_header("content-type", "text/event-stream" if good else "application/json")
            self.send_header("set-cookie", "session=cookie-secret")
            self.send_header("openai-organization", "org-secret")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def stream(text: str, model: str) -> bytes:
    """The reply as server-sent events of a few characters, the time stamp ticking as with llama.cpp."""
    pieces = [text[i : i + 4] for i in range(0, len(text), 4)]
    events = [_chunk(model, {"role": "assistant", "content": None})]
    events += [_chunk(model, {"content": piece}, created=100 + i) for i, piece in enumerate(pieces)]
    end = _chunk(model, {}, "stop") | {"usage": None}
    used = {"prompt_tokens": 10, "completion_tokens": len(pieces), "total_tokens": 10 + len(pieces)}
    last = _chunk(model, {}) | {"choices": [], "usage": used}
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in [*events, end, last]]
    return ("".join(lines) + "data: [DONE]\n\n").encode()


def _chunk(
    model: str, delta: dict[str, Any], reason: str | None = None, created: int = 100
) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": created,
        "model": model,
        "choices": [choice],
    }
