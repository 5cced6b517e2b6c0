"""Decides from the evidence whether the pile answers a question, and says in words why not.

    "Which GPU did the authors of VinePPO train on?"  no sentence of the paper names one: declined
    "What is the capital of Mongolia?"                no paper has "Mongolia": declined
    "Which work has a model mend its own mistakes?"   few words in common, but near in meaning: answered

First what the question ties itself to: names and figures that the best paper must have, the kind of thing
that is asked for, what a "why" takes for granted. Then a weighted sum of what speaks for the best paper,
squashed to a confidence in [0, 1] and compared with a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rag.chain.calling import called
from rag.chain.question import Asked, read
from rag.chain.signals import Signals, share
from rag.chain.weigh import Weighed
from rag.records import Hit, Sentence
from rag.text import glossary
from rag.text.glossary import Term
from rag.text.names import Lexicon, Name
from rag.text.tokens import Token, content

_NEAREST = 3
# "How fast do glaciers melt?" asks for a figure, but of nothing that the paper speaks of.
_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class Limits:
    """Weights of the decision, fitted with the bundled embedder by eval/fit/fit.py.

    Attributes:
        threshold: the confidence from which on the question is answered.
        bias: where the sum starts; it ends at 0 where answering and declining are equally likely.
        cosine: weight of the cosine of the question and the best paper's nearest sentence.
        lacking: taken off for the share of the question's words that the best paper does not have.
        foreign: taken off for each word of the question that is a term of the field and that no paper has, at
            most twice.
        apart: the same for two words that are a term, where no sentence of any paper has both.
        length: weight of ln(1 + words) of an open question: to be near a long description by chance is hard.
        bound: added instead of ``length`` when the question has a name, is one or two words that stand in one
            sentence, or asks for a kind of thing or several papers in words most of which the paper has.
        missing: taken off for each name or figure of the question that the paper lacks, at most twice.
        unfilled: taken off when the kind of thing asked for is in no sentence that is about the question.
        unreasoned: the same, where a reason is asked for: authors give reasons without saying "because".
        unsaid: taken off when "what X" or "which X" asks for a term of the field and no one sentence has it.
        contradicted: taken off when the paper denies what the question takes for granted.
        presumes: taken off for any question that takes something for granted.
    """

    threshold: float = 0.55
    bias: float = -5.85
    cosine: float = 3.85
    lacking: float = 1.45
    foreign: float = 1.0
    apart: float = 2.85
    length: float = 3.2
    bound: float = 6.35
    missing: float = 3.0
    unfilled: float = 4.0
    unreasoned: float = 0.6
    unsaid: float = 1.65
    contradicted: float = 6.1
    presumes: float = 2.5


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to answer; if not, why (a sentence for the reader) and the nearest papers, best first.

    ``confidence`` in [0, 1] is what was compared with the threshold, given for both outcomes.
    ``features`` are the numbers that it was computed from, by the names of ``Limits``.
    """

    answer: bool
    confidence: float
    reason: str | None = None
    nearest: tuple[Hit, ...] = ()
    features: tuple[tuple[str, float], ...] = ()


def judge(weighed: Weighed, limits: Limits = Limits()) -> Decision:
    """Decide before any model is asked (model mode) or any sentence shown (extractive mode)."""
    asked, papers = weighed.asked, weighed.papers
    if not papers or not (asked.words or asked.names or asked.titles):
        return Decision(False, 0.0, "No paper of the pile matches the question.")
    features = _features(asked, papers)
    confidence = _confidence(features, limits)
    nearest = tuple(paper.hit for paper in papers[:_NEAREST])
    if confidence >= limits.threshold:
        return Decision(True, confidence, None, nearest, features)
    return Decision(False, confidence, _reason(asked, papers), nearest, features)


def _features(asked: Asked, papers: Sequence[Signals]) -> tuple[tuple[str, float], ...]:
    best = papers[0]
    lacking = _lacking(asked, best)
    bound = bool(asked.names or asked.titles) or _is_said(asked, best)
    bound = bound or (bool(asked.slot.kind or asked.several) and lacking < _MOSTLY)
    return (
        ("bias", 1.0),
        ("cosine", best.cosine),
        ("lacking", -lacking),
        ("foreign", -float(min(len(_foreign(asked, papers)), 2))),
        ("apart", -float(min(len(_apart(asked, papers)), 2))),
        ("length", 0.0 if bound else math.log1p(len(asked.words))),
        ("bound", float(bound)),
        ("missing", -float(min(len(_missing_everywhere(asked, papers)), 2))),
        ("unfilled", -float(asked.slot.kind not in ("", "reason") and best.fills < 0.5)),
        ("unreasoned", -float(asked.slot.kind == "reason" and best.fills < 0.5)),
        ("unsaid", -float(_unsaid(asked, best))),
        ("contradicted", -float(best.contradicted is not None)),
        ("presumes", -float(asked.presumes)),
    )


def _is_said(asked: Asked, best: Signals) -> bool:
    """Whether the question is but one or two words ("model editing"), and one sentence has them."""
    return 0 < len(asked.words) <= 2 and _are_together(asked.words, best)


def _are_together(words: Sequence[Token], paper: Signals) -> bool:
    """Whether one sentence of the paper, or its title, has all the words."""
    sentences = (paper.reading.title, *paper.reading.sentences)
    return any(all(share(token, sentence) for token in words) for sentence in sentences)


