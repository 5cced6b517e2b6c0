"""Fit the order of papers and the decision to answer on the questions that are there for it.

    python eval/fit/fit.py              # from the repository's root; four minutes, no network

Reads the tune half of the gold set, ``eval/dev`` (papers of the bundled sample), ``questions.jsonl`` (on
``papers.jsonl``, papers of its own), ``far.jsonl`` (everyday questions that no paper answers) and terms
of the glossary; never the test half or the held-out set. Prints the weights for ``rag/chain/signals.py`` and
``rag/chain/abstain.py``, and what they reach when all questions on one paper are left out of fitting together
(12 folds). What is printed is rounded, looked at and copied by hand; nothing is written.

The order is a conditional logit (McFadden 1974): the papers found compete for each question. The decision is
a logistic regression. Both are ridge-penalised on standardised features and solved by Newton's method.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, chdir
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.chain.abstain import Limits
from rag.chain.found import find
from rag.chain.setup import Options, Pile
from rag.chain.signals import Weights
from rag.evals import cases
from rag.evals.cases import Case
from rag.records import Filters
from rag.text import glossary
from rag.text.words import listed
from rag.wiring import evals as wiring_evals
from rag.wiring.runs import Ask, planned

Array = NDArray[np.float64]
ROOT = Path(__file__).parents[2]
FOLDS = 12
# Ridge penalty on standardised weights, as 1 / (2 C) of each question's loss.
ORDER, DECISION = 2.0, 0.5
# Far questions and single terms count less: there are many, and they are easy.
FAR = 0.5
# Questions of one term, present and absent, of each pile.
KEYWORDS = 40
ORDERED = [field.name for field in fields(Weights)]
DECIDED = [field.name for field in fields(Limits) if field.name not in ("threshold", "bias")]


@dataclass(frozen=True)
class Seen:
    """A question with what is measured of it: the papers found (rows) and the decision's features."""

    case: Case
    source: str
    keys: tuple[str, ...]
    papers: Array
    decision: Array

    @property
    def group(self) -> str:
        """The paper that the question is on: the questions on one stand or fall together."""
        return self.case.papers[0] if self.case.papers else self.case.id

    @property
    def right(self) -> NDArray[np.bool_]:
        return np.array([key in self.case.papers for key in self.keys])


def main() -> None:
    with chdir(ROOT):
        seen = list(measured())
    rng = np.random.default_rng(0)
    groups = sorted({one.group for one in seen})
    rng.shuffle(groups)
    folds = [set(groups[n::FOLDS]) for n in range(FOLDS)]

    known = [one for one in seen if one.case.answerable and one.right.any()]
    order = fitted_order(known)
    firsts = np.zeros(len(known))
    for fold in folds:
        weights = fitted_order([one for one in known if one.group not in fold])
        for i, one in enumerate(known):
            if one.group in fold:
                firsts[i] = one.right[np.argmax(one.papers @ weights)]
    print("order   ", *(f"{name} {weight:.2f}" for name, weight in zip(ORDERED, order, strict=True)))
    for source, kind in sorted({(one.source, one.case.kind) for one in known}):
        those = [firsts[i] for i, one in enumerate(known) if (one.source, one.case.kind) == (source, kind)]
        print(f"  right paper first, {source:9} {kind:10} {np.mean(those):.3f} of {len(those)}")

    decision, bias = fitted_decision(seen)
    sums = np.zeros(len(seen))
    for fold in folds:
        weights, start = fitted_decision([one for one in seen if one.group not in fold])
        for i, one in enumerate(seen):
            if one.group in fold:
                sums[i] = one.decision @ weights + start
    names = zip(["bias", *DECIDED], [bias, *decision], strict=True)
    print("decision", *(f"{name} {weight:.2f}" for name, weight in names))
    confidence = 1 / (1 + np.exp(-sums))
    for threshold in np.arange(0.4, 0.75, 0.05):
        print(f"  threshold {threshold:.2f}", *report(seen, confidence >= threshold), sep=" | ")


def measured() -> Iterator[Seen]:
    """Ask every question of the pile it was written for."""
    suited = planned(Ask("extractive"))
    tune = [case for case in cases.load([ROOT / "eval/gold"]) if case.split == "tune"]
    dev = cases.load([ROOT / "eval/dev"])
    far = cases.load([ROOT / "eval/fit/far.jsonl"])
    with ExitStack() as stack:
        sample, _ = stack.enter_context(wiring_evals.opened(suited.spec, wiring_evals.silent))
        own, _ = stack.enter_context(wiring_evals.opened(planned(Ask("fit")).spec, wiring_evals.silent))
        for source, found, pile in (
            ("tune", tune, sample.pile),
            ("dev", dev, sample.pile),
            ("far", far, sample.pile),
            ("fit", cases.load([ROOT / "eval/fit/questions.jsonl"]), own.pile),
        ):
            yield from (one for case in found if (one := seen_at(case, source, pile)))
        for pile in (sample.pile, own.pile):
            yield from (one for case in keywords(pile) if (one := seen_at(case, "keywords", pile)))


