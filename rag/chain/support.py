"""How much of a sentence a piece of evidence carries, and what speaks against it.

    >>> from rag.records import Source
    >>> paper = Paper("p", "We propose X1. It cuts memory use by 60%.", Source("f", 1))
    >>> text = Reading(paper)
    >>> weigh("X1 reduces memory usage by 60 percent.", [text]).support > 0.7
    True
    >>> weigh("X1 reduces memory usage by 66 percent.", [text]).problems
    ('66 percent is not in the cited text',)

``support`` is the weighted share of the claim's words that the evidence has, as written, as a synonym or as
an acronym; the sentence that the claim rests on counts fully, the rest of the abstract for half. Numbers
and names count double, words of every abstract half. With a similarity function, the cosine of claim and
evidence sentence is mixed in, so that a paraphrase in other words is recognised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rag.ports import Prepares
from rag.records import Paper
from rag.text import direction, numbers
from rag.text.names import Lexicon, Name, short_forms
from rag.text.names import find as find_names
from rag.text.normalise import plain
from rag.text.orders import without_orders
from rag.text.quotes import Haystack
from rag.text.sentences import Span, split
from rag.text.spelling import slips
from rag.text.stem import stem
from rag.text.synonyms import concept_of_stem
from rag.text.thesaurus import meanings
from rag.text.tokens import STOP, Token, content, tokens
from rag.text.words import singular, word_set

Similarity = Callable[[str, str], float]

# Words of any abstract: that evidence has them says little.
COMMON = word_set(
    "paper work study approach method framework technique model models propose proposed proposes",
    "present presents",
    "introduce introduces show shows demonstrate demonstrates find finds result results performance",
    "experiment",
    "experiments experimental based using use used new novel different various several existing",
    "previous prior",
    "significantly significant effective effectively across state-of-the-art authors author evaluate",
    "evaluation",
    "task tasks data set called named system approaches methods language large called together",
    "according report",
    "reports namely therefore thereby well",
)
_CONTEXT = 0.5
_SYNONYM = 0.9
_MOST_SENTENCES = 3
_WORTH_ADDING = 0.12
_SIDE = 6
_CLAUSE = re.compile(r"[,;:()]+ |[.] | (?:and|while|whereas|but|versus|vs) ")
_CLEARLY = 2
# Words that say a minus without saying that anything changed.
_BELOW = word_set("minus negative negatively inverse inversely below beneath down deficit loss")
# Of 240 statements that people wrote about abstracts in words of their own, none has three words in a row
# that the abstract has in no form; models add whole clauses of them ("which adds cost at inference time").
_INVENTED = 3
# Such a clause may still say in other words what the paper says; those that were made up came to .26 at most.
_LIKE = 0.3


class Sentence:
    """A sentence of an abstract with what is read off it, each thing when first asked for."""

    def __init__(self, span: Span, short_forms: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.span = span
        self._short_forms = short_forms or {}

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words, and of those that its acronyms stand for."""
        found = tokens(self.span.text)
        long = (word for t in found for word in self._short_forms.get(singular(t.word), ()))
        return frozenset(t.stem for t in found).union(map(stem, long))

    @cached_property
    def concepts(self) -> frozenset[str]:
        return frozenset(map(concept_of_stem, self.stems))

    @cached_property
    def misspellings(self) -> frozenset[str]:
        return frozenset(slips({t.word for t in tokens(self.span.text)}))

    @cached_property
    def quantities(self) -> tuple[numbers.Quantity, ...]:
        return numbers.find(self.span.text)

    @cached_property
    def names(self) -> tuple[Name, ...]:
        return find_names(self.span.text)

    @cached_property
    def lexicon(self) -> Lexicon:
        return Lexicon(self.span.text)


