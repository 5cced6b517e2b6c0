"""How much of a sentence a piece of evidence carries, and what speaks against it.

    >>> paper = Paper("p", "We propose X1. It cuts memory use by 60%.", Source("f", 1))
    >>> text = Reading(paper)
    >>> weigh("X1 reduces memory usage by 60 percent.", [text]).support > 0.7
    True
    >>> weigh("X1 reduces memory usage by 66 percent.", [text]).problems
    ('66 percent is not in the cited text',)

``support`` is the weighted share of the claim's words that the evidence has, as written, as a synonym or as an
acronym; the sentence that the claim rests on counts fully, the rest of the abstract for half. Numbers and names
count double, words of every abstract half. With a similarity function, the cosine of claim and evidence sentence is
mixed in, so that a paraphrase in other words is recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rag.records import Paper
from rag.text import direction, names, numbers
from rag.text.normalise import plain
from rag.text.quotes import Haystack
from rag.text.sentences import Span, split
from rag.text.synonyms import concept_of_stem
from rag.text.tokens import STOP, Token, content, tokens
from rag.text.words import word_set

Similarity = Callable[[str, str], float]

# Words of any abstract: that evidence has them says little.
COMMON = word_set(
    "paper work study approach method framework technique model models propose proposed proposes present presents",
    "introduce introduces show shows demonstrate demonstrates find finds result results performance experiment",
    "experiments experimental based using use used new novel different various several existing previous prior",
    "significantly significant effective effectively across state-of-the-art authors author evaluate evaluation",
    "task tasks data set called named system approaches methods language large called together according report",
    "reports namely therefore thereby well",
)
_CONTEXT = 0.5
_SYNONYM = 0.9


class Sentence:
    """A sentence of an abstract with what is read off it, each thing when first asked for."""

    def __init__(self, span: Span) -> None:
        self.span = span

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(token.stem for token in tokens(self.span.text))

    @cached_property
    def concepts(self) -> frozenset[str]:
        return frozenset(map(concept_of_stem, self.stems))

    @cached_property
    def quantities(self) -> tuple[numbers.Quantity, ...]:
        return numbers.find(self.span.text)

    @cached_property
    def names(self) -> tuple[names.Name, ...]:
        return names.find(self.span.text)

    @cached_property
    def lexicon(self) -> names.Lexicon:
        return names.Lexicon(self.span.text)


class Reading:
    """A paper prepared for checking: its sentences, its text for finding quotations, its names and numbers."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.haystack = Haystack(paper.abstract)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        return tuple(Sentence(span) for span in split(self.paper.abstract))

    @cached_property
    def title(self) -> Sentence:
        text = self.paper.title or ""
        return Sentence(Span(0, len(text), text))

    @cached_property
    def lexicon(self) -> names.Lexicon:
        return names.Lexicon(f"{self.paper.title or ''}. {self.paper.abstract}")

    @cached_property
    def stems(self) -> frozenset[str]:
        return self.title.stems.union(*(s.stems for s in self.sentences))

    @cached_property
    def concepts(self) -> frozenset[str]:
        return frozenset(map(concept_of_stem, self.stems))

    @cached_property
    def quantities(self) -> tuple[numbers.Quantity, ...]:
        return (*self.title.quantities, *(q for s in self.sentences for q in s.quantities))

    def touched(self, start: int, end: int) -> list[Sentence]:
        """Return the sentences that the range of a quotation touches."""
        return [s for s in self.sentences if s.span.start < end and start < s.span.end]


@dataclass(frozen=True, slots=True)
class Weighing:
    """What was found: ``support`` in [0, 1], ``problems`` that forbid the claim, ``doubts`` that weaken it."""

    support: float
    problems: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim taken apart once, for weighing against many papers."""

    text: str
    words: tuple[Token, ...]
    weights: tuple[float, ...]
    quantities: tuple[numbers.Quantity, ...]
    names: tuple[names.Name, ...]


def take_apart(text: str) -> Claimed:
    """Return the claim's words with their weights, its numbers and its names."""
    found = names.find(text)
    words = tuple(content(text))
    weights = tuple(_weight(token, found) for token in words)
    return Claimed(plain(text), words, weights, numbers.find(text), found)


def _weight(token: Token, found: Sequence[names.Name]) -> float:
    if token.word[0].isdigit():
        return 2.0
    if any(name.start <= token.start < name.end for name in found if name.strong):
        return 2.0
    return 0.5 if token.word in COMMON else 1.0


