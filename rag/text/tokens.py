"""Words of a text with their stems, and which of them say something.

>>> [t.stem for t in content("How does the verifier improve 3.1 models' time-to-first-token?")]
['verif', 'improv', '3.1', 'model', 'time', 'first', 'token']
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rag.text.normalise import plain, spell_greek
from rag.text.stem import stem
from rag.text.words import word_set


@dataclass(frozen=True, slots=True)
class Token:
    """A word in folded lower case, its stem, and where it stands in ``plain(text)``."""

    word: str
    stem: str
    start: int
    end: int


_WORD = re.compile(r"\d+(?:[.,]\d+)*[^\W_]*|[^\W_]+(?:'[^\W\d_]+)?")
# "don't" and its kind as ``tokens`` writes them.
CONTRACTED = word_set(
    "donot doesnot didnot isnot arenot wasnot werenot canot wonot wouldnot shouldnot couldnot hasnot havenot"
)
STOP = word_set(
    "a about above after again against all along also although am among an and any are as at away be because",
    "been before being below between both but by can could",
    "d did do does doing down due during each either etc",
    "even ever every few for from further get gets getting",
    "give gives had has have having he her here hers him",
    "his how however i if in instead into is it its",
    "itself just let ll made make makes many may me might more",
    "most much must my near nearly no nor not now of off often on once one only onto or other others our out",
    "over own per quite rather re s same shall she should",
    "since so some still such t than that the their them",
    "then there these they this those though through thus",
    "to too toward towards under until up upon us various",
    "very via was we well were what when where whether",
    "which while who whom whose why will with within without",
    "would yet you your e.g i.e eg ie et al",
).union(CONTRACTED)


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """Return every word of ``text``; compounds come apart at their hyphens, "3.1" and "405b" stay whole."""
    folded = plain(text)
    return tuple(_token(match) for match in _WORD.finditer(folded))


def _token(match: re.Match[str]) -> Token:
    word = match[0].lower()
    if "'" in word:
        word = word[:-3] + "not" if word.endswith("n't") else word.split("'")[0]
    word = spell_greek(word)
    return Token(word, stem(word), match.start(), match.end())


def content(text: str) -> list[Token]:
    """Return the words that are not mere grammar."""
    return [token for token in tokens(text) if token.word not in STOP]
