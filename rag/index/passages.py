"""Cuts a paper into what is embedded: the whole abstract, or sentence windows when it is too long.

An embedder drops silently what exceeds its window. An abstract that fits with its title in front is one
passage; a longer one becomes windows of whole sentences that overlap by a sentence, each embedded with the
title in front. The last window reaches back as far as fits, since a short remainder would be embedded
without its context.

    window = 9 words, title of 2 words; sentences of 3, 3, 3, 2 words
    ->  [s1 s2], [s2 s3], [s3 s4]
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rag.records import Paper, Passage
from rag.text.sentences import split as split_sentences

VERSION = 1
_OVERLAP = 1
_WORD = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A passage with the text that is embedded for it and that text's hash (hex SHA-256)."""

    passage: Passage
    embedded: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class Splitter:
    """Cuts abstracts for one embedder: ``count_tokens`` and ``window`` are the embedder's."""

    count_tokens: Callable[[str], int]
    window: int

    def settings(self) -> dict[str, int]:
        """What the cuts depend on besides the text; stored in the manifest."""
        return {"version": VERSION, "window": self.window, "overlap_sentences": _OVERLAP}

    def prepare(self, paper: Paper) -> list[Prepared]:
        """Return the passages of ``paper``; their ids change with any text or metadata stored beside them."""
        title = self._usable_title(paper)
        spans = self._spans(title, paper.abstract)
        return [_prepared(paper, title, start, end) for start, end in spans]

    def _usable_title(self, paper: Paper) -> str:
        """The title, unless it would leave the abstract less than half of the window."""
        title = (paper.title or "").strip()
        return title if title and self.count_tokens(title) <= self.window // 2 else ""

    def _spans(self, title: str, text: str) -> list[tuple[int, int]]:
        body = text.strip()
        start = text.find(body)
        if self._fits(title, body):
            return [(start, start + len(body))]
        return self._windows(title, text, list(self._units(title, text)))

    def _windows(self, title: str, text: str, units: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Runs of ``units`` (offsets), each as long as fits, until the last unit is covered."""
        runs: list[tuple[int, int]] = []
        first = 0
        while True:
            last = first
            while last + 1 < len(units) and self._fits(title, text[units[first][0] : units[last + 1][1]]):
                last += 1
            if last + 1 == len(units):
                break
            runs.append((first, last))
            first = max(first + 1, last + 1 - _OVERLAP)
        while first > 0 and self._fits(title, text[units[first - 1][0] : units[last][1]]):
            first -= 1
        # Reaching back may have swallowed windows whole.
        runs = [run for run in runs if run[0] < first]
        return [(units[a][0], units[b][1]) for a, b in [*runs, (first, last)]]

    def _units(self, title: str, text: str) -> Iterable[tuple[int, int]]:
        """Sentences; one that is too long by itself is cut between words."""
        for span in split_sentences(text):
            if self._fits(title, span.text):
                yield span.start, span.end
            else:
                yield from self._pieces(title, text, span.start, span.end)

    def _pieces(self, title: str, text: str, start: int, end: int) -> Iterable[tuple[int, int]]:
        words = [(start + m.start(), start + m.end()) for m in _WORD.finditer(text[start:end])]
        while words:
            low, high = 1, len(words)
            while low < high:
                middle = (low + high + 1) // 2
                fits = self._fits(title, text[words[0][0] : words[middle - 1][1]].rstrip())
                low, high = (middle, high) if fits else (low, middle - 1)
            piece = text[words[0][0] : words[low - 1][1]].rstrip()
            yield words[0][0], words[0][0] + len(piece)
            words = words[low:]

    def _fits(self, title: str, text: str) -> bool:
        return self.count_tokens(joined(title, text)) <= self.window


def joined(title: str, text: str) -> str:
    """Title and text as one text: ``Title. Text``, without a second mark after "...?"."""
    if not title or not text:
        return title or text
    return f"{title} {text}" if title[-1] in ".?!" else f"{title}. {text}"


def _prepared(paper: Paper, title: str, start: int, end: int) -> Prepared:
    text = paper.abstract[start:end]
    embedded = joined(title, text)
    identity = json.dumps(
        [paper.key, start, end, embedded, paper.title, paper.authors, paper.venue, paper.year, paper.url]
    )
    passage = Passage(hashlib.sha256(identity.encode()).hexdigest()[:32], paper.key, text, start, end)
    return Prepared(passage, embedded, hashlib.sha256(embedded.encode()).hexdigest())
