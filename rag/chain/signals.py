"""What speaks for and against a paper as the answer to a question, as numbers.

    signals = measure(asked, hits, similarity)      # one ``Signals`` a hit, same order

Both the choice of sentences (``extract``) and the decision to answer at all (``abstain``) are made on them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.chain import roles
from rag.chain.question import Asked
from rag.chain.slots import fills
from rag.chain.support import COMMON, Reading, Sentence, Similarity
from rag.ports import Prepares
from rag.records import Hit
from rag.text import direction, numbers
from rag.text.names import Lexicon, Name, key
from rag.text.stem import stem
from rag.text.synonyms import concept_of_stem
from rag.text.thesaurus import meanings
from rag.text.tokens import Token, content

# How many sentences are embedded for one question, over all papers: each costs about 10 ms.
EMBEDDED = 24
_SYNONYM = 0.8
_MISSPELT = 0.9
_KIN = 0.7
_FEWEST_EMBEDDED = 1
# A sentence is about what is asked when it has this share of the words that the best one has.
_ABOUT = 0.4
_RARE = 0.6
_LEAST_NEAR = 0.25
_VERSION = re.compile(r"v?\d[\d.]*")
_LINK = re.compile(r"https?://\S+")
_INTRODUCED = re.compile(r"\b(?:propose|introduce|present|develop|describe|call|name)(?:s|d|ed)?\b")
# "Which heuristics does it use?" takes for granted that it uses some; "does it use heuristics?" does not.
_ASKS_WHICH = re.compile(
    r"^(?:and |but |so )?(?:which|who|whose|what kind of|how many|how much)\b", re.IGNORECASE
)
# What the score of a sentence on others is worth in a question about the paper's own system.
_OF_OTHERS = 0.75
_ASKS_FOR_ONE = re.compile(r"^(?:and |but |so )?(?:which|what kind of)\b", re.IGNORECASE)
# Things with a name that a paper need not call so: "Mixtral" is a model without the word.
_OF_MANY_KINDS = frozenset(
    map(
        stem,
        ("model", "llm", "network", "baseline", "dataset", "benchmark", "corpus", "architecture", "judge"),
    )
)


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal of these names (see ``Signals``) counts in the order of papers: eval/fit/fit.py."""

    dense: float = 6.0
    cosine: float = 4.5
    words: float = 2.0
    kin: float = 4.0
    anchored: float = 5.0
    named: float = 5.0


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence of the abstract with what speaks for it as an answer."""

    sentence: Sentence
    words: float
    cosine: float
    fills: float
    names: float
    score: float

    @property
    def about(self) -> float:
        """How much it is about what is asked, whether or not it has the kind of thing asked for."""
        return self.words + 0.5 * self.names


@dataclass(frozen=True, slots=True)
class Signals:
    """What speaks for one paper.

    Attributes:
        dense: cosine of question and passage.
        cosine: cosine of question and nearest sentence.
        words: share of the question's words (by rarity) that title and abstract have.
        kin: the same, with words of the field that are near in meaning.
        named: share of the question's names and figures that the paper has; 1.0 where it has none.
        anchored: 1.0 when a name of the question picks out this paper among the hits.
        fills: 1.0 a sentence has the kind of thing asked for, 0.0 none has, 0.5 nothing in particular is
            asked.
        contradicted: what the question takes for granted and the paper denies, in words, or None.
        missing: the names and figures of the question that the paper lacks.
        scored: the sentences in the abstract's order.
    """

    hit: Hit
    reading: Reading
    dense: float
    cosine: float
    words: float
    kin: float
    named: float
    anchored: float
    fills: float
    contradicted: str | None
    missing: tuple[str, ...]
    scored: tuple[Scored, ...]

    @property
    def relevance(self) -> float:
        """How much this paper, among the hits, is what the question is about."""
        return (
            WEIGHTS.dense * self.dense
            + WEIGHTS.cosine * self.cosine
            + WEIGHTS.words * self.words
            + WEIGHTS.kin * self.kin
            + WEIGHTS.anchored * self.anchored
            + WEIGHTS.named * self.named
        )


def measure(
    asked: Asked,
    hits: Sequence[Hit],
    similarity: Similarity | None = None,
    readings: Sequence[Reading] | None = None,
) -> list[Signals]:
    """Return the signals of each hit, in the order of ``hits``; ``readings`` are those of an earlier call."""
    readings = readings or [Reading(hit.paper) for hit in hits]
    weights = _weights(asked, readings)
    embedded = _worth_embedding(asked, readings, weights) if similarity else frozenset()
    if isinstance(similarity, Prepares):
        sentences = [readings[i].sentences[j].span.text for i, j in sorted(embedded)]
        passages = [hit.passage.text for hit in hits if "dense" not in hit.scores]
        similarity.prepare([asked.bare, asked.text, *sentences, *passages])
    having = {name: {i for i, r in enumerate(readings) if r.lexicon.has(name)} for name in asked.names}
    look = _Look(asked, weights, readings, similarity, embedded, having)
    return [look.at(hit, reading) for hit, reading in zip(hits, readings, strict=True)]


def _weights(asked: Asked, readings: Sequence[Reading]) -> dict[str, float]:
    """Return the weight of each word of the question: rare ones more, words of every abstract little.

    Rare among the papers found: rarity in the whole pile was tried and orders them no better.
    """
    found = Counter(c for r in readings for c in r.concepts)
    papers = max(len(readings), 1)
    weights = {}
    for token in asked.words:
        rarity = math.log((papers + 1) / (found[concept_of_stem(token.stem)] + 0.5))
        weights[token.stem] = max(0.25, rarity) * (0.4 if token.word in COMMON else 1.0)
    return weights


def _worth_embedding(
    asked: Asked, readings: Sequence[Reading], weights: dict[str, float]
) -> frozenset[tuple[int, int]]:
    """Choose the sentences that are embedded: some of every paper, then those with most words in common."""
    ranked = []
    for i, reading in enumerate(readings):
        shares = [(_covered(asked.words, s, weights), j) for j, s in enumerate(reading.sentences)]
        for place, (share, j) in enumerate(sorted(shares, key=lambda pair: (-pair[0], pair[1]))):
            ranked.append((place >= _FEWEST_EMBEDDED, -share, i, j))
    return frozenset((i, j) for _, _, i, j in sorted(ranked)[:EMBEDDED])


def _covered(words: Sequence[Token], text: Sentence | Reading, weights: dict[str, float]) -> float:
    return _mean((share(t, text) for t in words), words, weights)


def _mean(values: Iterable[float], words: Sequence[Token], weights: dict[str, float]) -> float:
    """Return the mean of a value for each word, by the words' weights; 0 without words."""
    total = sum(weights[t.stem] for t in words)
    if not total:
        return 0.0
    return sum(weights[t.stem] * value for t, value in zip(words, values, strict=True)) / total


