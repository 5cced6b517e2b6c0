"""The sentences that tell of something named as a whole: what it is, its problem, its results.

    "What is AnyEdit?"                  we propose it, how it works, what it gave
    "What problem does it solve?"       what stands before "we propose"
    "What are the key findings?"        results, those with figures first
    "What does DPO stand for?"          where it is spelled out

An abstract tells the problem, then presents what was made of it, then how it works and what it gave, and few
of these sentences have a word in common with such a question.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag.chain import roles
from rag.chain.question import Asked
from rag.chain.signals import Scored, Signals, is_topic


def story(asked: Asked, paper: Signals, ordered: Sequence[Scored]) -> list[Scored]:
    """Return the sentences, most telling first; none for other questions.

    Args:
        ordered: the sentences of ``paper``, those that answer best first.
    """
    if asked.words or asked.figures or asked.slot.kind not in ("", "part", "limits"):
        return []
    having = [name for name in asked.names if paper.reading.lexicon.has(name)]
    spelled = [s for s in paper.scored if any(f"({name.text})" in _text(s) for name in having)]
    if spelled and roles.asks_expansion(asked.text):
        return spelled[:1]
    titled = any(title.is_of(paper.hit.paper) for title in asked.titles)
    if (titled or having) and all(is_topic(name, paper.reading) for name in having):
        return _of_its_own(asked, paper, ordered, spelled)
    # Of another's acronym what it stands for, and what else is said of it.
    return [*spelled[:1], *(s for s in ordered if s.names and s not in spelled)] if spelled else []


def is_question(scored: Scored) -> bool:
    """Whether a sentence is a question of the authors: it answers none."""
    return _text(scored).rstrip().endswith("?")


def _of_its_own(
    asked: Asked, paper: Signals, ordered: Sequence[Scored], spelled: Sequence[Scored]
) -> list[Scored]:
    """The story of what the paper itself made; none where no sentence presents it."""
    presenting = [s for s in paper.scored if roles.presents(_text(s))]
    called = [s for s in paper.scored if roles.calls(_text(s))]
    candidates = [s for s in (*presenting, *called, *spelled) if s.names] or presenting
    if not candidates:
        return []
    first = candidates[0]
    at = paper.scored.index(first)
    before = [s for s in paper.scored[:at] if not is_question(s)]
    after = paper.scored[at + 1 :]
    results = [s for s in ordered if s in after and roles.tells("results", _text(s))]
    results.sort(key=lambda s: not s.sentence.quantities)  # stable: the best one, but figures first
    if asked.slot.kind == "limits":
        return [s for s in ordered if s in after and roles.tells_limits(_text(s))]
    match asked.slot.nouns:
        case ("problem",):
            # What stands right before "we propose" is the problem, whatever its words.
            further = [s for s in reversed(before[:-1]) if roles.tells("problem", _text(s))]
            return [*before[-1:], *further[:1]]
        case ("results",):
            return results
        case _:
            # "The resulting method is called X" leans on the sentence before it.
            beside = after[:1] if first in presenting else before[-1:]
            return [first, *beside, *(s for s in results if s not in beside)][:3]


def _text(scored: Scored) -> str:
    return scored.sentence.span.text
