"""Answers with sentences of the abstracts themselves, chosen and ordered by code.

    weighed = weigh("By how much did SpecPrefill improve time-to-first-token?", hits)
    extract(weighed, judge(weighed)).sentences[0].text
    'SpecPrefill ... with up to 7× maximal end-to-end QPS ... and 7.66× TTFT improvement.'

Every sentence is a contiguous slice of one abstract and its own quotation. One to four are taken: those
that answer best, of the paper that bears most on the question, or of several when the question names or
compares several; none that repeats another; within a paper in the abstract's order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.chain import roles
from rag.chain.abstain import Decision
from rag.chain.question import Asked
from rag.chain.signals import Scored, Signals
from rag.chain.story import is_question, story
from rag.chain.weigh import Weighed
from rag.records import Citation, Hit, Sentence
from rag.text.normalise import defuse
from rag.text.tokens import content


@dataclass(frozen=True, slots=True)
class Taste:
    """How many sentences and papers an extract takes.

    Attributes:
        most: sentences at most.
        single: sentences at most where one paper answers.
        papers: papers at most, where the question asks for several.
        beside: share of the best sentence's score that a further one must reach.
        paper_beside: share of the best paper's relevance that a further paper must reach in a list.
        repeats: share of its words that a sentence may have in common with one already taken.
    """

    most: int = 4
    single: int = 3
    papers: int = 4
    beside: float = 0.6
    paper_beside: float = 0.85
    repeats: float = 0.6


@dataclass(frozen=True, slots=True)
class Extraction:
    """Chosen sentences, or none when ``decision.answer`` is false.

    Citations are numbered by first appearance: ``papers[n - 1]`` is the hit that [n] points at.
    """

    sentences: tuple[Sentence, ...]
    papers: tuple[Hit, ...]
    decision: Decision


_FILLED = 0.5
# Share of a term's words that the sentence defining it has.
_WHOLLY = 0.99
# A sentence that begins so leans on the one before it.
_LEANING = re.compile(
    r"(?:[A-Z][a-z]+ly, (?:it|they|its|this|these)|This|These|Those|Such"
    r"|It|They|Its|Their|Here|There|Both|Doing so|The former|The latter"
    r"|In this way|For example|"
    r"Specifically|However|Moreover|Furthermore|Additionally|Consequently|As a result|Hence|Therefore)\b"
)


def extract(weighed: Weighed, decision: Decision, taste: Taste = Taste()) -> Extraction:
    """Choose one to four sentences of the papers weighed, if ``decision`` is to answer."""
    if not decision.answer:
        return Extraction((), (), decision)
    chosen = _choose(weighed.asked, weighed.papers, taste)
    cited = [paper for paper, sentences in chosen if sentences]
    sentences = [
        _sentence(ref, paper, scored)
        for ref, (paper, picked) in enumerate(((p, s) for p, s in chosen if s), start=1)
        for scored in picked
    ]
    return Extraction(tuple(sentences), tuple(paper.hit for paper in cited), decision)


def _choose(asked: Asked, papers: Sequence[Signals], taste: Taste) -> list[tuple[Signals, list[Scored]]]:
    group = _group(asked, papers, taste)
    most = max(1, taste.most // len(group)) if len(group) > 1 else taste.single
    chosen: list[tuple[Signals, list[Scored]]] = []
    taken: list[Scored] = []
    for paper in group:
        picked = _pick(asked, paper, most, taken, taste)
        taken += picked
        chosen.append((paper, picked))
    return chosen


def _group(asked: Asked, papers: Sequence[Signals], taste: Taste) -> list[Signals]:
    """Return the papers that the answer rests on: one, or those named, or those of a list."""
    named = [p for p in papers if p.anchored]
    if asked.several and len(named) > 1 and len(asked.names) > 1 and papers[0].missing:
        return _one_for_each_name(asked, named)[: taste.papers] or [papers[0]]
    if not asked.several or (asked.names and named):
        return [papers[0]]
    least = taste.paper_beside * papers[0].relevance
    return [p for p in papers if p.relevance >= least][: taste.papers]


def _one_for_each_name(asked: Asked, named: Sequence[Signals]) -> list[Signals]:
    """Return for each name the best of its papers, in the order of the names."""
    group: list[Signals] = []
    for name in asked.names:
        having = [p for p in named if p.reading.lexicon.has(name)]
        if having and len(having) <= 2 and not any(p in group for p in having):
            group.append(having[0])
    return group


def _pick(asked: Asked, paper: Signals, most: int, taken: Sequence[Scored], taste: Taste) -> list[Scored]:
    ordered = sorted(paper.scored, key=lambda s: (is_question(s), -s.score))
    if asked.words and not asked.slot.kind and roles.asks_definition(asked.text):
        ordered = sorted(
            ordered, key=lambda s: not (s.words >= _WHOLLY and roles.defines(s.sentence.span.text))
        )
    told = story(asked, paper, ordered)
    if told and roles.is_brief(asked.text):
        return told[:1]
    if told:
        return sorted(told[:most], key=lambda s: s.sentence.span.start)
    if asked.slot.kind == "part":
        ordered = [s for s in ordered if s.fills == 1.0] or ordered  # the problem stands before the name
    elif asked.slot.kind and ordered and ordered[0].fills >= _FILLED:
        ordered = [s for s in ordered if s.fills >= _FILLED]  # whoever asks for a figure wants no preamble
    elif roles.trouble(asked.text):  # what is wrong with PPO may stand in the sentence after its name
        near = [s for s in ordered if any(t.about for t in _before(paper, s))]
        ordered = [s for s in near if roles.tells("problem", s.sentence.span.text)] or ordered
    picked: list[Scored] = []
    for scored in ordered:
        if len(picked) == most:
            break
        if picked and scored.score < taste.beside * picked[0].score:
            break
        if not _repeats(scored, [*taken, *picked], taste.repeats):
            picked.append(scored)
    if picked and most > 1:
        whose = next((s for s in picked if _announces(asked, s)), picked[0])
        more = [s for s in _completing(asked, paper, whose) if s not in picked]
        picked = [*picked[: most - len(more)], *more]
    return sorted(picked, key=lambda s: s.sentence.span.start)


def _before(paper: Signals, scored: Scored) -> Sequence[Scored]:
    """Return the sentence and the one before it."""
    at = paper.scored.index(scored)
    return paper.scored[max(0, at - 1) : at + 1]


def _repeats(scored: Scored, taken: Sequence[Scored], most: float) -> bool:
    words = {t.stem for t in content(scored.sentence.span.text)}
    return any(len(words & other.sentence.stems) > most * len(words) for other in taken)


def _completing(asked: Asked, paper: Signals, scored: Scored) -> list[Scored]:
    """Return the neighbour without which the sentence leaves the reader hanging.

    The one after it where it announces what is asked for ("Two components build on this.") or where that one
    gives the reason asked for ("This is because ..."); the one before it where it begins with "This" itself.
    """
    at = paper.scored.index(scored)
    following = paper.scored[at + 1] if at + 1 < len(paper.scored) else None
    if following and (_announces(asked, scored) or (asked.slot.kind == "reason" and _leans(following))):
        return [following]
    return [paper.scored[at - 1]] if _leans(scored) and at else []


def _leans(scored: Scored) -> bool:
    return bool(_LEANING.match(scored.sentence.span.text))


def _announces(asked: Asked, scored: Scored) -> bool:
    return asked.slot.kind == "listed" and scored.fills == 1.0


def _sentence(ref: int, paper: Signals, scored: Scored) -> Sentence:
    span = scored.sentence.span
    citation = Citation(ref, paper.hit.paper.key, span.text, span.start, span.end, 1.0)
    return Sentence(defuse(span.text), "verbatim", (citation,))
