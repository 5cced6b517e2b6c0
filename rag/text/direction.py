"""Which way a sentence points: better or worse, up or down, and what it denies.

    >>> conflict("It reduces accuracy.", "The method improves accuracy on both sets.")
    'says "reduces" where the paper says "improves"'
    >>> conflict("It cuts the cost.", "The method reduces training cost.") is None
    True
    >>> conflict("It needs no retraining.", "It works without retraining.") is None
    True
    >>> conflict("It does not need labels.", "All variants need labels.")
    'denies "need", which the paper affirms'

The effect of a word depends on what it is done to: less cost is better, less accuracy is worse, and of
perplexity a paper may say that it was improved or that it was reduced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from rag.text.names import find as find_names
from rag.text.stem import stem
from rag.text.tokens import CONTRACTED, STOP, Token, content, tokens
from rag.text.words import word_set


def _stems(*lines: str) -> frozenset[str]:
    return frozenset(stem(word) for word in word_set(*lines))


_BETTER = _stems(
    "improve improvement enhance outperform surpass superior boost better gain benefit faster",
    "accelerate speedup excel beat strengthen advance outpace",
)
_WORSE = _stems(
    "degrade worsen worse deteriorate hurt harm impair underperform inferior slower suffer damage weaken",
    "undermine compromise slow",
)
_UP = _stems(
    "increase raise grow growth rise higher more larger",
    "greater exceed expand enlarge amplify boost double triple",
    "upper longer elevated",
)
_DOWN = _stems(
    "decrease reduce reduction lower drop decline fall shrink",
    "fewer less cut save saving diminish halve smaller",
    "minimize mitigate lessen alleviate shorter",
)
# Of these a fall is bad news even where nothing is said of what falls.
_FALLS = _stems("drop decline fall")
_GOOD_THINGS = _stems(
    "performance accuracy quality score throughput robustness efficiency ability capability generalization",
    "precision recall success reward stability reliability fidelity utility safety survival yield diversity",
    "effective efficacy qps bandwidth",
)
_BAD_THINGS = _stems(
    "cost latency time memory error perplexity loss regret risk overhead usage bias failure complexity",
    "mortality noise hallucination forgetting overfitting",
    "parameters computation consumption pain delay toxicity",
)
_OPPOSITES = (
    ("high", "low"), ("large", "small"), ("positive", "negative"), ("strong", "weak"), ("always", "never"),
    ("sufficient", "insufficient"), ("possible", "impossible"), ("stable", "unstable"), ("safe", "unsafe"),
    ("succeed", "fail"), ("effective", "ineffective"), ("supervised", "unsupervised"), ("easy", "hard"),
    ("significant", "insignificant"), ("robust", "fragile"), ("best", "worst"), ("early", "late"),
    ("cheap", "expensive"), ("accept", "reject"), ("presence", "absence"), ("secure", "insecure"),
    ("simple", "complicated"), ("easy", "complicated"), ("straightforward", "complicated"),
    ("easy", "difficult"), ("minimal", "severe"), ("mild", "severe"), ("slight", "severe"),
    ("broad", "narrow"),
    ("broad", "confined"), ("widespread", "confined"), ("amplify", "cure"), ("aggravate", "cure"),
    ("worsen", "cure"), ("complement", "conflict"), ("shallow", "deep"), ("sparse", "dense"),
    ("converge", "diverge"), ("overestimate", "underestimate"), ("before", "after"), ("short", "long"),
)  # fmt: skip
_NEGATORS = word_set(
    "not no never without cannot neither nor hardly",
    "barely lack lacks lacking unable fail fails failed failing",
    "none nothing non neednot free",
).union(CONTRACTED)
# Gentler ways to deny: where one stands near a word, the word is not plainly affirmed.
_SOFT = _stems(
    "avoid eliminate elude prevent neglect ignore omit",
    "exclude struggle absence absent poor poorly rarely seldom",
    "remove obviate bypass instead rather insufficient inaccurate ineffective inefficient incorrect",
    "inconsistent insecure instability invalid inadequate incomplete infeasible impossible irrelevant elude",
    "refuse deny impractical intractable overcome hinder discard skip reject",
)
_NOT_NEGATIVE = ("under", "uni", "until", "unless", "regardless", "nonetheless", "nevertheless")
# How many words a cue reaches forward and back; a prefix ("unseen", "non-stationary") reaches its own word.
_FORWARD = 6
_BACK = 4
# Plain adjectives share their stems with comparatives and say nothing about change.
_PLAIN = word_set(
    "low high large great long short small few slow fast good bad most long much minimal minimum"
)
# These say something only of the word right after them: "less efficient", "more memory".
_LIGHT = word_set("more less fewer")
_SCOPE = 5
_CLAUSE = 8
_EXCLUDING = _stems("avoid eliminate obviate bypass prevent remove")
_ADVERBS = word_set(
    "therefore thus truly really fully necessarily always strictly yet actually directly necessary"
)
_VERSUS = _stems("outperform surpass beat outpace underperform")
# What a clause with "that" or "whether" says, its author does not: it is denied, or merely asked.
_DENIED_CLAUSE = re.compile(
    r"\b(?:(?:not|never) (?:true|the case|correct)|untrue|false|myth|misconception|misbelief|fallacy"
    r"|no (?:\w+ ){0,2}evidence|refut\w+|disprov\w+|debunk\w+|dispel\w*|falsif\w+|rebut\w*|contrary to)\b"
    r"(?: [^\s,;:.]+){0,5}? that\b([^,;:.]*)",
    re.IGNORECASE,
)
_ASKED_CLAUSE = re.compile(
    r"\b(?:unclear|unknown|unsettled|not (?:clear|known|obvious)|open question|ask\w*|investigat\w+|examin\w+"
    r"|stud(?:y|ies|ied)|test\w*|explor\w+|question\w*|wonder\w*)(?: [^\s,;:.]+){0,3}? whether\b([^,;:.]*)",
    re.IGNORECASE,
)
_IN_CLAUSE = 0.6
_COMPARING = _stems("outperform surpass beat exceed outpace better faster superior underperform inferior")


@dataclass(frozen=True, slots=True)
class Mention:
    """A word of change: its effect and course (+1 better or up, -1), of what thing (a stem), how written."""

    effect: int
    course: int
    thing: str
    word: str
    compares: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What one text says about change, and which stems it denies and affirms."""

    mentions: tuple[Mention, ...]
    denied: frozenset[str]
    heads: tuple[tuple[str, str], ...]
    stems: frozenset[str]
    affirmed: frozenset[str]
    doubtful: frozenset[str]
    excluded: frozenset[str]
    cued: bool


