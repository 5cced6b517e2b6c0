"""Quantities of a text: value, unit, sign and comparison, and whether one text's quantity stands in another.

>>> [(q.value, q.unit, q.bound) for q in find("up to 7.66× faster with 8B parameters, -16.49%")]
[(7.66, 'x', 'upper'), (8000000000.0, '', ''), (-16.49, '%', '')]
>>> agreement(find("7.66 times")[0], find("a 7.66x speedup"))
1.0
>>> agreement(find("7.65 times")[0], find("a 7.66x speedup"))
0.0
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rag.text.normalise import plain
from rag.text.words import singular, word_set


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it stands in folded text.

    Attributes:
        value: with magnitude and explicit sign applied; "8B" is 8e9.
        unit: canonical ("%", "points", "x", "ms", "usd", ...), "" where none is written.
        nouns: the words after it in singular, what is counted ("20 diverse tasks": diverse, task).
        bound: "upper" (up to, at most, <), "lower" (at least, over, >), "near" (about, nearly) or "".
        signed: whether a plus or minus is written.
        step: half a unit of the last digit written, in the scale of ``value``.
        spelled: written as a word.
        inside: part of a name, as in "GPT-4".
        start, end: where it stands in the folded text.
    """

    value: float
    unit: str
    nouns: tuple[str, ...]
    bound: str
    signed: bool
    step: float
    spelled: bool
    inside: bool
    start: int
    end: int


_UNITS = {
    "%": "%", "percent": "%", "per cent": "%", "pct": "%", "percentage points": "points",
    "percentage point": "points", "points": "points", "point": "points", "pp": "points", "pts": "points",
    "absolute points": "points", "×": "x", "x": "x", "X": "x", "times": "x", "fold": "x",
    "ms": "ms", "milliseconds": "ms", "millisecond": "ms", "s": "s", "sec": "s", "secs": "s", "second": "s",
    "seconds": "s", "min": "min", "mins": "min", "minute": "min", "minutes": "min", "h": "h", "hr": "h",
    "hrs": "h", "hour": "h", "hours": "h", "day": "day", "days": "day", "week": "week", "weeks": "week",
    "month": "month", "months": "month", "year": "year", "years": "year", "yr": "year", "yrs": "year",
    "KB": "kb", "MB": "mb", "GB": "gb", "TB": "tb", "GiB": "gb", "MiB": "mb", "gigabytes": "gb",
    "megabytes": "mb", "kilobytes": "kb", "terabytes": "tb", "bit": "bit", "bits": "bit", "byte": "byte",
    "bytes": "byte", "Hz": "hz", "kHz": "khz", "MHz": "mhz", "GHz": "ghz", "dB": "db", "W": "w", "kW": "kw",
    "nm": "nm", "μm": "um", "um": "um", "mm": "mm", "cm": "cm", "m": "m", "km": "km", "ft": "ft", "in": "in",
    "μg": "ug", "mg": "mg", "g": "g", "kg": "kg", "ml": "ml", "mL": "ml", "l": "l", "L": "l", "mmHg": "mmhg",
    "°C": "c", "°F": "f", "°": "deg", "degrees": "deg", "K": "k", "mmol": "mmol", "FLOPs": "flop",
    "dollars": "usd", "USD": "usd", "euros": "eur", "EUR": "eur",
}  # fmt: skip
# Letters that are also words or name parts count as units only right behind the digits or one space before
# a stop.
_TOUCHING = frozenset(["x", "X", "s", "h", "m", "g", "l", "L", "K", "W", "in", "min", "c"])
_MONEY = {"$": "usd", "€": "eur", "£": "gbp", "US$": "usd"}
_MAGNITUDES = {
    "K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "thousand": 1e3, "million": 1e6, "billion": 1e9,
    "trillion": 1e12, "thousands": 1e3, "millions": 1e6, "billions": 1e9, "trillions": 1e12,
}  # fmt: skip
_ONES = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
}  # fmt: skip
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_SPELLED: dict[str, tuple[float, str]] = {
    **{word: (float(value), "") for word, value in {**_ONES, **_TENS}.items()},
    "hundred": (100.0, ""), "dozen": (12.0, ""), "half": (0.5, ""), "quarter": (0.25, ""),
    **dict.fromkeys(("twice", "double", "doubles", "doubled", "doubling", "twofold"), (2.0, "x")),
    **dict.fromkeys(("thrice", "triple", "triples", "tripled", "tripling", "threefold"), (3.0, "x")),
    **dict.fromkeys(("quadruple", "quadruples", "quadrupled", "fourfold"), (4.0, "x")),
    "fivefold": (5.0, "x"), "tenfold": (10.0, "x"), "halve": (0.5, ""), "halves": (0.5, ""),
    "halved": (0.5, ""), "halving": (0.5, ""),
}  # fmt: skip
_BOUNDS = {
    "upper": "up to|at most|no more than|not more than|less than|fewer than|under|below|within|maximum of|"
    "a maximum of|as much as|as many as|<=|≤|<|lower than",
    "lower": "at least|no less than|no fewer than|more than|greater than|larger than|over|above|exceeding|"
    "exceeds|minimum of|a minimum of|beyond|>=|≥|>|higher than",
    "near": "about|around|approximately|approx\\.|roughly|nearly|almost|circa|ca\\.|close to|some|~|≈",
}  # fmt: skip
_KINDS_COUNTED = word_set("parameter token sample example layer gpu device step patient paper language")

