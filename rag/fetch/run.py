"""Fetches a request page by page into a file, going on where an earlier run stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rag.errors import UsageError
from rag.fetch.partial import State, open_partial
from rag.fetch.source import Source

# The services add papers once a day; asking the same again sooner is asking for nothing.
FRESH = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Report:
    """What a fetch did: ``kept`` records were there from an earlier run, all of them if ``fetched`` is 0."""

    file: str
    records: int
    fetched: int
    kept: int
    missing: tuple[str, ...] = ()


def fetch(
    source: Source,
    out: Path,
    *,
    again: bool = False,
    progress: Callable[[int, int], None] | None = None,
    now: Callable[[], float] = time.time,
) -> Report:
    """Write what ``source`` has into ``out``.

    Args:
        again: ask even if the same was fetched within a day, and replace what another request wrote there.
        progress: told (done, total) records; total is 0 while unknown.

    Raises:
        ProviderError: the service failed; what it gave is kept for the next run.
        UsageError: it has nothing, or ``out`` holds something else.
        EnvironmentFault: ``out`` cannot be written.
    """
    with open_partial(out, source.request, source.identifier) as partial:
        known = partial.finished()
        if known is not None and known.done is not None and not again and now() - known.done < FRESH:
            return _report(out, known, kept=known.records)
        kept = partial.begin(replacing=again)
        while not partial.state.ended:
            if progress:
                progress(partial.state.records, partial.state.total or 0)
            partial.add(source.page(partial.state.next))
        if not partial.state.records:
            partial.discard()
            raise UsageError(*source.nothing())
        partial.finish(now())
        return _report(out, partial.state, kept)


def _report(out: Path, state: State, kept: int) -> Report:
    return Report(str(out), state.records, state.records - kept, kept, state.missing)
