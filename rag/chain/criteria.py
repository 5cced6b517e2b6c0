"""Tests that a paper's record passes or not: its year, venue, authors, or the words it says.

    by_author("Jose Nunez", "last").words            # 'have Jose Nunez as last author'
    saying(["model editing"]).test(paper)            # in the title or in one sentence of the abstract

The same words that describe a criterion in an answer tell the reader how the count came about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rag.records import Paper
from rag.text.normalise import plain
from rag.text.phrases import Phrase
from rag.text.sentences import Span, split
from rag.text.venues import same

Place = Literal["", "first", "last"]


@dataclass(frozen=True, slots=True)
class Criterion:
    """A test of a paper, what it is called in an answer, and (for words) the sentence that passes it."""

    words: str
    test: Callable[[Paper], bool]
    shows: Callable[[Paper], Span | None] | None = None


def of_years(how: str, first: int, last: int | None) -> Criterion:
    """Papers of a year or of a range of years, both ends included."""
    low, high, words = {
        "since": (first, 9999, f"{first} or later"),
        "after": (first + 1, 9999, f"after {first}"),
        "before": (0, first - 1, f"before {first}"),
        "until": (0, first, f"{first} or earlier"),
    }.get(how, (first, last or first, f"{first} to {last}" if last else str(first)))
    return Criterion(
        f"are from {words}", lambda paper: low <= (-1 if paper.year is None else paper.year) <= high
    )


def of_venue(venue: str) -> Criterion:
    """Papers of a venue, whatever its case, written out or by its acronym."""
    return Criterion(f"are from {venue}", lambda paper: same(venue, paper.venue or ""))


def by_author(name: str, place: Place = "") -> Criterion:
    """Papers that have an author with all words of ``name``, accents and case aside; first or last."""
    wanted = _name_words(name)
    kept = {"": slice(None), "first": slice(0, 1), "last": slice(-1, None)}[place]
    words = f"have {name} as {place} author" if place else f"are by {name}"
    return Criterion(words, lambda paper: any(wanted <= _name_words(a) for a in paper.authors[kept]))


def with_authors(how: str, number: int) -> Criterion:
    """Papers with so many authors; ``how`` is "exactly", "at least" or "at most"."""
    low, high = {"at least": (number, 10**6), "at most": (1, number)}.get(how, (number, number))
    words = f"have {how} {number} author{'s' * (number != 1)}"
    return Criterion(words, lambda paper: low <= len(paper.authors) <= high)


def _name_words(name: str) -> set[str]:
    return set(re.findall(r"\w+", plain(name).casefold()))


def saying(phrases: Sequence[str], exact: bool = False) -> Criterion:
    """Papers whose title or abstract has the words of one of ``phrases`` in a row.

    Inflected unless ``exact``.
    """
    wanted = [Phrase(phrase, exact) for phrase in phrases]

    def shows(paper: Paper) -> Span | None:
        spans = split(paper.abstract)
        return next((span for each in wanted for span in spans if each.is_in(span.text)), None)

    def test(paper: Paper) -> bool:
        return any(each.is_in(paper.title or "") for each in wanted) or shows(paper) is not None

    return Criterion(f"mention {_listed(phrases)}", test, shows)


def titled(phrases: Sequence[str], exact: bool = False) -> Criterion:
    """Papers whose title has the words of one of ``phrases`` in a row, inflected unless ``exact``."""
    wanted = [Phrase(phrase, exact) for phrase in phrases]
    return Criterion(
        f"have {_listed(phrases)} in the title",
        lambda paper: any(each.is_in(paper.title or "") for each in wanted),
    )


def _listed(phrases: Sequence[str]) -> str:
    return " or ".join(f"“{phrase}”" for phrase in phrases)


def enumerated(parts: Sequence[str]) -> str:
    """Return parts as a sentence lists them: "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