def _kin(token: Token, reading: Reading) -> float:
    """Return how well a paper has a word, also in words of the field that are near in meaning."""
    return max(share(token, reading), _KIN if meanings(token.stem) & reading.meanings else 0.0)


def share(token: Token, text: Sentence | Reading) -> float:
    """Return how well a text has a word: as such, as a synonym, or not."""
    if token.stem in text.stems or token.word in text.lexicon.keys:
        return 1.0
    if concept_of_stem(token.stem) in text.concepts:
        return _SYNONYM
    return _MISSPELT if len(token.word) >= 6 and token.word in text.misspellings else 0.0


@dataclass(frozen=True, slots=True)
class _Look:
    """The question's side of the comparison."""

    asked: Asked
    weights: dict[str, float]
    readings: Sequence[Reading]
    similarity: Similarity | None
    embedded: frozenset[tuple[int, int]]
    having: dict[Name, set[int]]

    def at(self, hit: Hit, reading: Reading) -> Signals:
        asked = self.asked
        place = self.readings.index(reading)
        presented = _presented(asked, reading)
        scored = tuple(self._score(place, j, s, presented) for j, s in enumerate(reading.sentences))
        titled = [title for title in asked.titles if title.is_of(reading.paper)]
        other = tuple(title.words for title in asked.titles if title not in titled)
        missing = (*other, *_missing_names(asked, reading), *_missing_figures(asked, reading))
        count = len(asked.titles) + len(asked.names) + len(asked.figures)
        words = _covered(asked.words, reading, self.weights) if asked.words else 1.0
        return Signals(
            hit=hit,
            reading=reading,
            dense=self._dense(hit, words),
            cosine=max((s.cosine for s in scored), default=0.0) if self.similarity else _usual(words),
            words=words,
            kin=_mean((_kin(t, reading) for t in asked.words), asked.words, self.weights)
            if asked.words
            else 1.0,
            named=1.0 - len(missing) / count if count else 1.0,
            anchored=float(bool(titled) or any(self._picks_out(name, place) for name in asked.names)),
            fills=_filled(asked, reading, scored),
            contradicted=_contradiction(asked, scored, self.weights),
            missing=missing,
            scored=scored,
        )

    def _dense(self, hit: Hit, words: float) -> float:
        if "dense" in hit.scores:
            return hit.scores["dense"]
        if self.similarity:
            return self.similarity(self.asked.text, hit.passage.text)
        return _usual(words)

    def _score(self, place: int, j: int, sentence: Sentence, presented: int) -> Scored:
        asked = self.asked
        words = _covered(asked.words, sentence, self.weights)
        cosine = 0.0
        if self.similarity and (place, j) in self.embedded:
            # "Why was it needed?" says nothing of what is wanted: where only names do, they are left in.
            meant = asked.bare if asked.words else asked.text
            cosine = max(0.0, self.similarity(meant, sentence.span.text))
        filled = fills(asked, sentence)
        kind = 0.0 if not asked.slot.kind else 0.6 * filled
        named = _named(asked.names, sentence)
        score = 0.5 * words + 0.6 * cosine + kind + 0.3 * named
        if j < presented:  # what stands before "we propose X" tells of others
            score *= _OF_OTHERS
        return Scored(sentence, words, cosine, filled, named, score)

    def _picks_out(self, name: Name, place: int) -> bool:
        """Whether the paper has the name and few of the others do."""
        having = self.having[name]
        return place in having and are_few(len(having), len(self.readings))