class Reading:
    """A paper prepared for checking: its sentences, its names and numbers, its text for finding quotes.

    Sentences that give orders to the program are left out: they are no evidence of anything.
    """

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.haystack = Haystack(paper.abstract)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        explained = short_forms(self.paper.abstract)
        return tuple(Sentence(span, explained) for span in without_orders(split(self.paper.abstract)))

    @cached_property
    def title(self) -> Sentence:
        text = self.paper.title or ""
        return Sentence(Span(0, len(text), text))

    @cached_property
    def lexicon(self) -> Lexicon:
        return Lexicon(f"{self.paper.title or ''}. {' '.join(s.span.text for s in self.sentences)}")

    @cached_property
    def stems(self) -> frozenset[str]:
        return self.title.stems.union(*(s.stems for s in self.sentences))

    @cached_property
    def concepts(self) -> frozenset[str]:
        return frozenset(map(concept_of_stem, self.stems))

    @cached_property
    def meanings(self) -> frozenset[int]:
        return frozenset().union(*map(meanings, self.stems))

    @cached_property
    def misspellings(self) -> frozenset[str]:
        return frozenset().union(*(s.misspellings for s in self.sentences))

    @cached_property
    def quantities(self) -> tuple[numbers.Quantity, ...]:
        return (*self.title.quantities, *(q for s in self.sentences for q in s.quantities))

    def touched(self, start: int, end: int) -> list[Sentence]:
        """Return the sentences that the range of a quotation touches."""
        return [s for s in self.sentences if s.span.start < end and start < s.span.end]


@dataclass(frozen=True, slots=True)
class Weighing:
    """What was found: ``support`` in [0, 1], ``problems`` that forbid a claim, ``doubts`` that weaken it."""

    support: float
    problems: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim taken apart once, for weighing against many papers.

    ``written`` is for the reader; all else, offsets too, is of ``text``, its folded form.
    """

    written: str
    text: str
    words: tuple[Token, ...]
    weights: tuple[float, ...]
    quantities: tuple[numbers.Quantity, ...]
    names: tuple[Name, ...]


def take_apart(text: str) -> Claimed:
    """Return the claim's words with their weights, its numbers and its names."""
    folded = plain(text)
    found = find_names(folded)
    words = tuple(content(folded))
    weights = tuple(_weight(token, found) for token in words)
    return Claimed(text, folded, words, weights, numbers.find(folded), found)


def _weight(token: Token, found: Sequence[Name]) -> float:
    if token.word[0].isdigit():
        return 2.0
    if any(name.start <= token.start < name.end for name in found if name.strong):
        return 2.0
    return 0.5 if token.word in COMMON else 1.0


def best_sentences(claim: Claimed, reading: Reading) -> list[Sentence]:
    """Return the sentence of the abstract that carries most of the claim, and those that add to it."""
    rows = [(_shares(claim, sentence), sentence) for sentence in reading.sentences]
    if not rows:
        return []
    got, best = max(rows, key=lambda row: _sum(claim, row[0]) + _numbers_bonus(claim, row[1]))
    chosen = [best]
    while len(chosen) < _MOST_SENTENCES:
        together, more = max(
            ((tuple(map(max, got, row)), sentence) for row, sentence in rows),
            key=lambda pair: _sum(claim, pair[0]),
        )
        if _sum(claim, together) - _sum(claim, got) < _WORTH_ADDING:
            break
        chosen.append(more)
        got = together
    return chosen


def _numbers_bonus(claim: Claimed, sentence: Sentence) -> float:
    wanted = [q for q in claim.quantities if not q.inside]
    if not wanted:
        return 0.0
    return 0.3 * sum(numbers.agreement(q, sentence.quantities) for q in wanted) / len(wanted)


def lexical(claim: Claimed, near: Sequence[Sentence], far: Sequence[Reading] = ()) -> float:
    """Return the weighted share of the claim's words in the sentences ``near`` (fully) and ``far`` (half)."""
    got = (0.0,) * len(claim.words)
    for sentence in near:
        got = tuple(map(max, got, _shares(claim, sentence)))
    for reading in far:
        got = tuple(
            max(had, _CONTEXT * share) for had, share in zip(got, _shares(claim, reading), strict=True)
        )
    return _sum(claim, got)


def _sum(claim: Claimed, shares: Sequence[float]) -> float:
    total = sum(claim.weights)
    return sum(w * s for w, s in zip(claim.weights, shares, strict=True)) / total if total else 0.0


