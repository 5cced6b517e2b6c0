"""What a question asks for: the names and figures that tie it down, the kind of answer, the words that
matter.

    >>> asked = read("By how much did SpecPrefill improve time-to-first-token for Llama-3.1-405B?")
    >>> [name.text for name in asked.names], asked.slot.kind
    (['SpecPrefill', 'Llama-3.1-405B'], 'amount')
    >>> read("Which GPU did the authors of VinePPO train on?").slot.kind
    'hardware'
    >>> read("Why does it work?").slot.kind, read("Why does it work?").presumes
    ('reason', True)

Read by rules alone; where they are unsure, nothing is asked for in particular and any sentence may answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rag.chain.titles import Title
from rag.chain.wanted import Slot, head, kind
from rag.text import names, numbers, orders
from rag.text.normalise import plain
from rag.text.sentences import split
from rag.text.spelling import corrected, written_out
from rag.text.stem import stem
from rag.text.tokens import Token, content
from rag.text.words import word_set


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart.

    Attributes:
        text: folded.
        names: of systems, models, datasets in the question.
        figures: numbers in the question, which the evidence must have ("on a 405B model").
        slot: the kind of thing asked for.
        words: the words that matter, without names, figures, and the words of asking.
        head: of the words, those of the noun phrase after "which" or "what".
        bare: the text without the names, so that nearness in meaning is not nearness in name.
        presumes: whether the question takes for granted what it says ("Why does X fail?").
        several: whether it compares or lists.
        titles: of papers found, quoted in the question (``rag.chain.titles``); none before papers are found.
    """

    text: str
    names: tuple[names.Name, ...]
    figures: tuple[numbers.Quantity, ...]
    slot: Slot
    words: tuple[Token, ...]
    head: tuple[Token, ...]
    bare: str
    presumes: bool
    several: bool
    titles: tuple[Title, ...] = ()


_FRAME = word_set(
    "paper papers author authors work study question tell show list name give find say says said state",
    "states stated stand stands mean means kind kinds sort type types exactly according report",
    "reports reported",
    "describe explain compare comparison contrast versus vs difference differ each either both",
    "besides called",
    "which what who whom whose when where why how please know known think use used uses using done",
    "do does did",
    "run runs ran bring brings take takes took give gives given put puts happen happens tried try",
    "tries reach",
    "reaches reached obtain obtained achieve achieves achieved make makes made let lets become becomes still",
    "component components element elements part parts aspect aspects idea ideas sense senses",
    "two three four five six seven eight nine ten",
    "percent percentage points times factor fold amount figure value",
    "come comes get gets got go goes like example e.g end thing things one ones way ways",
    "want wants wanted need needs needed purpose point propose proposes proposed add adds",
    "exist exists existing anything version versions variant variants",
    "briefly brief short summary summarize summarise overview detail details",
    "anyone anybody someone somebody else i e g",
)
_PLACES = word_set("github huggingface url link")  # where a link may lead, no name of a paper
_PRESUMES = re.compile(
    r"^(?:and |but |so )?(?:why\b|how come\b|how (?:did|do|does) .{0,80}\b(?:show|prove|demonstrate"
    r"|find)s? that\b)",
    re.I,
)
_WHY = re.compile(r"^(?:and |but |so )?(?:why\b|how come\b|what (?:is the reason|causes|caused)\b)", re.I)
_SEVERAL = re.compile(
    r"\bcompare\b|\bversus\b|\bvs\b|\bdiffer|\bcontrast|\bboth\b|\beither\b|\b(?:which|what|list|all"
    r"|any) (?:\w+ )"
    r"{0,3}(?:papers|methods|works|approaches|studies|systems)\b|^papers\b|\blist\b"
    # "Which paper has the highest speed-up?": a row of figures, no verdict.
    r"|\b(?:which|what) (?:paper|method|work|approach|study|system)\b.{0,40}\bthe (?:most|best|\w{2,}est)\b",
    re.IGNORECASE,
)
_PAIRED = re.compile(r",? (?:and|or|vs\.?|versus|than)(?: \w+)? ", re.IGNORECASE)


@lru_cache(maxsize=256)
def read(question: str) -> Asked:
    """Return what ``question`` asks for. Orders to the program in it ("ignore the papers") are left out."""
    whole = plain(written_out(question))
    text = orders.asking_part(whole)
    # "Don't waste lessons on what is known. Anyone do that?" has its matter in what looks like an order.
    if text != whole and not names.find(text) and all(t.word in _FRAME for t in content(text)):
        text = whole
    slot = kind(text)
    asking = _PLACES if slot.kind == "place" else slot.nouns
    found = tuple(name for name in names.find(text) if not _is_order(name) and name.key not in asking)
    inside = [(n.start, n.end) for n in found]
    figures = tuple(q for q in numbers.find(text) if _ties_down(q, text, inside) and _is_asked(q.start, text))
    words = tuple(
        _spelt(t)
        for t in content(text)
        if t.word not in _FRAME and not any(a <= t.start < b for a, b in inside) and not t.word[0].isdigit()
    )
    return Asked(
        text,
        tuple(name for name in found if _is_asked(name.start, text)) or found,
        figures,
        slot,
        words,
        _headed(text, words),
        _without(text, found),
        bool(_PRESUMES.match(text)),
        _several(text, found),
    )


def _headed(text: str, words: tuple[Token, ...]) -> tuple[Token, ...]:
    phrase = {token.word for token in content(head(text))}
    return tuple(token for token in words if token.word in phrase)


def _is_asked(offset: int, text: str) -> bool:
    """Whether the place is in a sentence that asks: "Suppose X. What is Y?" ties the answer to Y alone."""
    asking = [span for span in split(text) if span.text.endswith("?")]
    return not asking or any(span.start <= offset < span.end for span in asking)


def _several(text: str, found: tuple[names.Name, ...]) -> bool:
    between = (text[a.end : b.start] for a, b in pairwise(found))
    return bool(_SEVERAL.search(text)) or any(_PAIRED.fullmatch(words) for words in between)


def _spelt(token: Token) -> Token:
    word = corrected(token.word)
    return token if word == token.word else Token(word, stem(word), token.start, token.end)


def _without(text: str, found: tuple[names.Name, ...]) -> str:
    for name in reversed(found):
        if name.strong:
            text = f"{text[: name.start]}it{text[name.end :]}"
    return text


def _is_order(name: names.Name) -> bool:
    return name.text.isupper() and name.text.isalpha() and len(name.text) > 12


def _ties_down(quantity: numbers.Quantity, text: str, inside: list[tuple[int, int]]) -> bool:
    """Whether a figure is a condition of the question: not "two", not the "1" of "o1" or "[1]"."""
    if quantity.spelled or quantity.inside or text[quantity.start - 1 : quantity.start] in ("[", "@"):
        return False
    return not any(a <= quantity.start < b for a, b in inside)