def keywords(pile: Pile) -> Iterator[Case]:
    """Yield questions of one term each: half of them stand in papers of the pile, half in none."""
    papers = [(paper.key, f"{paper.title}. {paper.abstract}".lower()) for paper in pile.store.papers()]
    terms = [line for line in listed(glossary.FILE) if len(line) > 6]
    np.random.default_rng(0).shuffle(terms)
    counts = {True: 0, False: 0}
    for term in terms:
        having = tuple(key for key, text in papers if re.search(rf"\b{term}\b", text))
        if counts[bool(having)] < KEYWORDS:
            counts[bool(having)] += 1
            yield Case(f"term-{term}", term, "fact" if having else "no-paper", "tune", bool(having), having)


def seen_at(case: Case, source: str, pile: Pile) -> Seen | None:
    """Return what is measured; None for questions about the records and follow-ups."""
    if case.kind == "pile" or case.history:
        return None
    found = find(case.question, pile, Options(), Filters())
    if found is None:
        return None
    features = dict(found.decision.features)
    return Seen(
        case,
        source,
        tuple(paper.hit.paper.key for paper in found.weighed.papers),
        np.array([[getattr(paper, name) for name in ORDERED] for paper in found.weighed.papers]),
        np.array([features.get(name, 0.0) for name in DECIDED]),
    )


def fitted_order(known: Sequence[Seen]) -> Array:
    """Return the weights under which the right papers are the likeliest; a question's papers share its 1."""
    spread = np.concatenate([one.papers for one in known]).std(axis=0) + 1e-9
    given = [(one.papers / spread, one.right / one.right.sum()) for one in known]

    def derivatives(weights: Array) -> tuple[Array, Array]:
        slope, bend = ORDER * weights, ORDER * np.eye(len(weights))
        for papers, right in given:
            chance = softmax(papers @ weights)
            slope += papers.T @ (chance - right)
            bend += papers.T @ (np.diag(chance) - np.outer(chance, chance)) @ papers
        return slope, bend

    weights: Array = newton(derivatives, len(spread)) / spread
    return weights


def fitted_decision(seen: Sequence[Seen]) -> tuple[Array, float]:
    """Return the weights and the bias of a logistic regression of "answerable" on the features."""
    features = np.array([one.decision for one in seen])
    spread, middle = features.std(axis=0) + 1e-9, features.mean(axis=0)
    given = np.column_stack([np.ones(len(seen)), (features - middle) / spread])
    yes = np.array([one.case.answerable for one in seen], dtype=np.float64)
    counts = np.array([FAR if one.source in ("far", "keywords") else 1.0 for one in seen])
    ridge = DECISION * np.diag([0.0] + [1.0] * features.shape[1])

    def derivatives(weights: Array) -> tuple[Array, Array]:
        chance = 1 / (1 + np.exp(-given @ weights))
        slope = given.T @ (counts * (chance - yes)) + ridge @ weights
        return slope, (given.T * (counts * chance * (1 - chance))) @ given + ridge

    weights = newton(derivatives, given.shape[1])
    scaled = weights[1:] / spread
    return scaled, float(weights[0] - scaled @ middle)


def newton(derivatives: Callable[[Array], tuple[Array, Array]], size: int) -> Array:
    """Return the minimum of a convex function from its gradient and Hessian."""
    weights = np.zeros(size)
    for _ in range(50):
        slope, bend = derivatives(weights)
        step = np.linalg.solve(bend, slope)
        weights = weights - step * min(1.0, 5.0 / (float(np.abs(step).max()) + 1e-12))
        if np.abs(step).max() < 1e-8:
            break
    return weights


def softmax(values: Array) -> Array:
    grown = np.exp(values - values.max())
    shares: Array = grown / grown.sum()
    return shares


def report(seen: Sequence[Seen], answered: NDArray[np.bool_]) -> Iterator[str]:
    """Yield for each source the share answered, and precision and recall of declining."""
    yes = np.array([one.case.answerable for one in seen])
    for source in dict.fromkeys(one.source for one in seen):
        here = np.array([one.source == source for one in seen])
        declined = ~answered & here
        recall = (declined & ~yes).sum() / (~yes & here).sum()
        if not (yes & here).any():
            yield f"{source}: declined {recall:.3f}"
            continue
        share = (answered & yes & here).sum() / (yes & here).sum()
        precision = (declined & ~yes).sum() / declined.sum()
        yield f"{source}: answered {share:.3f}, P {precision:.3f}, R {recall:.3f}"


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    main()