def are_few(having: int, read: int) -> bool:
    """Whether a name that so many of the papers read have picks them out: "LLM" does not."""
    return having <= max(1, read // 4)


def _usual(words: float) -> float:
    """Return the cosine that usually goes with this share of words, where there is no embedder to ask."""
    return 0.2 + 0.3 * words


def _missing_names(asked: Asked, reading: Reading) -> list[str]:
    paper = reading.paper
    record = Lexicon(f"{paper.venue or ''} {paper.year or ''}. {'. '.join(paper.authors)}")
    lacking = [name for name in asked.names if not (reading.lexicon.has(name) or name.key in record.keys)]
    return [
        name.text
        for name in lacking
        if not _has_pieces(name, reading) and (_is_no_word(name) or not _has_words(name, reading))
    ]


def _has_pieces(name: Name, reading: Reading) -> bool:
    """Whether the paper has each word of a name of several, but for its version: "SQuAD v2 F1"."""
    pieces = [piece for piece in name.text.split() if not _VERSION.fullmatch(piece)]
    return " " in name.text and bool(pieces) and all(key(piece) in reading.lexicon.keys for piece in pieces)


def _is_no_word(name: Name) -> bool:
    """Whether a name must stand as it is.

    "RAM" and "GPU" are also words, with others of the same meaning; "ReVISE" is none, for all that authors
    revise and edit.
    """
    shouted = name.text.rstrip("s").isupper()
    return name.strong and (not shouted or concept_of_stem(stem(name.key)) == stem(name.key))


def _has_words(name: Name, reading: Reading) -> bool:
    """Whether a capitalised word of the question is an ordinary word of the paper."""
    return all(share(token, reading) for token in content(name.text))


def _missing_figures(asked: Asked, reading: Reading) -> list[str]:
    texts = (reading.title, *reading.sentences)
    figures = [f for f in asked.figures if f.value != reading.paper.year]
    return [
        asked.text[f.start : f.end]
        for f in figures
        if not any(_has_figure(s, f) for s in texts) and not _is_in_a_name(f, asked, reading)
    ]


def _is_in_a_name(figure: numbers.Quantity, asked: Asked, reading: Reading) -> bool:
    """Whether the paper has the figure, letters behind it and all, in a name: "llama 3.1 405b"."""
    letters = re.match(r"[^\W\d_]*", asked.text[figure.end :])
    written = asked.text[figure.start : figure.end] + (letters[0] if letters else "")
    return written[-1:].isalpha() and key(written) in reading.lexicon.keys


def _presented(asked: Asked, reading: Reading) -> int:
    """Return which sentence presents the system that is asked about, if it is the paper's own; else 0."""
    if not asked.words or asked.slot.kind in ("reason", "part") or asked.presumes:
        return 0
    own = [name for name in asked.names if reading.lexicon.has(name) and is_topic(name, reading)]
    if not own and not any(title.is_of(reading.paper) for title in asked.titles):
        return 0
    return next((j for j, s in enumerate(reading.sentences) if roles.presents(s.span.text)), 0)


def _named(names: Sequence[Name], sentence: Sentence) -> float:
    return sum(sentence.lexicon.has(name) for name in names) / len(names) if names else 0.0


def _filled(asked: Asked, reading: Reading, scored: Sequence[Scored]) -> float:
    """Return how well a sentence that is about what is asked has the kind of thing asked for."""
    slot = asked.slot
    if not slot.kind or not scored:
        return 0.5
    if slot.kind == "limits":
        return _limited(asked, reading, scored)
    if slot.telling:
        return max(s.fills for s in scored)
    least = _ABOUT * max(s.about for s in scored)
    tying = _tying(asked, reading)
    # A reason may follow in a sentence of its own: "This is because ...".
    reach = 2 if slot.kind == "reason" else 1
    return max(
        (
            t.fills
            for i, s in enumerate(scored)
            if s.about >= least and _is_tied(asked, tying, scored, i)
            for t in scored[i : i + reach]
        ),
        default=0.0,
    )


def _limited(asked: Asked, reading: Reading, scored: Sequence[Scored]) -> float:
    """Return whether a paper tells limits of its own: after it has presented what it made."""
    if not any(is_topic(name, reading) for name in asked.names) and not asked.titles:
        return 0.5  # of PPO, say, of which any sentence may tell
    texts = [s.sentence.span.text for s in scored]
    presenting = [i for i, text in enumerate(texts) if roles.presents(text)]
    first = next((i for i in presenting if scored[i].names), presenting[0] if presenting else 0)
    return float(any(map(roles.tells_limits, texts[first + 1 :])))


def _tying(asked: Asked, reading: Reading) -> list[Name]:
    """Return the names that the answering sentence must have, or the one before it.

    "What rate does X reach on B?" is not answered by the sentence on A. The paper's own system goes without
    saying, so what stands in the title or all over the abstract does not tie.
    """
    if asked.slot.kind not in ("amount", "count") or asked.several:
        return []
    return [n for n in asked.names if _is_no_word(n) and reading.lexicon.has(n) and not is_topic(n, reading)]


def is_topic(name: Name, reading: Reading) -> bool:
    """Whether the paper is about it.

    It stands in the title, all over the abstract, opens a sentence, or names the address of code or data.
    """
    having = [s for s in reading.sentences if s.lexicon.has(name)]
    opening = any(s.names and s.names[0].key == name.key and s.names[0].start == 0 for s in having)
    return (
        reading.title.lexicon.has(name)
        or len(having) > 2
        or opening
        or any(name.key in key(link) for link in _LINK.findall(reading.paper.abstract))
        or any(_INTRODUCED.search(s.span.text) and s.names and s.names[0].key == name.key for s in having)
    )


def _is_tied(asked: Asked, tying: Sequence[Name], scored: Sequence[Scored], i: int) -> bool:
    """Whether the sentence, or the one before it, has the names and words that tie the answer down."""
    here = [s.sentence for s in scored[max(0, i - 1) : i + 1]]
    if not all(any(s.lexicon.has(name) for s in here) for name in tying):
        return False
    if asked.slot.kind == "amount" and asked.words and not tying:
        # "How much memory does X save?" is not answered by how much faster it is.
        return any(s.words for s in scored[max(0, i - 1) : i + 1])
    if asked.slot.kind != "named":
        return True
    if not all(any(_has_figure(s, figure) for s in here) for figure in asked.figures):
        return False
    # "Which retriever" and "which embedding model" are answered where the paper speaks of such a thing.
    present = [near for near in asked.slot.near if any(near in s.sentence.stems for s in scored)]
    wanted = [*present, *(noun for noun in asked.slot.nouns if noun not in _OF_MANY_KINDS)]
    return all(any(word in s.stems for s in here) for word in wanted)


def _has_figure(sentence: Sentence, figure: numbers.Quantity) -> bool:
    return any(numbers.same_size(q, figure) for q in sentence.quantities)


def _contradiction(asked: Asked, scored: Sequence[Scored], weights: dict[str, float]) -> str | None:
    """Return how the nearest sentences deny what a "why" takes for granted, if it denies nothing itself."""
    which = _ASKS_WHICH.match(asked.text) and not asked.several
    if not (asked.presumes or which) or direction.read(asked.text).cued:
        return None
    nearest = sorted(scored, key=lambda s: -s.score)[:2]
    # "Which is best on reasoning?" takes for granted no more than what it asks for.
    granted = asked.head if _ASKS_FOR_ONE.match(asked.text) else asked.words
    for one in nearest:
        if one.words >= _LEAST_NEAR:
            found = asked.presumes and direction.conflict(asked.text, one.sentence.span.text)
            found = found or _denied(granted, one.sentence, weights)
            if found:
                return found
    return None


def _denied(words: Sequence[Token], sentence: Sentence, weights: dict[str, float]) -> str | None:
    """Return which of the rarer ones of a question's words the sentence denies."""
    if not words:
        return None
    stands = direction.read(sentence.span.text)
    denied = {concept_of_stem(word) for word in stands.denied | stands.excluded}
    least = _RARE * max(weights[t.stem] for t in words)
    found = next((t for t in words if weights[t.stem] >= least and concept_of_stem(t.stem) in denied), None)
    return f'takes for granted "{found.word}", which the paper denies' if found else None
