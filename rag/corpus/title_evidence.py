"""How strongly an abstract speaks for a title: a log likelihood ratio, word by word.

A title's word is in its own abstract three times in four, in a strange one as often as the word is common.
So a rare shared word speaks for the title, a missing word against it, a word of every abstract for nothing.
The same goes for words side by side and for the name that a paper gives its system. The logarithm of the
number of titles is taken off: among thousands one must fit very well to be more than chance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from rag.corpus import keys, systems
from rag.text.stem import stem
from rag.text.words import word_set

PRESENT = 0.75  # of a title's content words stand in its own abstract
_LENGTH = 10  # an abstract has about ten times as many different words as a title
_BURST = ((4, 1.0), (2, 0.5), (1, -0.45))  # said again and again: the paper is about it
_NAME, _INTRODUCED, _SPELLED, _STRANGE = 6.0, 4.0, 2.5, -2.5
_CANDIDATES = 400
_FUNCTION_WORDS = word_set(
    "a an the on of in to for with without and or from by at as is are be do does can how what why",
    "when where they towards toward via into its their your our we it this that these those not no",
    "than more between under were now over about was been being has have had you my me he she his her",
    "them then there if so but such also may might could should would will shall must did doing any",
    "all some each other only same own too very just here out up down off again further once because",
    "while during before after above below through both few most who whom whose which am us get go",
    "per vs using",
)
# Words of every abstract but of few titles, whose rarity among titles would mislead.
_ABSTRACT_SPEAK = frozenset(
    stem(word)
    for word in word_set(
        "study studies propose method approach framework novel result show demonstrate effective",
        "efficient improve improvement performance analysis analyze evaluate evaluation investigate",
        "explore problem task challenge raise question address present introduce provide achieve",
        "outperform state art experiment experimental empirical theoretical data dataset system use",
        "based new paper work important large small high low many first two one different various",
        "general generate learn train test design develop development application apply require",
        "complex simple robust significant insight understand value process better best existing",
        "recent limit limited key potential capability number level across predict scale effectively",
        "efficiently empirically theoretically",
    )
)
_TELLING = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}|\d")


@dataclass(frozen=True, slots=True)
class _Title:
    words: tuple[str, ...]  # stems, each once
    pairs: tuple[tuple[str, str], ...]
    plain: tuple[str, ...]  # every word, lower case, in order
    names: frozenset[str]
    label: str | None  # "ReVISE" of "ReVISE: Learning to Refine"


class Evidence:
    """Scores abstracts against a fixed list of titles."""

    def __init__(self, titles: Sequence[str]) -> None:
        self._titles = [_read(title) for title in titles]
        self._counts = Counter(word for title in self._titles for word in title.words)
        self._pairs = Counter(pair for title in self._titles for pair in title.pairs)
        self._postings: dict[str, list[int]] = {}
        for at, title in enumerate(self._titles):
            for word in title.words:
                self._postings.setdefault(word, []).append(at)

    def best(self, abstract: str, others: Counter[str], among: int) -> list[tuple[float, int]]:
        """Return (log likelihood ratio less log of the number of titles, index), best first.

        Args:
            abstract: the cleaned abstract.
            others: in how many abstracts of the pile (this one included) each stem stands.
            among: the number of those abstracts.
        """
        stems = stems_of(abstract)
        said = _Said(
            Counter(stems),
            frozenset(pairwise(stems)),
            _names(abstract),
            tuple(systems.candidates(abstract)[:2]),
            "".join(word[0] for word in stems),
        )
        prior = log(len(self._titles) or 1)
        scores = []
        for at in self._candidates(said):
            title = self._titles[at]
            points = (
                self._by_words(title, said, others, among)
                + self._by_pairs(title, said)
                + _by_name(title, said)
            )
            scores.append((points - prior, at))
        return sorted(scores, reverse=True)

    def _candidates(self, said: _Said) -> list[int]:
        """Titles that share the rarest words; a word of one title in twenty does not call it up by itself."""
        total, weights = len(self._titles), Counter[int]()
        for word in said.counts:
            found = self._postings.get(word, ())
            if len(found) <= max(200, total // 20):
                for at in found:
                    weights[at] += round(100 * log((total + 1) / len(found)))
        return [at for at, _ in weights.most_common(_CANDIDATES)]

    def _by_words(self, title: _Title, said: _Said, others: Counter[str], among: int) -> float:
        points = 0.0
        for word in title.words:
            count = said.counts.get(word, 0)
            strange = max(self._commonness(word), (others[word] - (count > 0)) / (among + 10))
            if count:
                points += max(0.0, log(PRESENT / strange))
                points += next(bonus for least, bonus in _BURST if count >= least)
            else:
                points += log((1 - PRESENT) / (1 - min(strange, 0.9 * PRESENT)))
        return points

    def _commonness(self, word: str) -> float:
        """The share of strange abstracts that have ``word``, judged from how many other titles have it."""
        total = len(self._titles)
        in_titles = 1 - (1 - max(self._counts[word] - 1, 0.3) / total) ** _LENGTH if total > 1 else 0.5
        return min(0.95, max(in_titles, 2 / (total + 2), 0.3 if word in _ABSTRACT_SPEAK else 0.0))

    def _by_pairs(self, title: _Title, said: _Said) -> float:
        points = 0.0
        for pair in title.pairs:
            if said.counts.get(pair[0]) and said.counts.get(pair[1]):
                rarer = min(self._counts[pair[0]], self._counts[pair[1]])
                strange = min(0.9, (self._pairs[pair] - 0.6) / (rarer + 3))
                points += max(0.0, log(0.5 / strange)) if pair in said.pairs else log(0.5 / (1 - strange))
        return points


@dataclass(frozen=True, slots=True)
class _Said:
    counts: Counter[str]
    pairs: frozenset[tuple[str, str]]
    names: frozenset[str]
    introduced: tuple[str, ...]
    initials: str


def stems_of(text: str) -> list[str]:
    """Return the stems of the content words of ``text`` in order."""
    folded = (keys.ascii_fold(word) for word in re.findall(r"[^\W_]+", text))
    return [stem(word) for word in folded if len(word) > 1 and word not in _FUNCTION_WORDS]


def _read(title: str) -> _Title:
    stems = stems_of(title)
    label = re.match(r"([^\s:]{2,30})\s?:\s", title)
    return _Title(
        tuple(dict.fromkeys(stems)),
        tuple(dict.fromkeys(pairwise(stems))),
        tuple(keys.ascii_fold(word) for word in re.findall(r"[^\W_]+", title)),
        _names(title),
        label[1] if label and _TELLING.search(label[1]) else None,
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(map(keys.ascii_fold, re.findall(r"[^\s,;:()\"“”'?!.]+", text))) - {""}


def _by_name(title: _Title, said: _Said) -> float:
    label = keys.ascii_fold(title.label or "")
    if label and label in said.names:
        return _NAME
    points = 0.0
    if label:
        points += _SPELLED if _spelled(title.label or "", said.initials) else _STRANGE
    folded = {keys.ascii_fold(name) for name in said.introduced}
    if folded & title.names or any(_abbreviates(name, title.plain) for name in said.introduced):
        points += _INTRODUCED
    return points


def _spelled(label: str, initials: str) -> bool:
    """Whether the label's letters begin nearby words: RLEF, "reinforcement learning ... feedback"."""
    letters = re.sub(r"[^a-z]", "", label.lower())
    if not 3 <= len(letters) <= 8:
        return False
    gap = rf".{{0,{len(letters)}}}?"
    return any(
        len(match[1]) <= 2 * len(letters) for match in re.finditer(f"(?=({gap.join(letters)}))", initials)
    )


def _abbreviates(name: str, title: Iterable[str]) -> bool:
    """Whether the parts of ``name`` begin words of the title in a row: SpecPrefill, "Speculative Prefill"."""
    parts = [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
    if len(parts) < 2 or any(len(part) < 3 for part in parts):
        return False
    words = list(title)
    return any(
        all(word.startswith(part) for part, word in zip(parts, words[start:], strict=False))
        for start in range(len(words) - len(parts) + 1)
    )
