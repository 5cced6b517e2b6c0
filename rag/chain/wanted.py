"""The kind of thing a question asks for, read off its words.

    >>> kind("How many problems are in X?")
    Slot(kind='count', nouns=('problem',), near=(), unit='', words='how many problems')
    >>> kind("Which embedding model does X use?").kind, kind("What learning rate was used?").nouns
    ('named', ('rate',))
    >>> kind("How does X work?").kind
    ''

Read by rules; where they are unsure nothing in particular is asked for, and any sentence may answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.text.stem import stem
from rag.text.words import singular, word_set


@dataclass(frozen=True, slots=True)
class Slot:
    """What is asked for.

    Attributes:
        kind: "count" (how many X), "amount" (how much, what rate), "named" (a model, a dataset: something
            with a name), "listed" (the two parts), "part" (of a paper, see ``roles``), "limits", "reason",
            "duration", "money", "hardware", "language", "licence", "place" (a link), "person", or "".
        nouns: what is counted (the last one in singular), or the stem of the measure or of the thing named.
        near: stems of the words before it ("embedding" of "which embedding model").
        unit: the unit wanted ("%", "x", "points", "size"), "" for any.
        words: how to say in a sentence what is not stated.
    """

    kind: str = ""
    nouns: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    unit: str = ""
    words: str = ""

    @property
    def telling(self) -> bool:
        """Whether such a thing is what was asked for wherever it stands: there is rarely a second."""
        return self.kind in ("hardware", "money", "duration", "licence", "place") or self.unit == "size"


_WHY = re.compile(r"^(?:and |but |so )?(?:why\b|how come\b|what (?:is the reason|causes|caused)\b)", re.I)
_DURATION = re.compile(
    r"\bhow long (?:does|did|do|will|would) .{0,80}\b(?:take|last|run|train)\b|\bhow long (?:is|was|should)\b"
    r"|\bhow many (?:\w+[ -])?(?:hours?|days?|weeks?|minutes?|seconds?)\b",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"\bhow much (?:does|did|do|would) .{0,60}\bcosts?\b(?! (?:fall|drop|decrease|shrink|rise|grow|go)\b)"
    r"|\b(?:price|dollars|usd|euros?)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\bwhere (?:can|could|do|may) (?:i|we|one|you) (?:find|download|get|obtain)\b|\bdownload\b"
    r"|\b(?:url|link|github|repository)\b"
    r"|^(?:and |is there |any )?(?:the |their |its |any )?(?:source )?code(?: available)?(?=[,?]|$)"
    r"|^where (?:is|are) the (?:\w+ )?(?:code|datasets?|data|weights)\b"
    r"|\b(?:is|are) (?:(?:the|their|its|any|there) )?(?:\w+ )?(?:code|datasets?|data|weights|models?)\b"
    r".{0,40}\b(?:available|public(?:ly)?|released|shared|open(?:-source[d]?)?)\b",
    re.IGNORECASE,
)
_LICENCE = re.compile(r"\blicen[cs]e\b", re.IGNORECASE)
_WHO = re.compile(r"^(?:and |but |so )?(?:who|whom|by whom)\b(?! (?:won|is|was|are|were)\b)", re.IGNORECASE)
_PLAIN_KINDS = (
    (_WHY, "reason", "why"),
    (_DURATION, "duration", "how long it takes"),
    (_MONEY, "money", "the cost in money"),
    (_PLACE, "place", "where it can be downloaded"),
    (_LICENCE, "licence", "the licence"),
    (_WHO, "person", "who"),
)
_UNITS = (
    (re.compile(r"\b(?:percent|percentage|per cent|fraction|proportion|share)\b", re.IGNORECASE), "%"),
    (
        re.compile(r"\bmodel sizes?\b|\bat (?:which|what) sizes?\b|\bhow many parameters\b", re.IGNORECASE),
        "size",
    ),
    (re.compile(r"\bhow many times\b|\b(?:by|what) factor\b", re.IGNORECASE), "x"),
)
_COUNT = re.compile(r"\bhow many (?P<noun>[\w' -]{2,60})", re.IGNORECASE)
_AMOUNT = re.compile(
    r"\bhow (?:much|far|fast|quick(?:ly)?|large|big|high|low|strong|close|often|small)\b"
    r"|\breported (?:speed-?ups?|gains?|improvements?|reductions?|numbers|figures)\b"
    r"|^(?:average|mean|median|maximum|minimum|max|number of|rate)\b"
    r"|\bhow (?!(?:do|does|did|can|could|to|is|are|was|were|should|would|will)\b).{0,20}"
    r"(?:faster|slower|quicker|better|worse|larger|smaller|cheaper)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"\b(?:which of the|which|whose|what (?:is|was|are|were) the names? of (?:the |a )?|what|name the) ?"
    r"(?P<phrase>[^?,;:(]{2,80})",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"\b(?:what|which|name)(?: are| were)? (?:the |its |their )?(?P<count>two|three|four|five"
    r"|six) (?P<noun>\w+)",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    r"\bwhat(?: is| was| are| were|'s) (?:the |an? )?(?P<phrase>[^?,;:(]{2,80})", re.IGNORECASE
)
# Where the noun phrase after "which" ends at the latest.
_ENDS = word_set(
    "is are was were be been do does did has have had can could will would should may must might in",
    "on of for to",
    "from with by as at than that which who the a an it they he she we you his its their and or used using",
    "besides except like during after before under over when while per",
)
_COUNTED_UNTIL = _ENDS | word_set("per wrote needed required make made take takes")
# Measures that go by their own name: no other figure answers "what FID".
METRICS = word_set("bleu rouge fid wer cer map ap iou miou psnr ssim auc auroc f1 likelihood log-likelihood")
_MEASURES = METRICS | word_set(
    "percentage percent fraction proportion share ratio factor rate accuracy score speedup speed-up",
    "gain size margin",
    "perplexity figure number value length dimension dimensionality rank temperature depth width",
    "threshold budget",
    "throughput bandwidth frequency improvement reduction drop increase precision recall amount dose norm",
)
# "What fraction of tokens": whose, the rest says.
_ANY_MEASURE = word_set("percentage percent fraction proportion share figure number value amount name part")
_OF = re.compile(r"(?P<phrase>(?:[\w-]+ ){1,3}of (?:the |an? )?[\w -]{2,60})", re.IGNORECASE)
# Measures only with a word before them: "which embedding dimension", but "along which dimension".
_VAGUE = word_set("dimension factor size length increase drop norm map likelihood")
_NAMED = word_set(
    "model llm network backbone teacher student baseline dataset benchmark corpus checkpoint",
    "tokenizer optimizer",
    "verifier simulator library journal company university country city hospital institution judge",
    "api speculator",
    "architecture retriever encoder decoder engine toolkit solver critic",
)
_HARDWARE = word_set("gpu hardware tpu accelerator chip card device")
_KINDS_OF = word_set("type types model models kind card cards setup")
# Words before a noun that do not tie it to anything.
_LOOSE = word_set(
    "large larger small smaller big bigger new other open closed commercial different base several",
    "many existing",
    "external larger-scale main best good better first second two three four five language own real",
    "standard public",
)


def kind(question: str) -> Slot:
    """Return what kind of thing ``question`` asks for."""
    for pattern, name, words in _PLAIN_KINDS:
        if pattern.search(question):
            return Slot(name, words=words)
    if found := _LISTED.search(question):
        return Slot(
            "listed", (singular(found["noun"].lower()),), words=f"which {found['count']} {found['noun']}"
        )
    unit = next((unit for pattern, unit in _UNITS if pattern.search(question)), "")
    if found := _COUNT.search(question):
        return _counted(found["noun"], unit)
    if found := _AMOUNT.search(question):
        return Slot("amount", unit=unit, words=_figure(found[0]))
    if (found := _WHAT_IS.search(question)) and (slot := _thing(found["phrase"], unit)).kind == "amount":
        return slot
    return next((slot for m in _WHICH.finditer(question) if (slot := _thing(m["phrase"], unit)).kind), Slot())


def head(question: str) -> str:
    """Return what stands right after "which" or "what (is the)", but for "fraction" and its kind.

    >>> head("What learning rate schedule was used?"), head("Size of the context window?"), head("Is it?")
    ('learning rate schedule', 'Size context window', '')
    """
    opened = _WHAT_IS.search(question) or _WHICH.search(question) or _OF.match(question)
    if not opened:
        return ""
    parts = (part.removeprefix("the ") for part in opened["phrase"].split(" of "))
    words = [word for part in parts for word in _until(part, _ENDS)[:5]]
    return " ".join(word for word in words[:6] if singular(word.lower()) not in _ANY_MEASURE)


def _figure(words: str) -> str:
    """Return words for what is not stated: "how much", whatever else the pattern took in."""
    return "how much" if re.search(r"\b(?:do|does|did|is|was|are|were)\b", words) else words.lower()


def _until(text: str, ends: frozenset[str]) -> list[str]:
    words: list[str] = []
    for word in text.split():
        if word.lower() in ends:
            break
        words.append(word.removesuffix("'s"))
    return words


def _counted(noun: str, unit: str) -> Slot:
    """Tell "how many scenarios was it" (a count) from "how many points" and "how many times faster"."""
    words = _until(noun, _COUNTED_UNTIL)
    singulars = [singular(word.lower()) for word in words]
    said = f"how many {' '.join(words)}".strip()
    if not singulars or singulars[0] in ("time", "fold"):
        return Slot(
            "amount", unit="x" if singulars else unit, words="how many times" if singulars else "how many"
        )
    if singulars[0] in ("fewer", "more", "less"):  # also "30% fewer steps"
        return Slot("amount", words=said)
    if {"point", "percent"} & set(singulars) or unit:
        return Slot("amount", unit=unit or "points", words=said)
    return Slot("count", tuple(singulars), words=said)


def _thing(phrase: str, unit: str) -> Slot:
    """Return what "which ..." asks for: a measure, or a thing that has a name.

    The noun stands first ("which model plays the critic") or at the end of the phrase ("which embedding
    model"); in its middle it is another noun's ("what keeps length growth stable").
    """
    words = _until(phrase, _ENDS)[:6]
    said = " ".join(words)
    for place in range(len(words) - 1, -1, -1):
        if 0 < place < len(words) - 1 and not (place == 1 and len(words) == 3):
            continue
        word = singular(words[place].lower().rpartition("-")[2])
        near = () if not place or words[place - 1].lower() in _LOOSE else (stem(words[place - 1].lower()),)
        if word in _HARDWARE and (place == len(words) - 1 or words[-1].lower() in _KINDS_OF):
            return Slot("hardware", (word,), words=f"which {said}")
        if word == "language" and place == len(words) - 1:
            return Slot("language", (word,), words=f"which {said}")
        if word in _MEASURES and place in (0, len(words) - 1) and (near or unit or word not in _VAGUE):
            return Slot("amount", (stem(word),), near, unit, f"what {said}")
        if word in _NAMED:
            return Slot("named", (stem(word),), near, words=f"which {said}")
    return Slot()