@lru_cache(maxsize=2048)
def read(text: str) -> Reading:
    """Return the reading of one sentence."""
    words = tokens(text)
    denied, heads = _denials(words)
    mentions = tuple(m for i, word in enumerate(words) if (m := _mention(words, i, word, denied)) is not None)
    inside = {words[i].stem for i in denied}
    affirmed = {word.stem for i, word in enumerate(words) if i not in denied}
    return Reading(
        mentions,
        frozenset(inside),
        heads,
        frozenset(w.stem for w in words),
        frozenset(affirmed),
        frozenset(_near_a_cue(words)),
        frozenset(_excluded(words)),
        any(w.word in _NEGATORS or w.stem in _SOFT or _is_prefixed(w.word) for w in words),
    )


def _near_a_cue(words: tuple[Token, ...]) -> Iterator[str]:
    """Yield the stems that stand near any word that denies, excludes or belittles."""
    for i, word in enumerate(words):
        if word.word in _NEGATORS or word.stem in _SOFT:
            yield from (
                near.stem for near in (*words[max(0, i - _BACK) : i], *words[i + 1 : i + 1 + _FORWARD])
            )
        elif _is_prefixed(word.word):
            yield from (near.stem for near in words[i : i + 2])


def _excluded(words: tuple[Token, ...]) -> Iterator[str]:
    """Yield the stems that a negation or a verb like "avoids" keeps out, as far as its clause goes."""
    for i, word in enumerate(words):
        if word.word in _NEGATORS or word.stem in _EXCLUDING:
            yield from (words[j].stem for j in _scope(words, i, _CLAUSE))


def _is_prefixed(word: str) -> bool:
    """Whether a prefix or suffix denies: "unseen", "nonlinear", "harmless"."""
    denies = word.startswith(("un", "non")) or word.endswith("less")
    return denies and len(word) > 5 and not word.startswith(_NOT_NEGATIVE)


def _denials(words: tuple[Token, ...]) -> tuple[set[int], tuple[tuple[str, str], ...]]:
    """Return the positions under a negation, and of each negation the first word that it denies."""
    under: set[int] = set()
    heads = []
    for i, word in enumerate(words):
        if word.word not in _NEGATORS:
            continue
        scope = [i - 1] if i and _is_suffix(words, i) else list(_scope(words, i))
        said = [j for j in scope if words[j].word not in STOP and words[j].word not in _ADVERBS]
        if said:
            under.update(scope)
            heads.append((words[said[0]].stem, words[said[0]].word))
    return under, tuple(heads)


def _is_suffix(words: tuple[Token, ...], i: int) -> bool:
    """Whether this is the "free" of "training-free" and not that of "free of constraints"."""
    following = words[i + 1].word if i + 1 < len(words) else ""
    return (
        words[i].word == "free" and following not in ("of", "from") and words[i].start - words[i - 1].end == 1
    )


def _scope(words: tuple[Token, ...], i: int, most: int = _SCOPE) -> Iterator[int]:
    said = 0
    for j in range(i + 1, len(words)):
        if words[j].start - words[j - 1].end > 1:
            break  # a comma, a parenthesis, a dash
        if words[j].word in ("but", "only", "because", "while", "unless"):
            break
        yield j
        said += words[j].word not in STOP
        if said == most:
            break