def _shares(claim: Claimed, text: Sentence | Reading) -> tuple[float, ...]:
    found = tuple(_share(token, text) for token in claim.words)
    if all(found) or not claim.quantities:
        return found
    # "300" is what "three hundred" says.
    same = [q for q in claim.quantities if not q.inside and numbers.agreement(q, text.quantities) == 1.0]
    return tuple(
        share or float(any(q.start <= token.start < q.end for q in same))
        for share, token in zip(found, claim.words, strict=True)
    )


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
        near = [s for r in readings for s in best_sentences(claim, r)]
    problems: list[str] = []
    doubts: list[str] = []
    _weigh_numbers(claim, readings, near, problems, doubts)
    listed = numbers.enumerators(claim.text)
    if listed and listed != list(range(listed[0], listed[0] + len(listed))):
        problems.append("the numbers of its list are out of order")
    elif listed and not set(listed) <= {n for s in near for n in numbers.enumerators(s.span.text)}:
        doubts.append("the cited text does not number it so")
    _weigh_names(claim, readings, near, problems, doubts)
    against = _contradiction(claim, near)
    if against:
        problems.append(against)
    words = lexical(claim, near, readings)
    carried = _support(claim, near, words, similarity)
    if _only_names(claim, near) and carried <= words:
        problems.append("nothing but its names is in the cited text")
    elif added := _invented(claim, readings, near, similarity):
        problems.append(f'nothing of "{added}" is in the cited text')
    return Weighing(carried, tuple(problems), tuple(doubts))


def _support(claim: Claimed, near: Sequence[Sentence], words: float, similarity: Similarity | None) -> float:
    if similarity is None or not near or words >= 1.0:  # no cosine can add to that, and each costs 8 ms
        return words
    if isinstance(similarity, Prepares):
        similarity.prepare([claim.text, *(s.span.text for s in near)])
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
        if wanted.inside or any(n.start <= wanted.start < n.end for n in claim.names):
            continue
        found = numbers.agreement(wanted, close)
        written = claim.text[wanted.start : wanted.end]
        swapped = found == 1.0 and _is_swapped(wanted, claim.text, near)
        if found == 1.0 and not swapped:
            _weigh_sign(wanted, claim.text, near, problems, doubts)
        elif found == 1.0:
            doubts.append(f"{written} is said of something else in the cited text")
        elif found:
            doubts.append(f"{written} has another unit in the cited text")
        elif numbers.agreement(wanted, whole) == 1.0:
            doubts.append(f"{written} is said of something else in the cited text")
        elif wanted.spelled and not _counts_otherwise(wanted, whole):
            doubts.append(f"{written} is not in the cited text")
        else:
            problems.append(f"{written} is not in the cited text")


def _weigh_sign(
    wanted: numbers.Quantity,
    text: str,
    near: Sequence[Sentence],
    problems: list[str],
    doubts: list[str],
) -> None:
    """Weigh a figure without a sign where the evidence has it only with one: "-5%" is no increase by 5%."""
    if wanted.signed or any(_agrees_without_sign(wanted, s) for s in near):
        return
    signed = [(q, s) for s in near for q in s.quantities if numbers.agreement(wanted, [q]) == 1.0]
    if len({q.value < 0 for q, _ in signed}) != 1:
        return
    figure, sentence = signed[0]
    sign = -1 if figure.value < 0 else 1
    clause = text[slice(*_clause(wanted, text))]
    said = direction.read(clause).mentions or direction.read(text).mentions
    if any(m.course == sign for m in said) or (sign < 0 and _BELOW & {t.word for t in tokens(text)}):
        return
    note = f"{text[wanted.start : wanted.end]} has another sign in the cited text"
    if any(m.course == -sign and m.thing and m.thing in sentence.stems for m in said):
        problems.append(note)
    elif sign < 0:
        doubts.append(note)


def _agrees_without_sign(wanted: numbers.Quantity, sentence: Sentence) -> bool:
    return numbers.agreement(wanted, [q for q in sentence.quantities if not q.signed]) == 1.0


