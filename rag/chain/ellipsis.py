"""Questions that are only a part of one: the rest is taken from the question before.

How much faster does RL converge with Q-RM on GSM8K?
    What about on MATH?     ->  How much faster does RL converge with Q-RM on MATH?
    And VinePPO?            ->  How much faster does RL converge with VinePPO on GSM8K?
    And without training?   ->  How much faster does RL converge with Q-RM on GSM8K without training?
    Why?                    ->  How much faster does RL converge with Q-RM on GSM8K, and why?
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.chain.turns import Cited, Context, mentions, places
from rag.text.names import Name, find, key
from rag.text.normalise import fold
from rag.text.tokens import content

_LINK = r"(?:(?:and|but|so|also|ok(?:ay)?|now|then|even)\b,?\s*)"
_ABOUT = re.compile(rf"^{_LINK}*(?:what|how)\s+about\s+(.+)$", re.IGNORECASE)
_LINKED = re.compile(rf"^{_LINK}+(.+)$", re.IGNORECASE)
_BARE = re.compile(
    rf"^{_LINK}*((?:why|how|how so|how come|since when|where|when|who|by how much|how much|how many|for what"
    r"|on what|in what way|which|what for|with what|compared to what)(?: not| then| exactly| else)?)$",
    re.IGNORECASE,
)
_PREPOSITION = (
    r"(?:on|for|with|without|in|at|under|using|by|over|from|after|before|during|against|via|besides|when|if"
    r"|unless)"
)
_ADVERBIAL = re.compile(rf"^({_PREPOSITION})\s+(.+)$", re.IGNORECASE)
_AUXILIARY = r"is|are|was|were|do|does|did|can|could|will|would|should|has|have|had"
# "When was it published?" asks, "when it was published" adds.
_INVERTED = re.compile(rf"when (?:{_AUXILIARY})\b", re.IGNORECASE)
_VERB = re.compile(
    rf"\b(?:{_AUXILIARY}|why|how|what|which|who|where|list|compare|explain|show|give|tell|find)\b",
    re.IGNORECASE,
)
_LONGEST = 8
_HYPHENS = frozenset("-‐‑")


def complete(question: str, context: Context) -> str | None:
    """Return the whole question that a fragment stands for; None when it is no fragment."""
    text = question.rstrip(" ?!.")
    before = context.last.standalone.rstrip(" ?!.")
    if bare := _BARE.match(text):
        return f"{before}, and {bare[1][0].lower()}{bare[1][1:]}?"
    part = _part(text)
    if part is None or not context.main():
        return None
    if adverbial := _ADVERBIAL.match(part):
        return _swapped_after(adverbial[1], adverbial[2], before) or f"{before} {part}?"
    return _about(part, before, context)


def _part(text: str) -> str | None:
    """The words that take the place of others, without "what about"; None for a question with a verb."""
    if about := _ABOUT.match(text):
        return about[1]
    linked = _LINKED.match(text)
    part = linked[1] if linked else text
    if _INVERTED.match(part):
        return None
    clause = re.match(r"(?:when|if|unless)\b[^,]*$", part, re.IGNORECASE)
    verbless = len(part.split()) <= _LONGEST and not _VERB.search(part)
    begins = linked or _ADVERBIAL.match(part)
    return part if begins and (clause or verbless) else None


def _swapped_after(preposition: str, wanted: str, before: str) -> str | None:
    """Put ``wanted`` in the place of the last name behind the same preposition."""
    if not find(wanted):
        return None
    behind = re.compile(rf"\b{preposition}\s+(?:the\s+)?$", re.IGNORECASE)
    for _, start, end in reversed(_named(before)):
        if found := behind.search(before[:start]):
            return _replaced(before, [(found.start(), end)], f"{preposition} {wanted}")
    return None


def _about(part: str, before: str, context: Context) -> str | None:
    """A thing of the same paper takes the place of another thing; any other takes that of the paper."""
    paper = context.main()[0]
    if not find(part):
        if other := context.called(part):
            return _in_place_of(paper, other.name, before) or f"What about {other.name}: {before}?"
        # "What about tree search?", of which the paper says nothing, is a new topic.
        return f"What about {part}, in {paper.name}?" if context.shared(part) or not content(part) else None
    if context.foreign(part):
        return _in_place_of(paper, part, before) or f"What about {part}: {before}?"
    others = [(a, b) for name, a, b in _named(before) if name.strong and not mentions(name.text, paper)]
    return _replaced(before, others, part) if len(others) == 1 else None


def _named(text: str) -> list[tuple[Name, int, int]]:
    """The names of ``text``, each with where it begins and ends there."""
    folded = fold(text)
    return [(name, *folded.back(name.start, name.end)) for name in find(folded.text)]


def _in_place_of(paper: Cited, new: str, before: str) -> str | None:
    """Put ``new`` wherever the paper is named; in compounds ("ProX-refined") only if it is nowhere else."""
    if paper.is_title and paper.name in before:  # with its quotation marks
        return f"{before.replace(paper.name, new, 1)}?"
    spans = places(before, key(paper.name))
    alone = [(a, b) for a, b in spans if not {before[a - 1 : a], before[b : b + 1]} & _HYPHENS]
    return _replaced(before, alone or spans[:1], new) if spans else None


def _replaced(before: str, spans: Sequence[tuple[int, int]], new: str) -> str:
    for start, end in reversed(spans):
        before = f"{before[:start]}{new}{before[end:]}"
    return f"{before}?"


def swapped(question: str, context: Context, new: Sequence[Cited]) -> str | None:
    """Ask the question before of another paper: "What about the second one?"."""
    before = context.last.standalone.rstrip(" ?!.")
    for cited in context.subject if _part(question.rstrip(" ?!.")) else ():
        if whole := _in_place_of(cited, new[0].name, before):
            return whole
    return None