def _is_in_none(token: Token, papers: Sequence[Signals]) -> bool:
    return not any(share(token, paper.reading) for paper in papers)


def _lacking(asked: Asked, best: Signals) -> float:
    lacking = [token for token in asked.words if not share(token, best.reading)]
    return len(lacking) / len(asked.words) if asked.words else 0.0


def _foreign(asked: Asked, papers: Sequence[Signals]) -> list[Token]:
    """Return the words of the question that are terms of the field and that no paper has.

    A paraphrase has words that the paper lacks, but everyday ones; "rotary" is what a paper on rotary
    position embeddings would say.
    """
    terms = glossary.terms(asked.text, asked.words)
    single = [term.words[0] for term in terms if len(term.words) == 1]
    return [token for token in single if _is_in_none(token, papers)]


def _apart(asked: Asked, papers: Sequence[Signals]) -> list[Term]:
    """Return the terms of two words, as "state space", that are together in no sentence."""
    terms = glossary.terms(asked.text, content(asked.text))
    pairs = [term for term in terms if len(term.words) == 2]
    return [term for term in pairs if not any(_are_together(term.words, paper) for paper in papers)]


def _unsaid(asked: Asked, best: Signals) -> bool:
    """Whether a term stands after "which" or "what" and no single sentence has all that stands there."""
    return bool(glossary.terms(asked.text, asked.head)) and not _are_together(asked.head, best)


def _missing_everywhere(asked: Asked, papers: Sequence[Signals]) -> tuple[str, ...]:
    """Return what the best paper lacks of the names; where several are compared, what all lack."""
    if not asked.several:
        return papers[0].missing
    return tuple(m for m in papers[0].missing if all(m in paper.missing for paper in papers))


def _confidence(features: tuple[tuple[str, float], ...], limits: Limits) -> float:
    total = sum(value * float(getattr(limits, name)) for name, value in features)
    return round(1.0 / (1.0 + math.exp(-total)), 4)


def _reason(asked: Asked, papers: Sequence[Signals]) -> str:
    """Say why not, in a sentence that is true whatever tipped the scales."""
    best = papers[0]
    lacking = _missing_everywhere(asked, papers)
    everywhere = [name for name in lacking if all(name in paper.missing for paper in papers)]
    if everywhere and best.anchored == 0.0:
        return f"No paper that was read mentions {_joined(everywhere)}."
    title = _title(asked, best)
    if lacking:
        return f"The abstract of {title} does not mention {_joined(lacking)}."
    return _not_said(asked, best) or _nowhere(asked, papers)


def _not_said(asked: Asked, best: Signals) -> str | None:
    """Return what the best paper leaves unsaid, if it is the one that the question is about."""
    title = _title(asked, best)
    if best.contradicted:
        return f"The abstract of {title} says otherwise: the question {best.contradicted}."
    if asked.slot.kind and best.fills < 0.5:
        return f"The abstract of {title} does not state {_lower(asked.slot.words)}."
    if _unsaid(asked, best):
        return f'The abstract of {title} says nothing of "{_written(asked, asked.head)}".'
    return f"The abstract of {title} does not answer this." if best.anchored else None


def _nowhere(asked: Asked, papers: Sequence[Signals]) -> str:
    if unknown := _unknown(asked, papers):
        return f'No paper that was read mentions "{unknown}".'
    if apart := _apart(asked, papers):
        return f'No paper that was read is on "{apart[0].text}".'
    return "Nothing in the pile answers this."


def _unknown(asked: Asked, papers: Sequence[Signals]) -> str:
    """Return the longest run of the question's words that no paper has, rather one with a term in it."""
    foreign = _foreign(asked, papers)
    runs: list[list[Token]] = [[]]
    for token in asked.words:
        if not _is_in_none(token, papers):
            runs.append([])
        elif runs[-1] and asked.text[runs[-1][-1].end : token.start].strip(" -"):
            runs.append([token])
        else:
            runs[-1].append(token)
    chosen = max(runs, key=lambda run: (any(token in foreign for token in run), len(run)))
    return _written(asked, chosen) if chosen else ""


def _written(asked: Asked, words: Sequence[Token]) -> str:
    return asked.text[words[0].start : words[-1].end]


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]


def _title(asked: Asked, paper: Signals) -> str:
    """Return what to call the paper: its title, or without one its system or how it begins."""
    return f'"{paper.hit.paper.title}"' if paper.hit.paper.title else called(paper.hit.paper, asked.text)


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def nothing_left(question: str, hits: Sequence[Hit], removed: Sequence[Sentence]) -> Decision:
    """Return the abstention for an answer none of whose sentences passed the check."""
    count = len(removed)
    missing = [name.text for name in read(question).names if not any(_has(hit, name) for hit in hits)]
    what = (
        "The one sentence that was written was"
        if count == 1
        else f"All {count} sentences that were written were"
    )
    if not count:
        return Decision(False, 0.0, "Nothing was written that answers this.", tuple(hits[:_NEAREST]))
    also = f" No paper that was read mentions {_joined(missing)}." if missing else ""
    return Decision(False, 0.0, f"{what} not carried by the papers cited.{also}", tuple(hits[:_NEAREST]))


def _has(hit: Hit, name: Name) -> bool:
    return Lexicon(hit.paper.text).has(name)
