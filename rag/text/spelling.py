"""Mends the commonest slips of the keyboard in the words of a question.

    >>> corrected("dificult"), corrected("misalinged"), corrected("verify")
    ('difficult', 'misaligned', 'verify')

Only longer words are mended, and only into words that the table of synonyms knows: a system's name never is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from rag.text.synonyms import vocabulary

_SHORTEST = 7
_CONTRACTED = re.compile(r"\b(what|who|where|when|how)['’]?s\b(?! and\b)", re.IGNORECASE)


def slips(words: Iterable[str]) -> dict[str, str]:
    """Return each slip (a letter left out, doubled, exchanged with the next) with the word that was meant."""
    meant: dict[str, str] = {}
    for word in words:
        if len(word) >= _SHORTEST and word.isalpha():
            for i in range(1, len(word)):
                meant.setdefault(word[:i] + word[i + 1 :], word)
                meant.setdefault(word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :], word)
                meant.setdefault(word[:i] + word[i] + word[i:], word)
    return meant


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    known = vocabulary()
    return {slip: word for slip, word in slips(known).items() if slip not in known}


def corrected(word: str) -> str:
    """Return the word that a lower-case ``word`` was meant to be, or itself."""
    return _table().get(word, word) if len(word) >= _SHORTEST - 1 else word


def written_out(question: str) -> str:
    """Return a question with "is" for the "s" of its question word.

    >>> written_out("whats DA-KD and who's behind it"), written_out("whose is it")
    ('what is DA-KD and who is behind it', 'whose is it')
    """
    return _CONTRACTED.sub(r"\1 is", question)