_alternatives = "|".join(re.escape(u) for u in sorted(_UNITS, key=len, reverse=True))
_TAIL = re.compile(
    r"(?:(?P<letter>[KkMBT])(?![A-Za-z0-9])|[ -](?P<word>thousands?|millions?|billions?|trillions?)\b)?"
    rf"(?:(?P<space>[ -]?)(?P<unit>{_alternatives})(?![A-Za-z0-9]))?(?P<plus>\+(?!\w))?"
)
_NUMBER = re.compile(
    r"(?P<money>US\$|[$€£])? ?(?P<sign>[-+](?=[\d.]))?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?![\d])(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\w.])\.\d+)"
    r"(?:[eE](?P<e>[-+]?\d+)(?![\w.])|(?: ?[×x*·] ?10)\^(?P<ten>-?\d+)|\^(?P<power>-?\d+))?"
)
_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(_SPELLED)})(?!\w)", re.IGNORECASE)
_MAGNITUDE_STEP = re.compile(r"\b(?:an?|one) order of magnitude\b", re.IGNORECASE)
_BOUND = re.compile(
    rf"(?<![\w<>])(?:{'|'.join(f'(?P<{name}>{words})' for name, words in _BOUNDS.items())})"
    r" ?(?:an? |the )?\(?\Z",
    re.IGNORECASE,
)
_JOINED = re.compile(r" ?(?:(?P<tight>/|-)|,|,? ?to|,? ?and|,? ?or) ?")
# "(1)" and " 2)" number the items of a list.
_ENUMERATOR = re.compile(r"\(\d{1,2}\)(?!\w)|[ :;,]\d{1,2}\) |[ :;,]\(?\d{1,2}\)")
_BEFORE = re.compile(r"(?<![\d ]) ?×\Z")
_AFTER = re.compile(r"[^\W\d_]+(?:'s)?")
_LEADING_NAME = re.compile(r"(?:[^\W\d_][\w.]*\^?|(?<!\d)[A-Z][\w.-]*-)\Z")


