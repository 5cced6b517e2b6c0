"""Reads what a question about the pile asks for: which papers, by year, venue, author or words.

    >>> [c.words for c in read("How many ICML papers from 2025 mention model editing?", venues={"ICML"})]
    ['are from ICML', 'are from 2025', 'mention “model editing”']
    >>> read("Which papers improve model editing?", venues={"ICML"}) is None
    True

A question is read only if every word of it is understood; anything else is a question for the papers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from dataclasses import dataclass

from rag.records import Paper
from rag.text.normalise import plain
from rag.text.sentences import Span, split
from rag.text.tokens import STOP, tokens

_PAPERS = r"(?:papers?|articles?|abstracts?|publications?)"
_HEAD = re.compile(
    r"(?:please )?(?:how many|which|what|(?:can you )?(?:list|show|give|name|find|count)(?: me)?)(?: of)?"
    r"(?: all| every| the| your| my| our)*(?P<venue> [\w&.-]+)??(?P<year> \d{4})? " + _PAPERS + r"\b",
    re.I,
)
_EVERYTHING = re.compile(
    r"(?:please )?(?:list|show|give|find)(?: me)? (?:everything|all)\b(?: that)?"
    r"(?: there is| you have| we have)?",
    re.I,
)
_PLACE = re.compile(
    r"(?:(?:that )?(?:are there|is there|there are|(?:do )?(?:you|we|i) have|have (?:you|we)(?: got)?|"
    r"(?:are |is )?(?:in|of) (?:the|my|our|this|your) (?:pile|index|library|corpus|collection|database)))\b",
    re.I,
)
_LINK = r"(?:(?:that |which )?(?:are|were|is|was|have been|came|appeared) )?(?:all )?"
_YEAR = re.compile(
    _LINK + r"(?:published |dated |written |out )?(?:(?P<how>from|in|of|since|after|before|until|between) )"
    r"(?:the year )?(?P<first>\d{4})(?:(?: and | to |\s?[-–]\s?)(?P<last>\d{4}))?\b",
    re.I,
)
_AUTHOR = re.compile(
    r"(?i:" + _LINK + r"(?:co-?)?(?:written |authored |published )?by) "
    r"(?P<name>[^\W\d_a-z][\w.'’-]*"
    r"(?: (?:(?:de|der|den|van|von|da|di|la|le|el|bin) )*[^\W\d_a-z][\w.'’-]*){0,4})"
)
_VENUE = re.compile(
    _LINK + r"(?:published |presented |accepted )?(?:at|in|from) (?:the )?(?P<venue>[\w&. -]+)", re.I
)
_MENTION = re.compile(
    r"(?:that |which )?(?:mention(?:s|ing)?|contain(?:s|ing)?|refer(?:s|ring)? to|with the words?)"
    r" (?P<phrase>.+)",
    re.I,
)
_ABOUT = re.compile(_LINK + r"(?:on|about) (?:the (?:topic|subject) of )?(?P<phrase>.+)", re.I)
_NOT_A_PHRASE = re.compile(
    r"\b(?:how|why|what|which|that|who|whether|when|if|is|are|was|were|do|does|did|can|not|but|than|it|they"
    r"|you)\b",
    re.I,
)
_LONGEST_PHRASE = 5


@dataclass(frozen=True, slots=True)
class Criterion:
    """A test of a paper, what it is called in an answer, and (for words) the sentence that passes it."""

    words: str
    test: Callable[[Paper], bool]
    shows: Callable[[Paper], Span | None] | None = None


def read(question: str, venues: Set[str]) -> list[Criterion] | None:
    """Return what is asked of the papers (nothing, for "what papers do you have?"); None if it is not that.

    Args:
        venues: those of the pile; no other word is taken for one.
    """
    text = " ".join(plain(question).rstrip(" ?.!").split())
    head = _HEAD.match(text) or _EVERYTHING.match(text)
    if not head:
        return None
    found = _of_head(head, venues)
    rest = text[head.end() :].strip(" ,")
    while found is not None and rest:
        step = _next(rest, venues)
        if step is None:
            return None
        criterion, rest = step
        found += [criterion] if criterion else []
    return found


def _of_head(head: re.Match[str], venues: Set[str]) -> list[Criterion] | None:
    named = head.groupdict()
    found = []
    if named.get("venue"):
        venue = _known(named["venue"], venues)
        if venue is None:
            return None
        found.append(of_venue(venue))
    if named.get("year"):
        found.append(of_years("from", int(named["year"]), None))
    return found


def _next(rest: str, venues: Set[str]) -> tuple[Criterion | None, str] | None:
    """The criterion at the beginning of ``rest`` (None for "in the pile") and what follows it."""
    rest = re.sub(r"^(?:and|or have|,) ", "", rest)
    for pattern, make in (
        (_PLACE, lambda _: None),
        (_YEAR, lambda m: of_years(m["how"].lower(), int(m["first"]), int(m["last"]) if m["last"] else None)),
        (_AUTHOR, lambda m: by_author(m["name"])),
    ):
        if match := pattern.match(rest):
            return make(match), rest[match.end() :].strip(" ,")
    return _venue_at(rest, venues) or _phrase_at(rest)


def _venue_at(rest: str, venues: Set[str]) -> tuple[Criterion, str] | None:
    match = _VENUE.match(rest)
    words = match["venue"].split() if match else []
    for size in range(len(words), 0, -1):
        venue = _known(" ".join(words[:size]), venues)
        if match and venue:
            left = rest[match.end() :]
            later = " ".join(words[size:])
            if re.match(r"\d{4}\b", later):  # "at ICML 2025"
                later = f"in {later}"
            return of_venue(venue), f"{later}{left}".strip(" ,")
    return None


def _phrase_at(rest: str) -> tuple[Criterion, str] | None:
    for pattern in (_MENTION, _ABOUT):
        match = pattern.match(rest)
        if match:
            phrase = re.sub(rf"\s+{_PLACE.pattern}$", "", match["phrase"], flags=re.I).strip("\"' ")
            if phrase and len(phrase.split()) <= _LONGEST_PHRASE and not _NOT_A_PHRASE.search(phrase):
                return saying(phrase), ""
    return None


def _known(word: str, venues: Set[str]) -> str | None:
    return next((venue for venue in venues if venue.casefold() == word.strip().casefold()), None)


def of_years(how: str, first: int, last: int | None) -> Criterion:
    """Papers of a year or of a range of years, both ends included."""
    low, high, words = {
        "since": (first, 9999, f"{first} or later"),
        "after": (first + 1, 9999, f"after {first}"),
        "before": (0, first - 1, f"before {first}"),
        "until": (0, first, f"{first} or earlier"),
    }.get(how, (first, last or first, f"{first} to {last}" if last else str(first)))
    return Criterion(f"are from {words}", lambda paper: paper.year is not None and low <= paper.year <= high)


def of_venue(venue: str) -> Criterion:
    """Papers of a venue, whatever its case."""
    return Criterion(f"are from {venue}", lambda paper: (paper.venue or "").casefold() == venue.casefold())


def by_author(name: str) -> Criterion:
    """Papers that have an author with all words of ``name``, accents and case aside."""
    wanted = _name_words(name)
    return Criterion(f"are by {name}", lambda paper: any(wanted <= _name_words(a) for a in paper.authors))


def _name_words(name: str) -> set[str]:
    return set(re.findall(r"\w+", plain(name).casefold()))


def saying(phrase: str) -> Criterion:
    """Papers whose title or abstract has the words of ``phrase`` in a row, inflected or not."""
    wanted = _stems(phrase)

    def shows(paper: Paper) -> Span | None:
        return next((span for span in split(paper.abstract) if _has(_stems(span.text), wanted)), None)

    def test(paper: Paper) -> bool:
        return _has(_stems(paper.title or ""), wanted) or shows(paper) is not None

    return Criterion(f"mention “{phrase}”", test, shows)


def _stems(text: str) -> list[str]:
    return [token.stem for token in tokens(text) if token.word not in STOP]


def _has(stems: list[str], wanted: list[str]) -> bool:
    size = len(wanted)
    return size > 0 and any(stems[i : i + size] == wanted for i in range(len(stems) - size + 1))