def _is_swapped(wanted: numbers.Quantity, text: str, near: Sequence[Sentence]) -> bool:
    """Whether another figure of its kind stands among the claim's words, and the claim's own does not."""
    around = _surroundings(wanted, text)
    fits: dict[bool, int] = {True: 0, False: 0}
    for sentence in near:
        for other in sentence.quantities:
            if other.unit == wanted.unit and not other.inside and not other.spelled:
                same = numbers.agreement(wanted, [other]) > 0
                shared = len(around & _surroundings(other, plain(sentence.span.text)))
                fits[same] = max(fits[same], shared)
    return fits[False] >= fits[True] + _CLEARLY


def _surroundings(quantity: numbers.Quantity, text: str) -> frozenset[str]:
    """Return the stems of the few words on either side, as far as the clause or the next figure goes."""
    start, stop = _clause(quantity, text)
    words = [t for t in tokens(text) if t.word not in STOP and start <= t.start < stop]
    before = [t for t in words if t.end <= quantity.start][-_SIDE:]
    after = [t for t in words if t.start >= quantity.end][:_SIDE]
    return frozenset(t.stem for t in (*before, *after) if not t.word[0].isdigit())


def _clause(quantity: numbers.Quantity, text: str) -> tuple[int, int]:
    start = max((m.end() for m in _CLAUSE.finditer(text, 0, quantity.start)), default=0)
    stop = next((m.start() for m in _CLAUSE.finditer(text, quantity.end)), len(text))
    return start, stop


def _counts_otherwise(wanted: numbers.Quantity, there: Iterable[numbers.Quantity]) -> bool:
    """Whether the paper counts the same thing and comes to another number."""
    nouns = set(wanted.nouns[:2])
    return any(nouns & set(q.nouns[:2]) and not q.unit for q in there) or bool(wanted.unit)


def _weigh_names(
    claim: Claimed,
    readings: Sequence[Reading],
    near: Sequence[Sentence],
    problems: list[str],
    doubts: list[str],
) -> None:
    astray = []
    for name in claim.names:
        if not any(r.lexicon.has(name) for r in readings):
            (problems if name.strong else doubts).append(f"{name.text} is not in the cited text")
        elif name.strong and not any(s.lexicon.has(name) for s in near):
            astray.append(name.text)
    if astray and (instead := _unsaid_names(claim, near)):
        doubts.append(f"{astray[0]} stands where the cited text has {instead[0]}")


def _only_names(claim: Claimed, near: Sequence[Sentence]) -> bool:
    """Whether the claim, more than a list of names, shares none of its other words with its evidence."""
    others = [t for t in claim.words if not any(n.start <= t.start < n.end for n in claim.names)]
    return len(others) > len(claim.names) and not any(
        _share(token, sentence) for token in others for sentence in near
    )


def _invented(
    claim: Claimed,
    readings: Sequence[Reading],
    near: Sequence[Sentence],
    similarity: Similarity | None,
) -> str:
    """Return the longest stretch of the claim that no cited paper has a word of, in no form."""
    longest: list[Token] = []
    run: list[Token] = []
    for token in claim.words:
        if token.word in COMMON:
            continue
        run = [] if any(_share(token, reading) for reading in readings) else [*run, token]
        longest = max(longest, run, key=len)
    if len(longest) < _INVENTED:
        return ""
    stretch = claim.text[longest[0].start : longest[-1].end]
    if similarity and any(similarity(stretch, s.span.text) >= _LIKE for s in near):
        return ""
    return stretch


def _unsaid_names(claim: Claimed, near: Sequence[Sentence]) -> list[str]:
    """Return the names of the evidence sentences that the claim leaves out."""
    said = Lexicon(claim.text)
    return [name.text for s in near for name in s.names if name.strong and not said.has(name)]


def _contradiction(claim: Claimed, near: Sequence[Sentence]) -> str | None:
    """Return the conflict with the nearest evidence sentence, unless the others resolve it."""
    if not near:
        return None
    nearest = max(near, key=lambda s: lexical(claim, [s]))
    found = direction.conflict(claim.text, nearest.span.text)
    if found and len(near) > 1:
        found = direction.conflict(claim.text, " ".join(s.span.text for s in near))
    return found
