"""Counts what an answer's requests to a model use and cost, and stops before more is spent than allowed.

    meter = Meter(model, price=(0.15, 0.60), max_cost=0.01)     # USD per million tokens: prompt, completion
    ... meter.stream(request) ...                               # a ChatModel like the one inside
    meter.usage                                                 # Usage(1200, 80, 0.000228)

An estimate of each request (its prompt, and all of ``max_tokens``) is held against what is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from rag.errors import UsageError
from rag.ports import ChatModel, ChatRequest, Delta
from rag.records import Usage
from rag.text.size import tokens_in

Price = tuple[float, float]
_FRAME = 8  # tokens that a chat template puts around a message


class Meter:
    """Implements ``ports.ChatModel`` around another; ``usage`` and ``cached`` tell what happened so far."""

    def __init__(self, model: ChatModel, price: Price | None = None, max_cost: float | None = None) -> None:
        if max_cost is not None and price is None:
            raise UsageError(
                f"The price of {model.name!r} is unknown, so --max-cost cannot be kept.",
                f'Add "{model.name}" = [prompt, completion] to [prices] in rag.toml (USD per million).',
            )
        self._model, self._price, self._max_cost = model, price, max_cost
        self._prompt = self._completion = 0
        self._spent, self._unknown = 0.0, price is None
        self.requests = self.from_cache = 0

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def context_window(self) -> int:
        return self._model.context_window

    @property
    def usage(self) -> Usage:
        """Sum over all requests; the cost is None where a price is unknown and anything was paid."""
        known = not self._unknown or self.cached
        return Usage(self._prompt, self._completion, self._spent if known else None)

    @property
    def cached(self) -> bool:
        """Whether every reply so far came from the response cache."""
        return self.requests > 0 and self.from_cache == self.requests

    def stream(self, request: ChatRequest) -> Iterator[Delta]:
        """Pass the request on.

        Raises:
            UsageError: it could cost more than is left of ``max_cost``.
        """
        self._check(request)
        self.requests += 1
        for delta in self._model.stream(request):
            if delta.usage:
                self._add(delta.usage)
                self.from_cache += delta.cached
            yield delta

    def _check(self, request: ChatRequest) -> None:
        if self._max_cost is None:
            return
        most = cost(expected(request), self._price) or 0.0
        if self._spent + most > self._max_cost:
            raise UsageError(
                f"This could cost ${self._spent + most:.4f}, more than --max-cost {self._max_cost:g}.",
                "Raise it, or lower --top or max_tokens.",
            )

    def _add(self, used: Usage) -> None:
        spent = used.cost_usd if used.cost_usd is not None else cost(used, self._price)
        self._unknown = self._unknown or spent is None
        self._spent += spent or 0.0
        self._prompt += used.prompt_tokens
        self._completion += used.completion_tokens


def expected(request: ChatRequest) -> Usage:
    """Tokens that ``request`` will use at most, estimated."""
    prompt = sum(tokens_in(message.content) + _FRAME for message in request.messages)
    return Usage(prompt, request.max_tokens)


def cost(usage: Usage, price: Price | None) -> float | None:
    """USD for ``usage``; None when the price is unknown."""
    if price is None:
        return None
    return (usage.prompt_tokens * price[0] + usage.completion_tokens * price[1]) / 1e6