def _mention(words: tuple[Token, ...], i: int, word: Token, denied: set[int]) -> Mention | None:
    course = (word.stem in _UP) - (word.stem in _DOWN)
    effect = (word.stem in _BETTER) - (word.stem in _WORSE or word.stem in _FALLS)
    if (not course and not effect) or word.word in _PLAIN:
        return None
    thing = _thing(words, i, 3 if word.word in _LIGHT else 6, 1 if word.word in _LIGHT else 5)
    if word.word in _LIGHT and not thing:
        return None
    if course:
        effect = course * (1 if thing in _GOOD_THINGS else -1) if thing else effect
    if i in denied:
        effect, course = -effect, -course
    return Mention(effect, course, thing, word.word, word.stem in _VERSUS)


def _thing(words: tuple[Token, ...], i: int, after: int, before: int) -> str:
    """Return the measured thing nearest to a word of change: after it ("reduces cost"), else before it."""
    places = [*range(i + 1, min(i + after, len(words))), *range(i - 1, max(i - before, -1), -1)]
    near = (words[j].stem for j in places)
    return next((stemmed for stemmed in near if stemmed in _GOOD_THINGS or stemmed in _BAD_THINGS), "")


def conflict(claim: str, evidence: str) -> str | None:
    """Return in words how ``claim`` contradicts ``evidence``, or None where it does not."""
    said, stands = read(claim), read(evidence)
    return (
        _denial_conflict(said, stands)
        or _course_conflict(said.mentions, stands.mentions)
        or _opposite_conflict(said, stands)
        or _swapped(claim, evidence)
        or _torn_out(claim, evidence)
    )


def _denial_conflict(said: Reading, stands: Reading) -> str | None:
    for head, word in said.heads:
        if head in stands.affirmed - stands.denied - stands.doubtful:
            return f'denies "{word}", which the paper affirms'
    if said.heads and not stands.cued:
        return f'denies "{said.heads[0][1]}", which the paper does not'
    for head, word in stands.heads:
        if head in said.affirmed - said.denied - said.doubtful:
            return f'affirms "{word}", which the paper denies'
    return None


def _course_conflict(said: Iterable[Mention], stands: tuple[Mention, ...]) -> str | None:
    for mine in said:
        related = [m for m in stands if m.thing == mine.thing or not m.thing or not mine.thing]
        related = (
            [m for m in stands if m.compares]
            if mine.compares and any(m.compares for m in stands)
            else related
        )
        if not related or any(_agrees(mine, theirs) for theirs in related):
            continue
        against = [m for m in related if _opposes(mine, m)]
        if against:
            return f'says "{mine.word}" where the paper says "{against[0].word}"'
    return None


def _agrees(a: Mention, b: Mention) -> bool:
    return (a.effect != 0 and a.effect == b.effect) or (a.course != 0 and a.course == b.course)


def _opposes(a: Mention, b: Mention) -> bool:
    return a.effect * b.effect < 0 or a.course * b.course < 0


def _opposite_conflict(said: Reading, stands: Reading) -> str | None:
    for pair in _OPPOSITES:
        for mine, theirs in (pair, pair[::-1]):
            here, there = stem(mine), stem(theirs)
            if here in said.affirmed - stands.stems and there in stands.affirmed - said.stems:
                return f'says "{mine}" where the paper says "{theirs}"'
    return None


def _torn_out(claim: str, evidence: str) -> str | None:
    """Find what the paper says only within "it is not true that ..." or "we ask whether ..."."""
    for pattern, told in ((_DENIED_CLAUSE, "the paper denies it"), (_ASKED_CLAUSE, "the paper only asks it")):
        if pattern.search(claim):
            continue
        for clause in pattern.finditer(evidence):
            rest = evidence[: clause.start(1)] + evidence[clause.end(1) :]
            if _share_in(claim, clause[1]) >= max(_IN_CLAUSE, 2 * _share_in(claim, rest)):
                return told
    return None


def _share_in(claim: str, text: str) -> float:
    said = {token.stem for token in content(claim)}
    return len(said & {token.stem for token in content(text)}) / len(said) if said else 0.0


def _swapped(claim: str, evidence: str) -> str | None:
    """Find "A outperforms B" where the paper says that B outperforms A."""
    mine, theirs = _sides(claim), _sides(evidence)
    if mine is None or theirs is None:
        return None
    if mine[0] & theirs[1] and mine[1] & theirs[0] and not mine[0] & theirs[0]:
        return "turns the comparison round"
    return None


def _sides(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the names before and after the first word that compares, or None."""
    verb = next((t for t in tokens(text) if t.stem in _COMPARING), None)
    if verb is None:
        return None
    names = find_names(text)
    before = frozenset(n.key for n in names if n.end <= verb.start)
    after = frozenset(n.key for n in names if n.start >= verb.end)
    return (before, after) if before and after else None
