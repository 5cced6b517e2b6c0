"""Where ids stand in a sorted, memory-mapped list of them."""

from __future__ import annotations

from typing import Any

import numpy as np


class SortedIds:
    """Finds sets of ids in ``ids``, bytes in order; the last set is remembered, since a filter stays."""

    def __init__(self, ids: Any) -> None:
        self._ids = ids
        self._last: tuple[frozenset[str], Any] | None = None

    def places(self, wanted: frozenset[str]) -> Any:
        """Return the positions of those of ``wanted`` that are there, in order."""
        if self._last is None or self._last[0] is not wanted:
            self._last = (wanted, self._found(wanted))
        return self._last[1]

    def _found(self, wanted: frozenset[str]) -> Any:
        asked = np.array(sorted(each.encode() for each in wanted) or [b""], dtype=np.bytes_)
        at = np.minimum(np.searchsorted(self._ids, asked), len(self._ids) - 1)
        return at[self._ids[at] == asked]
