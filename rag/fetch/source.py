"""What the services have in common: records that come page by page, each page naming the next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rag.errors import ProviderError
from rag.ports import Reply

Record = Mapping[str, object]
SHOWN = 200


@dataclass(frozen=True, slots=True)
class Page:
    """Some records.

    Args:
        records: as they are written.
        next: what the next page is asked for with; None after the last one.
        total: how many there will be, None while nobody knows.
        missing: what was asked for by name and is not there.
    """

    records: tuple[Record, ...]
    next: str | None
    total: int | None = None
    missing: tuple[str, ...] = ()


class Source(Protocol):
    """A request to a service; ``request`` holds all that makes two of them the same."""

    @property
    def who(self) -> str: ...

    @property
    def request(self) -> Mapping[str, object]: ...

    def page(self, cursor: str | None) -> Page:
        """Return the page that ``cursor`` names, the first one for None.

        Raises:
            ProviderError: the service failed or refused.
            UsageError: it does not know what was asked for.
        """
        ...

    def identifier(self, record: Record) -> str:
        """Return what a record is known by; one that comes twice is written once."""
        ...

    def nothing(self) -> tuple[str, str]:
        """Say in an error and its remedy that there is no record."""
        ...


def parsed(who: str, reply: Reply) -> object:
    """Return the JSON of a good reply.

    Raises:
        ProviderError: a refusal, or no JSON.
    """
    if reply.status != 200:
        raise refusal(who, reply)
    try:
        return json.loads(reply.body)
    except ValueError:
        raise ProviderError(
            f"{who} did not answer with JSON: {excerpt(reply.body)!r}.",
            "Check the address in the settings, or try again later.",
        ) from None


def refusal(who: str, reply: Reply, remedy: str = "") -> ProviderError:
    """Make the error for a reply that is no answer, in the words of the service."""
    return ProviderError(f"{who} refused (HTTP {reply.status}): {message(reply.body)}.", remedy)


def message(body: bytes) -> str:
    """Find what a refusal says: the value of ``message`` or ``error``, else its beginning."""
    try:
        value = json.loads(body)
    except ValueError:
        return excerpt(body) or "no reason given"
    for name in ("message", "error"):
        if isinstance(value, Mapping) and isinstance(value.get(name), str):
            return excerpt(value[name].encode()).rstrip(".")
    return excerpt(body)


def excerpt(body: bytes) -> str:
    """Return the beginning of a reply on one line."""
    text = " ".join(body[: 4 * SHOWN].decode("utf-8", "replace").split())
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
