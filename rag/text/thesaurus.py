"""What a word may mean in the field, in everyday words and in those of its papers.

    >>> bool(meanings("pictur") & meanings("imag")), bool(meanings("pictur") & meanings("reward"))
    (True, False)

Wider than ``synonyms``, whose words can stand for one another in a claim: a doctor is no radiologist. Good
for putting papers in order, where the nearest wins; not for checking what is said of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from rag.text.stem import stem
from rag.text.words import listed

FILE = Path(__file__).parents[1] / "data" / "thesaurus.txt"
_NONE: frozenset[int] = frozenset()


@lru_cache(maxsize=1)
def _table() -> Mapping[str, frozenset[int]]:
    table: dict[str, set[int]] = defaultdict(set)
    for number, line in enumerate(listed(FILE)):
        for word in line.split():
            table[stem(word)].add(number)
    return {word: frozenset(numbers) for word, numbers in table.items()}


def meanings(stemmed: str) -> frozenset[int]:
    """Return the lines of the thesaurus that have a word of this stem."""
    return _table().get(stemmed, _NONE)
