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

from rag.chain.question import Asked, read
from rag.chain.signals import Signals, share
from rag.chain.weigh import Weighed
from rag.records import Hit, Sentence
from rag.text.names import Lexicon, Name
from rag.text.tokens import Token

_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """Weights of the decision, chosen on the tune half of the gold set with the bundled embedder.

    Attributes:
        threshold: the confidence from which on the question is answered.
        bias: where the sum starts; it ends at 0 where answering and declining are equally likely.
        covered: weight of the share of the question's words and names that the best paper has.
        dense, cosine: weights of the best paper's signals of these names (see ``Signals``).
        unknown: taken off for the share of the question's words that no paper has.
        length: weight of ln(1 + words) of an open question: to be near a long description by chance is hard.
        bound: added when the question has a name or asks for a kind of thing, instead of ``length``.
        missing: taken off for each name or figure of the question that the paper lacks, at most twice.
        unfilled: taken off when the kind of thing asked for is in no sentence that is about the question.
        contradicted: taken off when the paper denies what the question takes for granted.
        presumes: taken off for any question that takes something for granted.
    """

    threshold: float = 0.55
    bias: float = -2.79
    covered: float = 2.38
    dense: float = 0.58
    cosine: float = 1.25
    unknown: float = 1.28
    length: float = 1.05
    bound: float = 2.42
    missing: float = 4.36
    unfilled: float = 4.68
    contradicted: float = 3.02
    presumes: float = 2.05


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
    if not papers or not (asked.words or asked.names):
        return Decision(False, 0.0, "No paper of the pile matches the question.")
    features = _features(asked, papers)
    confidence = _confidence(features, limits)
    nearest = tuple(paper.hit for paper in papers[:_NEAREST])
    if confidence >= limits.threshold:
        return Decision(True, confidence, None, nearest, features)
    return Decision(False, confidence, _reason(asked, papers), nearest, features)


def _features(asked: Asked, papers: Sequence[Signals]) -> tuple[tuple[str, float], ...]:
    best = papers[0]
    bound = bool(asked.names or asked.slot.kind)
    return (
        ("bias", 1.0),
        ("covered", _covered(asked, best)),
        ("dense", best.dense),
        ("cosine", best.cosine),
        ("unknown", -_unknown_share(asked, papers)),
        ("length", 0.0 if bound else math.log1p(len(asked.words))),
        ("bound", float(bound)),
        ("missing", -float(min(len(_missing_everywhere(asked, papers)), 2))),
        ("unfilled", -float(bool(asked.slot.kind) and best.fills < 0.5)),
        ("contradicted", -float(best.contradicted is not None)),
        ("presumes", -float(asked.presumes)),
    )


def _covered(asked: Asked, best: Signals) -> float:
    """Return the share of words and names that the paper has, nearer to a half the fewer there are."""
    names = sum(name.text not in best.missing for name in asked.names)
    had = best.words * len(asked.words) + names
    return (had + 1.0) / (len(asked.words) + len(asked.names) + 2.0)


def _unknown_share(asked: Asked, papers: Sequence[Signals]) -> float:
    unknown = [t for t in asked.words if not any(share(t, paper.reading) for paper in papers)]
    return len(unknown) / len(asked.words) if asked.words else 0.0


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
    title = _title(best)
    if lacking:
        return f"The abstract of {title} does not mention {_joined(lacking)}."
    if best.contradicted:
        return f"The abstract of {title} says otherwise: the question {best.contradicted}."
    if asked.slot.kind and best.fills < 0.5:
        return f"The abstract of {title} does not state {_lower(asked.slot.words)}."
    if best.anchored:
        return f"The abstract of {title} does not answer this."
    unknown = _unknown(asked, papers)
    return f'No paper that was read mentions "{unknown}".' if unknown else "Nothing in the pile answers this."


def _unknown(asked: Asked, papers: Sequence[Signals]) -> str:
    """Return the longest run of the question's words that no paper has, in other words neither."""
    runs: list[list[Token]] = [[]]
    for token in asked.words:
        if any(share(token, paper.reading) for paper in papers):
            runs.append([])
        elif runs[-1] and asked.text[runs[-1][-1].end : token.start].strip(" -"):
            runs.append([token])
        else:
            runs[-1].append(token)
    longest = max(runs, key=len)
    return asked.text[longest[0].start : longest[-1].end] if longest else ""


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]


def _title(paper: Signals) -> str:
    return f'"{paper.hit.paper.title}"' if paper.hit.paper.title else paper.hit.paper.key


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
