"""Whether a text has a phrase: its words in a row, in any inflection, as an exact count of papers needs it.

    >>> Phrase("model editing").is_in("Editing a model is hard; we edited models.")
    False
    >>> Phrase("edited model").is_in("Here we are editing models.")
    True
    >>> Phrase("organ").is_in("The organization of the paper"), Phrase("T cells").is_in("Stem cells divide.")
    (False, False)

Stems are too coarse for counting: they make one word of "general" and "generation".
"""

from __future__ import annotations

import re
from functools import lru_cache

from rag.text.normalise import plain
from rag.text.tokens import STOP, Token, tokens
from rag.text.words import singular

_SIGNS = re.compile(r"[+#&]|(?<!\S)\.(?=\w)")  # of "C++", "C#", "R&D", ".NET", which no word has


class Phrase:
    """A phrase as it was typed; ``exact`` allows no inflection."""

    def __init__(self, text: str, exact: bool = False) -> None:
        self._text = plain(text)
        words = tokens(self._text)
        # "T cells" and "the US" mean what they say, though "t" and "us" are mere grammar elsewhere.
        self._all = any(token.word in STOP and _is_meant(token, self._text) for token in words)
        kept = [token for token in words if self._all or token.word not in STOP]
        self._wanted = [frozenset([token.word]) if exact else inflections(token.word) for token in kept]
        self._capitals = {
            n: self._text[token.start : token.end]
            for n, token in enumerate(kept)
            if token.word in STOP and _is_meant(token, self._text)
        }
        self._signs = bool(_SIGNS.search(self._text))

    def __bool__(self) -> bool:
        """Whether it has anything to look for."""
        return self._signs or bool(self._wanted)

    def is_in(self, text: str) -> bool:
        if self._signs:
            return bool(
                re.search(rf"(?<![\w+#]){re.escape(self._text)}(?![\w+#])", plain(text), re.IGNORECASE)
            )
        found = [token for token in tokens(text) if self._all or token.word not in STOP]
        size = len(self._wanted)
        return size > 0 and any(self._is_at(found[i : i + size], text) for i in range(len(found) - size + 1))

    def _is_at(self, run: list[Token], text: str) -> bool:
        if not all(token.word in forms for token, forms in zip(run, self._wanted, strict=True)):
            return False
        return not self._capitals or all(
            plain(text)[run[n].start : run[n].end] == written for n, written in self._capitals.items()
        )


def _is_meant(token: Token, text: str) -> bool:
    """Whether a word of mere grammar is typed as a name: "T", "US", but not the "I" and "A" of a sentence."""
    written = text[token.start : token.end]
    shouted = text.isupper() and " " in text
    return written.isupper() and written not in ("I", "A") and not shouted


@lru_cache(maxsize=1024)
def inflections(word: str) -> frozenset[str]:
    """Return the forms that a noun or verb may have, and some that none has: edit, edits, edited, editing."""
    return frozenset(form for base in _bases(word) for form in _forms(base))


def _bases(word: str) -> set[str]:
    found = {word, singular(word)}
    for ending, least in (("ing", 6), ("ed", 5)):
        if word.endswith(ending) and len(word) >= least:
            cut = word[: -len(ending)]
            found |= {cut, cut + "e"}
            if cut[-1] == cut[-2:-1]:
                found.add(cut[:-1])
    return found


def _forms(base: str) -> set[str]:
    if not base.isalpha() or len(base) < 3:
        return {base, base + "s"}
    found = {base, base + "s", base + "es", base + "ed", base + "ing"}
    if base.endswith("e"):
        found |= {base + "d", base[:-1] + "ing"}
    if base.endswith("y"):
        found |= {base[:-1] + "ies", base[:-1] + "ied"}
    return found | {base + base[-1] + "ed", base + base[-1] + "ing"}
