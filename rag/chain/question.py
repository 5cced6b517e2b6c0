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

from rag.text import names, numbers
from rag.text.normalise import plain
from rag.text.spelling import corrected
from rag.text.stem import stem
from rag.text.tokens import Token, content, tokens
from rag.text.words import word_set


@dataclass(frozen=True, slots=True)
class Slot:
    """The kind of thing asked for ("" for anything), the stems of what is counted, the unit wanted ("" for
    any).

    Kinds: "count" (how many X), "amount" (how much, what percentage), "hardware", "language", "place" (a
    link), "money", "duration", "licence", "reason", "named" (a model, a dataset: something that has a name).
    """

    kind: str = ""
    nouns: tuple[str, ...] = ()
    unit: str = ""
    words: str = ""

    @property
    def telling(self) -> bool:
        """Whether such a thing is what was asked for wherever it stands: there is rarely a second."""
        return self.kind in ("hardware", "money", "duration", "licence", "place") or self.unit in (
            "size",
            "%",
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart.

    Attributes:
        text: folded.
        names: of systems, models, datasets in the question.
        figures: numbers in the question, which the evidence must have ("on a 405B model").
        slot: the kind of thing asked for.
        words: the words that matter, without names, figures, and the words of asking.
        bare: the text without the names, so that nearness in meaning is not nearness in name.
        presumes: whether the question takes for granted what it says ("Why does X fail?").
        several: whether it compares or lists.
    """

    text: str
    names: tuple[names.Name, ...]
    figures: tuple[numbers.Quantity, ...]
    slot: Slot
    words: tuple[Token, ...]
    bare: str
    presumes: bool
    several: bool


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
    "percent percentage points times factor fold amount figure value",
    "come comes get gets got go goes like example e.g end thing things one ones way ways want need",
)
_AMOUNT = re.compile(
    r"\bhow (?:much|far|fast|quick(?:ly)?|large|big|high|low|strong|close|often)\b|\bby (?:what"
    r"|which) (?:factor|margin|"
    r"percentage|amount)\b|\b(?:what|which) (?:\w+ ){0,2}(?:percentage|percent|fraction|proportion"
    r"|share|ratio|factor|"
    r"rate|accuracy|score|speed-?ups?|gain|size|sizes|margin|perplexity|figure|number|value)\b"
    r"|\breported (?:speed-?ups?|gains?|improvements?|reductions?|numbers|figures)\b|^(?:average|mean"
    r"|median|maximum|minimum|max|number of|rate)\b|\bhow .{0,20}(?:faster|slower|quicker|better|worse|"
    r"larger|smaller|cheaper)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\bhow many (?P<noun>[\w' -]{2,60})|\bnumber of (?P<of>[\w' -]{2,40})", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|in|on|of|for|with|to|per"
    r"|from|that|did|"
    r"wrote|used|needed|required|make|made|take|takes)\b"
)
_WHICH = re.compile(
    r"\b(?:which|what|name the|list the|on what|on which)(?P<before>(?: [\w/'-]+){0,4}?) (?P<noun>[\w-]+)\b"
    r"(?= (?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|used|in|on|of|for|to|as"
    r"|acts?|produced|"
    r"served|besides|covers?|serves?|that|should|must|the|they|\()|\?|,|$| \()",
    re.IGNORECASE,
)
_NAMED = {
    stem(word)
    for word in word_set(
        "model models llm llms network backbone teacher student baseline dataset datasets benchmark",
        "benchmarks corpus",
        "corpora checkpoint tokenizer optimizer verifier simulator library journal company",
        "university country city",
        "hospital institution embedding judge annotator language languages api apis dataset",
        "speculator architecture",
    )
}
_HARDWARE = {
    stem(w) for w in word_set("gpu gpus hardware tpu tpus accelerator accelerators chip chips cards device")
}
_LANGUAGES = re.compile(r"\b(?:programming |human |natural )?languages?\b", re.IGNORECASE)
_PLACE = re.compile(
    r"\bwhere (?:can|could|do|may) (?:i|we|one|you) (?:find|download|get|obtain)\b|\b(?:url|link"
    r"|github|repository)\b"
    r"|\bdownload\b",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"\bhow much (?:does|did|do|would) .{0,60}\bcosts?\b|\b(?:price|dollars|usd|euros?)\b", re.I
)
_LICENCE = re.compile(r"\blicen[cs]e\b", re.IGNORECASE)
_DURATION = re.compile(
    r"\bhow long (?:does|did|do|will|would) .{0,80}\b(?:take|last|run|train)\b"
    r"|\bhow many (?:\w+ )?(?:hours?|days?|weeks?|"
    r"minutes?|seconds?|gpu[- ]hours?)\b|\bhow long (?:is|was|should|do)\b",
    re.IGNORECASE,
)
_UNITS = (
    (re.compile(r"\b(?:percent|percentage|per cent|fraction|proportion|share)\b", re.I), "%"),
    (re.compile(r"\bmodel sizes?\b|\bat (?:which|what) sizes?\b|\bhow many parameters\b", re.I), "size"),
    (re.compile(r"\bhow many times\b|\bfactor\b|\bhow many-?fold\b", re.I), "x"),
)
_PRESUMES = re.compile(
    r"^(?:and |but |so )?(?:why\b|how come\b|how (?:did|do|does) .{0,80}\b(?:show|prove|demonstrate"
    r"|find)s? that\b)",
    re.I,
)
_WHY = re.compile(r"^(?:and |but |so )?(?:why\b|how come\b|what (?:is the reason|causes|caused)\b)", re.I)
_SEVERAL = re.compile(
    r"\bcompare\b|\bversus\b|\bvs\b|\bdiffer|\bcontrast|\bboth\b|\beither\b|\b(?:which|what|list|all"
    r"|any) (?:\w+ )"
    r"{0,3}(?:papers|methods|works|approaches|studies|systems)\b|^papers\b|\blist\b",
    re.IGNORECASE,
)
_PAIRED = re.compile(r",? (?:and|or|vs\.?|versus|than)(?: \w+)? ", re.IGNORECASE)
_DEMAND = re.compile(
    r"\b(?:ignore|disregard|forget) (?:the|all|any|previous|every)\b[^.?!]*[.?!]?|\b(?:reply|answer"
    r"|respond) only with\b"
    r"[^.?!]*[.?!]?|\bwhen you (?:answer|reply)\b.*|\b(?:begin|start|end|finish) (?:your"
    r"|the) (?:answer|reply)\b.*"
    r"|\band cite (?:it|this|them)? ?(?:as )?\[?\d+\]?",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def read(question: str) -> Asked:
    """Return what ``question`` asks for. Orders to the program in it ("ignore the papers") are left out."""
    text = plain(_DEMAND.sub(" ", question)).strip() or plain(question)
    slot = _slot(text)
    found = tuple(name for name in names.find(text) if not _is_order(name) and name.key not in slot.nouns)
    inside = [(n.start, n.end) for n in found]
    figures = tuple(q for q in numbers.find(text) if _ties_down(q, text, inside))
    words = tuple(
        _spelt(t)
        for t in content(text)
        if t.word not in _FRAME and not any(a <= t.start < b for a, b in inside) and not t.word[0].isdigit()
    )
    return Asked(
        text,
        found,
        figures,
        slot,
        words,
        _without(text, found),
        bool(_PRESUMES.match(text)),
        _several(text, found),
    )


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


def _slot(text: str) -> Slot:
    plain_kinds = (
        (_WHY, "reason", "why"),
        (_DURATION, "duration", "how long it takes"),
        (_MONEY, "money", "the cost in money"),
        (_PLACE, "place", "where it can be downloaded"),
        (_LICENCE, "licence", "the licence"),
    )
    for pattern, kind, words in plain_kinds:
        if pattern.search(text):
            return Slot(kind, words=words)
    unit = next((unit for pattern, unit in _UNITS if pattern.search(text)), "")
    if (found := _COUNT.search(text)) and found["noun"]:
        return _count_slot(found["noun"], unit)
    if found := _AMOUNT.search(text):
        return Slot("amount", unit=unit, words=_figure(found[0]))
    return _which_slot(found) if (found := _WHICH.search(text)) else Slot()


def _figure(words: str) -> str:
    """Return words for what is not stated: "what percentage", but "how much" for "how much does it"."""
    return "how much" if re.search(r"\b(?:do|does|did|is|was|are|were)\b", words) else words


def _count_slot(noun: str, unit: str) -> Slot:
    """ "how many code translation scenarios was it" counts scenarios; "how many points" is an amount."""
    phrase = _VERB.split(noun, maxsplit=1)[0].strip()
    nouns = [stem(t.word) for t in tokens(phrase)]
    if not nouns:
        return Slot("amount", unit=unit, words="how many")
    if nouns[0] in ("time", "fold"):
        return Slot("amount", unit="x", words="how many times")
    if nouns[-1] in (stem("points"), stem("percent")) or unit:
        return Slot("amount", unit=unit or "points", words=f"how many {phrase}")
    return Slot("count", tuple(nouns), words=f"how many {phrase}")


def _which_slot(found: re.Match[str]) -> Slot:
    head = stem(found["noun"].lower())
    phrase = f"{found['before'].strip()} {found['noun']}".strip()
    if head in _HARDWARE:
        return Slot("hardware", (head,), words=f"which {phrase}")
    if _LANGUAGES.fullmatch(found["noun"]):
        return Slot("language", (head,), words=f"which {phrase}")
    if head in _NAMED:
        return Slot("named", (head,), words=f"which {phrase}")
    return Slot()
