"""Embeddings from any server that speaks OpenAI's ``/embeddings`` (OpenAI, vLLM, Ollama, llama.cpp, TEI).

    HttpEmbedder("text-embedding-3-small", api_key="...").embed(["a", "b"]).shape    # (2, 1536)

The id is ``openai:`` and the model's name: whoever serves it, the same model gives the same vectors.
Failures become ``ProviderError``; the key never appears in a message.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import openai

from rag.errors import ProviderError

if TYPE_CHECKING:
    from rag.ports import Vectors

_BATCH = 64
_OPENAI_WINDOW = 8191
_LOCAL_WINDOW = 512


class HttpEmbedder:
    """Embedder behind an OpenAI-compatible base URL.

    Args:
        model: the name the server knows the model by.
        base_url: address up to and including ``/v1``; None for OpenAI's own.
        api_key: None where the server asks for none.
        window: tokens that fit; by default OpenAI's 8191 for its models and 512, which nearly every
            embedding model takes, for others.
        timeout: seconds for one request; failed ones are tried twice more by the SDK.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        window: int | None = None,
        timeout: float = 60.0,
        max_retries: int = 2,
    ) -> None:
        self.id = f"openai:{model}"
        self.window = window or (_OPENAI_WINDOW if model.startswith("text-embedding-") else _LOCAL_WINDOW)
        self._model = model
        self._client = openai.OpenAI(
            api_key=api_key or "none", base_url=base_url, timeout=timeout, max_retries=max_retries
        )

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector, found by asking the server for one."""
        return int(self._request(["dimensions"]).shape[1])

    def count_tokens(self, text: str) -> int:
        """An estimate on the safe side: the server's tokenizer is not known here."""
        return max(math.ceil(len(text) / 3.5), len(text.split()))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises ProviderError when the server is unreachable, refuses, or answers nonsense."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        parts = [self._request(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)]
        return np.concatenate(parts)

    def _request(self, texts: Sequence[str]) -> Vectors:
        try:
            # Plain numbers: some servers ignore the SDK's own choice of base64 and would be misread.
            answer = self._client.embeddings.create(
                model=self._model, input=list(texts), encoding_format="float"
            )
        except openai.OpenAIError as error:
            raise self._translate(error) from None
        except ValueError:
            raise self._nonsense("its answer is not JSON") from None
        rows = [item.embedding for item in sorted(answer.data or [], key=lambda item: item.index)]
        return self._unit_rows(rows, len(texts))

    def _unit_rows(self, rows: list[list[float]], expected: int) -> Vectors:
        if len(rows) != expected or len({len(row) for row in rows}) != 1 or not rows[0]:
            raise self._nonsense(f"{len(rows)} vectors came back for {expected} texts, or of unequal length")
        matrix = np.array(rows, dtype=np.float32)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(matrix).all() or not lengths.all():
            raise self._nonsense("a vector is zero or not finite")
        unit: Vectors = matrix / lengths
        return unit

    def _nonsense(self, what: str) -> ProviderError:
        return ProviderError(
            f"The embedding server at {self._client.base_url} gave no usable response: {what}.",
            f"Check that it serves {self._model!r} as an embedding model.",
        )

    def _translate(self, error: openai.OpenAIError) -> ProviderError:
        what, remedy = self._story(error)
        return ProviderError(f"The embedding server at {self._client.base_url} {what}.", remedy)

    def _story(self, error: openai.OpenAIError) -> tuple[str, str]:
        """What the server did, and the remedy; nothing of its own text, which may repeat the key."""
        stories: list[tuple[type[openai.OpenAIError], str, str]] = [
            (openai.APITimeoutError, "did not answer in time", "Try again, or check the server."),
            (openai.APIConnectionError, "cannot be reached", "Check the address and that it runs."),
            (openai.AuthenticationError, "refused the key", "Check the API key in the settings."),
            (openai.PermissionDeniedError, "refused the key", "Check the API key in the settings."),
            (openai.NotFoundError, f"knows no embedding model {self._model!r}", "Check model and address."),
            (openai.RateLimitError, "is rate-limiting", "Wait a little, then run the command again."),
        ]
        for kind, what, remedy in stories:
            if isinstance(error, kind):
                return what, remedy
        code = getattr(error, "status_code", None)
        what = f"answered with status {code}" if code else f"failed ({type(error).__name__})"
        return what, "Look at the server's log, then try again."