def find(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of ``text`` in order; offsets are into ``plain(text)``."""
    folded = plain(text)
    found = [*_digits(folded), *_words(folded)]
    return tuple(_shared_units(folded, sorted(found, key=lambda q: q.start)))


def enumerators(text: str) -> list[int]:
    """Return the numbers that only number the items of a list.

    >>> enumerators("two stages: (1) read, and (2) write")
    [1, 2]
    """
    return [int(m[0].strip(" :;,()")) for m in _ENUMERATOR.finditer(plain(text))]


def _digits(text: str) -> Iterable[Quantity]:
    for match in _NUMBER.finditer(text):
        if _ENUMERATOR.match(text, max(0, match.start("digits") - 1)):
            continue
        sign, begin = _sign(text, match)
        tail = _TAIL.match(text, match.end())
        unit, scale, end = _tail(text, match.end(), tail)
        if match["money"]:
            unit = _MONEY[match["money"]]
        elif not unit and _BEFORE.search(text, max(0, begin - 3), begin):
            unit = "x"
        digits = match["digits"].replace(",", "")
        scale *= _exponent(match)
        value = float(digits) ** int(match["power"]) if match["power"] else float(digits) * scale
        step = 0.5 * 10.0 ** -len(digits.partition(".")[2]) * scale
        inside = bool(_LEADING_NAME.search(text, max(0, begin - 30), begin)) and not sign
        bound = _bound(text, match.start()) or ("lower" if tail and tail["plus"] else "")
        yield Quantity(
            -value if sign == "-" else value, unit, _nouns(text, end), bound, bool(sign), step, False, inside,
            begin, end,
        )  # fmt: skip


def _sign(text: str, match: re.Match[str]) -> tuple[str, int]:
    """Return the sign and where the number begins; the dash of "1.5-2x" or "level-5" is none."""
    if not match["sign"]:
        return "", match.start("digits")
    at = match.start("sign")
    if at and (text[at - 1].isalnum() or text[at - 1] in ")]%×"):
        return "", match.start("digits")
    return match["sign"], at


def _exponent(match: re.Match[str]) -> float:
    power = match["e"] or match["ten"]
    return 10.0 ** int(power) if power else 1.0


def _tail(text: str, end: int, tail: re.Match[str] | None) -> tuple[str, float, int]:
    """Return unit, magnitude and end of what follows the digits."""
    if tail is None:
        return "", 1.0, end
    scale = _MAGNITUDES[tail["letter"] or tail["word"]] if tail["letter"] or tail["word"] else 1.0
    unit = tail["unit"]
    after = tail.end("unit")
    if unit and unit in _TOUCHING and tail["space"] and text[after : after + 1].isspace():
        unit = None  # "5 in all", "3 x 4"
    if unit in ("x", "X", "×") and re.match(r" ?\d", text[after : after + 2]):
        unit = None
    stop = after if unit else max(end, tail.end("letter"), tail.end("word"))
    return (_UNITS[unit] if unit else ""), scale, stop


def _words(text: str) -> Iterable[Quantity]:
    for match in _WORD.finditer(text):
        value, unit = _SPELLED[match[0].lower()]
        written, scale, end = _tail(text, match.end(), _TAIL.match(text, match.end()))
        if match[0].lower() == "one" and not written and scale == 1.0:
            continue  # a pronoun more often than a count
        bound = _bound(text, match.start())
        yield Quantity(
            value * scale,
            unit or written,
            _nouns(text, end),
            bound,
            False,
            0.0,
            True,
            False,
            match.start(),
            end,
        )
    for match in _MAGNITUDE_STEP.finditer(text):
        yield Quantity(
            10.0, "x", (), _bound(text, match.start()), False, 0.0, True, False, match.start(), match.end()
        )


def _bound(text: str, start: int) -> str:
    found = _BOUND.search(text[max(0, start - 24) : start])
    return str(found.lastgroup) if found else ""


def _nouns(text: str, end: int) -> tuple[str, ...]:
    clause = re.split(r"[.,;:()]", text[end : end + 60], maxsplit=1)[0]
    return tuple(singular(word.lower()) for word in _AFTER.findall(clause)[:5])


def _shared_units(text: str, found: list[Quantity]) -> list[Quantity]:
    """Give "5.85/4.70 points", "1.5-2x" and "3/8/32B" the unit and magnitude that is written only once."""
    for i in range(len(found) - 2, -1, -1):
        left, right = found[i], found[i + 1]
        joint = _JOINED.fullmatch(text, left.end, right.start)
        if not joint or left.unit or left.inside or left.spelled:
            continue
        scale = _letter_scale(text, right) if joint["tight"] and left.value < 1000 else 1.0
        if right.unit or scale != 1.0:
            found[i] = replace(
                left, unit=right.unit, value=left.value * scale, nouns=right.nouns, step=left.step * scale
            )
    return found


def _letter_scale(text: str, quantity: Quantity) -> float:
    match = _NUMBER.match(text, quantity.start)
    if match is None or quantity.unit or match["e"] or match["ten"] or match["power"]:
        return 1.0
    bare = float(match["digits"].replace(",", ""))
    return quantity.value / bare if bare else 1.0


def agreement(claim: Quantity, evidence: Iterable[Quantity]) -> float:
    """Return how well ``claim`` stands in ``evidence``: 1.0 it does, 0.5 with a reservation, 0.0 not."""
    return max((_agree(claim, other) for other in evidence if not other.inside), default=0.0)


def _agree(claim: Quantity, other: Quantity) -> float:
    value = _same_value(claim, other)
    if not value:
        return 0.0
    if {claim.bound, other.bound} == {"upper", "lower"}:
        return 0.0
    return min(value, _same_unit(claim, other))


def _same_value(claim: Quantity, other: Quantity) -> float:
    mine, theirs = claim.value, other.value
    if claim.signed != other.signed:
        # "a drop of 16.49%" for "-16.49%" is right; "+16.49%" or "-7.66×" made of nothing is not.
        if claim.signed and mine < 0:
            return 0.0
        mine, theirs = abs(mine), abs(theirs)
    if abs(mine - theirs) <= 1e-9 * max(abs(mine), abs(theirs)):
        return 1.0
    if claim.spelled and claim.value < 1 and other.unit == "%":
        return float(theirs == 100 * mine)
    gap = theirs - mine
    near = claim.bound == "near" and abs(gap) <= claim.step
    over = claim.bound == "lower" and 0 <= gap < 2 * claim.step
    under = claim.bound == "upper" and -2 * claim.step < gap <= 0
    return 1.0 if near or over or under else 0.0


def _same_unit(claim: Quantity, other: Quantity) -> float:
    if claim.spelled and claim.value < 1 and other.unit == "%":
        return 1.0  # "half" of "50%"
    if claim.unit == other.unit:
        return 0.0 if _counted(claim) and _counted(other) and _counted(claim) != _counted(other) else 1.0
    if not claim.unit:
        # "by 7.66" for "by 7.66×" lacks something; "20 benchmarks" for "20%" is another thing.
        return 0.5 if claim.step < 0.5 or set(claim.nouns[:1]) & set(other.nouns[:1]) else 0.0
    if not other.unit or {claim.unit, other.unit} == {"%", "points"}:
        return 0.5
    return 0.0


def _counted(quantity: Quantity) -> str | None:
    """Return what is counted, where it is one of the things that a mistake likes to exchange."""
    if quantity.unit:
        return None
    return next((noun for noun in quantity.nouns[:1] if noun in _KINDS_COUNTED), None)