def best_sentence(claim: Claimed, reading: Reading) -> Sentence | None:
    """Return the sentence of the abstract that carries most of the claim, None for an empty abstract."""
    return max(
        reading.sentences, key=lambda s: lexical(claim, [s], reading) + _numbers_bonus(claim, s), default=None
    )


def _numbers_bonus(claim: Claimed, sentence: Sentence) -> float:
    wanted = [q for q in claim.quantities if not q.inside]
    if not wanted:
        return 0.0
    return 0.3 * sum(numbers.agreement(q, sentence.quantities) for q in wanted) / len(wanted)


def lexical(claim: Claimed, near: Sequence[Sentence], far: Reading | None) -> float:
    """Return the weighted share of the claim's words in the sentences ``near`` (fully) and ``far`` (half)."""
    total = sum(claim.weights)
    if not total:
        return 0.0
    got = 0.0
    for token, weight in zip(claim.words, claim.weights, strict=True):
        share = max((_share(token, s) for s in near), default=0.0)
        if share < _CONTEXT and far is not None:
            share = max(share, _CONTEXT * _share(token, far))
        got += weight * share
    return got / total


def _share(token: Token, text: Sentence | Reading) -> float:
    if token.stem in text.stems or token.word in text.lexicon.keys:
        return 1.0
    if concept_of_stem(token.stem) in text.concepts:
        return _SYNONYM
    return 0.0


def weigh(
    text: str | Claimed,
    readings: Sequence[Reading],
    near: Sequence[Sentence] | None = None,
    similarity: Similarity | None = None,
) -> Weighing:
    """Weigh a claim against the papers it cites, taken together.

    Args:
        text: the claim.
        readings: the papers cited.
        near: the sentences that the quotations touch; without them the best one of each paper.
        similarity: cosine of two texts, optional.
    """
    claim = take_apart(text) if isinstance(text, str) else text
    if near is None:
        near = [s for r in readings if (s := best_sentence(claim, r)) is not None]
    problems: list[str] = []
    doubts: list[str] = []
    _weigh_numbers(claim, readings, near, problems, doubts)
    _weigh_names(claim, readings, problems, doubts)
    against = _contradiction(claim, near)
    if against:
        problems.append(against)
    return Weighing(_support(claim, readings, near, similarity), tuple(problems), tuple(doubts))


def _support(
    claim: Claimed, readings: Sequence[Reading], near: Sequence[Sentence], similarity: Similarity | None
) -> float:
    total = sum(claim.weights)
    got = 0.0
    for token, weight in zip(claim.words, claim.weights, strict=True):
        share = max((_share(token, s) for s in near), default=0.0)
        if share < _CONTEXT:
            share = max(share, _CONTEXT * max((_share(token, r) for r in readings), default=0.0))
        got += weight * share
    words = got / total if total else 0.0
    if similarity is None or not near:
        return words
    cosine = max(similarity(claim.text, s.span.text) for s in near)
    return max(words, 0.5 * words + 0.5 * max(0.0, min(1.0, cosine)))


def _weigh_numbers(
    claim: Claimed,
    readings: Sequence[Reading],
    near: Sequence[Sentence],
    problems: list[str],
    doubts: list[str],
) -> None:
    close = [q for s in near for q in s.quantities]
    whole = [q for r in readings for q in r.quantities]
    for wanted in claim.quantities:
        if wanted.inside:
            continue
        found = max(numbers.agreement(wanted, close), min(0.9, numbers.agreement(wanted, whole)))
        written = claim.text[wanted.start : wanted.end]
        if not found and wanted.spelled and not _counts_otherwise(wanted, whole):
            doubts.append(f"{written} is not in the cited text")
        elif not found:
            problems.append(f"{written} is not in the cited text")
        elif found <= 0.5:
            doubts.append(f"{written} has another unit in the cited text")


def _counts_otherwise(wanted: numbers.Quantity, there: Iterable[numbers.Quantity]) -> bool:
    """Whether the paper counts the same thing and comes to another number."""
    nouns = set(wanted.nouns[:2])
    return any(nouns & set(q.nouns[:2]) and not q.unit for q in there) or bool(wanted.unit)


def _weigh_names(claim: Claimed, readings: Sequence[Reading], problems: list[str], doubts: list[str]) -> None:
    for name in claim.names:
        if any(r.lexicon.has(name) for r in readings):
            continue
        (problems if name.strong else doubts).append(f"{name.text} is not in the cited text")


def _contradiction(claim: Claimed, near: Sequence[Sentence]) -> str | None:
    """Return the conflict with the evidence sentences, unless one of them has none."""
    conflicts = [direction.conflict(claim.text, s.span.text) for s in near]
    return next((c for c in conflicts if c), None) if conflicts and all(conflicts) else None
