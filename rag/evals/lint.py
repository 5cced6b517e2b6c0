"""Faults of a gold set that would make its scores lie; runs in CI over all cases.

    for finding in lint(cases, papers, prompts): print(finding.where, finding.check, finding.message)

Checks: duplicate and near-duplicate questions; papers that are not in the pile; evidence that does not
stand in its abstract; facts that the cited abstracts do not state; facts that the question gives away;
questions or evidence that leak into prompts; papers on both sides of the tune/test split; drafts that
nobody has edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rag.evals.cases import Case
from rag.evals.recognise import content_words, fold, states
from rag.records import Paper

DRAFT = "DRAFT"
"""What the question of a proposed case starts with until a person has rewritten it."""
NEAR = 0.8
"""Share of common content words from which two questions on the same papers count as one."""
SHORTEST_QUOTE = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: where (file:line), which check, and what is wrong."""

    where: str
    case: str
    check: str
    message: str


def lint(cases: Sequence[Case], papers: Mapping[str, Paper], prompts: Mapping[str, str]) -> list[Finding]:
    """Return all faults, in the order of the cases.

    Args:
        cases: the gold set, attacks and all.
        papers: the pile by key.
        prompts: text of every prompt, by name.
    """
    found = [finding for case in cases for finding in _one(case, papers, prompts)]
    found += _twice(cases)
    found += _on_both_sides(cases)
    order = {case.id: place for place, case in enumerate(cases)}
    return sorted(found, key=lambda finding: order[finding.case])


def _one(case: Case, papers: Mapping[str, Paper], prompts: Mapping[str, str]) -> Iterator[Finding]:
    def finding(check: str, message: str) -> Finding:
        return Finding(case.where, case.id, check, message)

    if case.question.startswith(DRAFT):
        yield finding("draft", "a proposed case that nobody has edited")
        return
    named = [
        *case.papers,
        *(q.key for q in case.evidence),
        *(key for turn in case.history for key in turn.papers),
    ]
    named += [case.attack.paper] if case.attack and case.attack.paper else []
    for key in dict.fromkeys(named):
        if key not in papers:
            yield finding("missing paper", f"{key} is not in the pile")
    for quote in case.evidence:
        for fault in _quote_faults(quote.key, quote.quote, case, papers):
            yield finding("evidence", fault)
    if case.facts and not case.evidence:
        yield finding("evidence", "facts, but no evidence for them")
    text = " ".join(papers[key].text for key in case.papers if key in papers)
    for fact in case.facts:
        if text and not states(text, fact):
            yield finding("fact not there", f"the gold papers do not state: {fact.text}")
        if states(case.question, fact):
            yield finding("given away", f"the question itself states: {fact.text}")
    yield from (finding("leak", f"prompts/{name}.md contains its words") for name in _leaks(case, prompts))


def _quote_faults(key: str, quote: str, case: Case, papers: Mapping[str, Paper]) -> Iterator[str]:
    if key not in case.papers:
        yield f"it quotes {key}, which is not among its papers"
    if len(quote) < SHORTEST_QUOTE:
        yield f"the quote {quote!r} is shorter than {SHORTEST_QUOTE} characters"
    if key in papers and quote not in papers[key].abstract:
        yield f"{key} does not contain, to the letter: {quote[:80]!r}"


def _leaks(case: Case, prompts: Mapping[str, str]) -> list[str]:
    words = [fold(case.question), *(fold(quote.quote) for quote in case.evidence)]
    long = [some for some in words if len(some.split()) >= 4]
    return [name for name, text in prompts.items() if any(some in fold(text) for some in long)]


def _twice(cases: Sequence[Case]) -> Iterator[Finding]:
    """Compare all pairs; follow-ups ("and on GSM8K?") are the same only if what came before is."""
    asked = [(case, fold(case.question), content_words(_whole(case))) for case in cases]
    for (first, text, words), (second, other, others) in combinations(asked, 2):
        same_before = [turn.question for turn in first.history] == [turn.question for turn in second.history]
        if text == other and same_before:
            yield Finding(
                second.where, second.id, "duplicate", f"asks the same as {first.id} ({first.where})"
            )
        elif (
            set(first.papers) & set(second.papers)
            and first.kind == second.kind
            and _overlap(words, others) >= NEAR
        ):
            yield Finding(second.where, second.id, "near-duplicate", f"asks nearly the same as {first.id}")


def _whole(case: Case) -> str:
    return " ".join([*(turn.question for turn in case.history), case.question])


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def _on_both_sides(cases: Iterable[Case]) -> Iterator[Finding]:
    """A paper belongs to one half; the first case that uses it decides."""
    side: dict[str, Case] = {}
    for case in cases:
        for key in case.papers if case.kind != "pile" else ():
            first = side.setdefault(key, case)
            if first.split != case.split:
                message = f"{key} is {first.split} in {first.id} and {case.split} here"
                yield Finding(case.where, case.id, "split", message)
