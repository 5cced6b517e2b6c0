"""A model server that answers at once, so that what is timed is everything but the model.

    with running() as url: ...                # http://127.0.0.1:PORT/v1

It speaks as much of OpenAI's protocol as the programs compared need: models, chat completions (whole or
streamed) and embeddings (zeros and a one). A prompt that asks for JSON gets one sentence that quotes the
first long sentence of the evidence, as a careful model would; any other prompt gets a fixed line.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_SENTENCE = re.compile(r"\[1\].*?([A-Z][^.\[\]\n]{60,300}\.)(?=\s|$)", re.DOTALL)
_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "stub", "object": "model", "owned_by": "bench"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path.endswith("/embeddings"):
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            rows = [
                {"object": "embedding", "index": n, "embedding": [1.0] + [0.0] * 383}
                for n in range(len(texts))
            ]
            self._send({"object": "list", "model": "stub", "data": rows, "usage": _USAGE})
            return
        text = reply("\n".join(str(message.get("content")) for message in asked.get("messages", [])))
        if asked.get("stream"):
            self._stream(text)
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            self._send({**_head("chat.completion"), "choices": [choice], "usage": _USAGE})

    def _send(self, body: dict[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, text: str) -> None:
        choices = (({"content": text}, None), ({}, "stop"))
        parts = [
            {**_head("chat.completion.chunk"), "choices": [{"index": 0, "delta": d, "finish_reason": f}]}
            for d, f in choices
        ]
        parts.append({**_head("chat.completion.chunk"), "choices": [], "usage": _USAGE})
        raw = (
            b"".join(b"data: " + json.dumps(part).encode() + b"\n\n" for part in parts) + b"data: [DONE]\n\n"
        )
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


def _head(kind: str) -> dict[str, Any]:
    return {"id": "stub", "object": kind, "created": 1, "model": "stub"}


def reply(prompt: str) -> str:
    """Return what the model would say to ``prompt``."""
    if "JSON object" not in prompt:
        return "The first source says so [1]."
    found = _SENTENCE.search(prompt)
    quote = " ".join(found[1].split()) if found else ""
    sentences = [{"citations": [{"ref": 1, "quote": quote}], "text": quote}] if quote else []
    return json.dumps({"answerable": bool(quote), "sentences": sentences})


@contextmanager
def running() -> Iterator[str]:
    """Serve on a free port of 127.0.0.1 and yield the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    with running() as url:
        print(url, flush=True)
        threading.Event().wait()
