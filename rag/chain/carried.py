"""Whether a question without a word that points back still asks about the paper just spoken of.

After "What is AnyEdit?":
    "code?", "which datasets", "how many examples", "more details"      about AnyEdit
    "papers on quantization", "What is PILAF?", "tree search"           about something else
    "does editing poems lose accuracy"                                  either: the one that is answered

``standalone`` asks this of questions in which no word points back.
"""

from __future__ import annotations

import re
from enum import Enum

from rag.chain import roles
from rag.chain.mention_words import AUXILIARY, LINKED
from rag.chain.question import read
from rag.chain.turns import Context, mentions
from rag.text.words import word_set

_DEFINITE = re.compile(r"\bthe\s+([\w-]+)\b(?!\s+(?:of|by|from|for|in|that|which)\b)", re.IGNORECASE)
_SUMS_UP = re.compile(r"\b(?:summar|overview\b|explain\b|describe\b)", re.IGNORECASE)
_ASKS = re.compile(rf"^(?:{AUXILIARY}|why|how)\b", re.IGNORECASE)
_ABOUT_THE_PILE = re.compile(
    r"\b(?:papers?|articles?|abstracts?|anything|something|anyone|someone|everything|everyone)\b",
    re.IGNORECASE,
)
# What nearly every paper has, so that whoever asks for it alone has a paper in mind.
_ATTRIBUTES = word_set(
    "code github repo repository data dataset datasets benchmark benchmarks model models baseline baselines",
    "result results gain gains improvement improvements cost costs time speed speedup size sizes accuracy",
    "limitation limitations author authors year venue link url license licence hardware gpu gpus example",
    "examples detail details task tasks metric metrics loss experiment experiments evaluation ablation",
    "ablations assumption assumptions guarantee guarantees numbers figures parameters language languages",
    "efficiency memory weights checkpoints demo website title date conference journal bibtex citation doi",
)
_POLITE = word_set("please pls full complete whole all list again exactly")
_ON_TOPIC = 0.6  # share of its words that ties a question to a paper
_SHORT = 3  # words that matter in a question that leaves its topic out


class Carried(Enum):
    """What a question is about: the paper spoken of, first that and else the pile, or the reverse."""

    YES = "yes"
    FIRST = "first"
    ELSE = "else"
    NO = "no"


def carried(question: str, context: Context) -> Carried:
    """Return whether ``question`` asks about the main paper of the last turns."""
    main = context.main()
    if not main or context.foreign(question) or mentions(question, main[0]):
        return Carried.NO
    if LINKED.match(question) or asks_for_a_part(question):
        return Carried.YES
    words = {token.word for token in read(question).words} - _POLITE
    if words <= _ATTRIBUTES and not _ABOUT_THE_PILE.search(question):
        return Carried.YES  # "author list"
    if read(question).several or _ABOUT_THE_PILE.search(question):
        return Carried.NO
    return _by_words(question, context)


def _by_words(question: str, context: Context) -> Carried:
    """What a question without names and links is about, by how many of its words the paper has."""
    asked, shared = read(question), context.shared(question)
    words = [token.word for token in asked.words]
    attributes = sum(word in _ATTRIBUTES for word in words)
    parts = len(words) <= _SHORT and (not words or bool(asked.slot.kind and attributes))
    definite = any(context.has_word(match[1]) for match in _DEFINITE.finditer(question))
    if parts or (definite and shared >= _ON_TOPIC):
        return Carried.YES
    if len(words) >= _SHORT or asked.slot.kind:
        return Carried.FIRST if shared >= _ON_TOPIC or attributes else Carried.ELSE
    # "Is it fast?", "sample efficiency?" ask for a part of something; "tree search" is a topic.
    if attributes and (shared or _ASKS.match(question)):
        return Carried.YES
    likely = Carried.FIRST if _ASKS.match(question) else Carried.ELSE
    return likely if shared else Carried.ELSE if _ASKS.match(question) else Carried.NO


def asks_for_a_part(question: str) -> bool:
    """Whether a question asks for what every paper has, "the main results?", and does not say of which."""
    asked = read(question)
    if asked.names or asked.several or asked.slot.kind not in ("", "reason"):
        return False
    words = [token.word for token in asked.words]
    return roles.asked_for(words) is not None if words else bool(_SUMS_UP.search(question))
