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
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from math import inf, isinf

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
        beyond: the number itself where no float can hold it, "1E+500"; ``value`` is infinite then, or 0.
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
    beyond: str = ""


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
    "dollars": "usd", "USD": "usd", "euros": "eur", "EUR": "eur", r"\times": "x", r"\%": "%",
}  # fmt: skip
# Letters that are also words or name parts count as units only right behind the digits or one space before
# a stop.
_TOUCHING = frozenset(["x", "X", "s", "h", "m", "g", "l", "L", "K", "W", "in", "min", "c"])
_MONEY = {"$": "usd", "€": "eur", "£": "gbp", "US$": "usd"}
_MAGNITUDES = {
    "K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "thousand": 1e3, "million": 1e6, "billion": 1e9,
    "trillion": 1e12, "thousands": 1e3, "millions": 1e6, "billions": 1e9, "trillions": 1e12, "dozen": 12.0,
    "hundred": 1e2,
}  # fmt: skip
_ONES = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
}  # fmt: skip
_TEENS = {
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
_TIMES = {
    "dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
_PARTS = {
    "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip
_VALUES = {"a": 1, "an": 1, "zero": 0, **_ONES, **_TEENS, **_TENS}
_SPELLED: dict[str, tuple[float, str]] = {
    "half": (0.5, ""), "quarter": (0.25, ""),
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
    r"(?:(?P<letter>[KkMBT])(?![A-Za-z0-9])"
    r"|[ -](?P<word>dozen|hundred|thousands?|millions?|billions?|trillions?)\b)?"
    rf"(?:(?P<space>[ -]|\$(?=[\\%])|)(?P<unit>{_alternatives})(?![A-Za-z0-9]))?(?P<plus>\+(?!\w))?"
)
# What NFKD makes of the characters for fractions; any other "3/4" is two numbers.
_FRACTION = r"(?:1/(?:10|[2-9])|2/3|3/4|[2-4]/5|5/6|[357]/8)(?![\d/]|\.\d)"
_POWER = r"\^(?P<{0}open>[({{])?(?P<{0}>[-+]?\d+(?:\.\d+)?)(?({0}open)[)}}])"
_NUMBER = re.compile(
    r"(?P<money>US\$|[$€£])? ?(?P<sign>[-+](?=[\d.]))?"
    rf"(?:(?P<part>(?<![\w/.,-]){_FRACTION}(?= (?:of|the|as|hours?|days?|years?|inch)\b))"
    r"|(?P<digits>\d{1,3}(?:,\d{3})+(?![\d])(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\w.])\.\d+))"
    r"(?:[eE](?P<e>[-+]?\d+)(?![\w.])"
    # Medline writes "2 x 10(6)" and "10(-5)" for what was raised.
    rf"|(?: ?(?:[×x*·⋅]|\\times|\\cdot) ?10)(?:{_POWER.format('ten')}|\((?P<flatten>-?\d{{1,3}})\))"
    rf"|{_POWER.format('power')}|(?<=10)(?<![\d.,]10)\((?P<flat>-\d{{1,3}})\)"
    rf"|(?<!\.\d)(?<!\.\d\d) (?P<mixed>{_FRACTION})|(?P<half> and (?:a|one) half\b))?"
)
# Of such numbers only the size counts, and only for telling whether two are the same.
_ENDLESS = Context(prec=28, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
# "twenty two-layer networks" and "one hundred fourteen-year-olds" are two numbers.
_APART = r"(?!-(?!fold)[a-z])"
_SMALL = (
    rf"(?:(?:{'|'.join(_TENS)})(?:-(?:{'|'.join(_ONES)})\b| (?:{'|'.join(_ONES)})\b{_APART})?"
    rf"|{'|'.join((*_TEENS, *_ONES))}|zero)\b"
)
_LARGE = r"(?:thousand|million|billion|trillion)\b"
_ENDING = rf"(?![ -](?:hundred|{_LARGE})){_APART}"  # "between one hundred and two hundred"
_HUNDREDS = (
    rf"(?:(?:{_SMALL}|an?)[ -])?(?:dozen\b|hundred\b(?:(?:[ -]and[ -]|[ -]){_SMALL}{_ENDING})?)|{_SMALL}"
)
_THOUSANDS = rf"(?:{_HUNDREDS}|an?)[ -]{_LARGE}"
_CARDINAL = (
    rf"(?:half an? (?:dozen|hundred|{_LARGE})"
    rf"|(?:{_THOUSANDS})(?:[ -]{_THOUSANDS})*(?:(?: and |[ -])(?:{_HUNDREDS}){_ENDING})?"
    rf"|{_HUNDREDS})(?P<half> and (?:a|one) half\b)?"
)
# "Two thirds" and "a fifth of the", but "a third model" is the next one.
_PART = (
    rf"(?P<above>{'|'.join(_ONES)}|an?)[ -](?P<below>{'|'.join(_PARTS)})"
    r"(?:s\b|(?= (?:of|as|the|fewer|less)\b))"
)
_WORD = re.compile(
    rf"(?<![\w-])(?:(?P<part>{_PART})|(?P<cardinal>{_CARDINAL})|(?:{'|'.join(_SPELLED)})(?!\w))",
    re.IGNORECASE,
)
_MAGNITUDE_STEP = re.compile(r"\b(?:an?|one) order of magnitude\b", re.IGNORECASE)
_BOUND = re.compile(
    rf"(?<![\w<>])(?:{'|'.join(f'(?P<{name}>{words})' for name, words in _BOUNDS.items())})"
    r" ?(?:an? |the )?\(?\Z",
    re.IGNORECASE,
)
_JOINED = re.compile(r" ?(?:(?P<tight>/|-)|,|,? ?to|,? ?and|,? ?or) ?")
# "(1) read" and "2) write" number the items of a list; no list here comes to twenty items.
_ENUMERATOR = re.compile(r"(?:(?P<open>\()|(?:^|(?<=[ :;,])))(?P<number>1?\d)\)(?!\w)")
_BEFORE = re.compile(
    r"(?:(?<![\d ]) ?×|\bby (?:an? (?:[a-z]+ )?)?factors? of (?:(?:up|close) to |[a-z]+ ){0,2}(?:an? )?)\Z"
)
_AFTER = re.compile(r"[^\W\d_]+(?:'s)?")
# "$7.66\\times$" costs nothing.
_FORMULA = re.compile(r"\$(?:[^$ ]*[\\^{}][^$ ]*\$|[^$]{1,40}\$(?! ?[\d.]))")
_LEADING_NAME = re.compile(r"(?:[^\W\d_][\w.]*(?:\^[({]?)?|(?<!\d)[A-Z][\w.-]*-)\Z")


def find(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of ``text`` in order; offsets are into ``plain(text)``."""
    folded = plain(text)
    digits = list(_digits(folded))
    words = [w for w in _words(folded) if not any(d.start <= w.start < d.end for d in digits)]
    return tuple(_shared_units(folded, sorted((*digits, *words), key=lambda q: q.start)))


def enumerators(text: str) -> list[int]:
    """Return the numbers that only number the items of a list.

    >>> enumerators("two stages: (1) read, and (2) write")
    [1, 2]
    >>> enumerators("GPT-4 (9) beats Llama (mean score 7)")
    [9]
    """
    return [int(match["number"]) for match in _enumerators(plain(text))]


def _enumerators(text: str) -> list[re.Match[str]]:
    found = [m for m in _ENUMERATOR.finditer(text) if m["open"] or not _is_enclosed(text, m.start())]
    values = [int(match["number"]) for match in found]
    counted = bool(values) and values == list(range(values[0], values[0] + len(values)))
    # "A (9) beats B (7)" gives figures; a list that begins with 1 and goes on wrongly is a wrong list.
    return found if counted or 1 in values[:1] else []


def _is_enclosed(text: str, at: int) -> bool:
    """Whether a bracket is open here: "(mean age 63)", "[0, 1)"."""
    opened = max(text.rfind("(", 0, at), text.rfind("[", 0, at))
    return opened > max(text.rfind(")", 0, at), text.rfind("]", 0, at))


def _digits(text: str) -> Iterable[Quantity]:
    listed = {match.start("number") for match in _enumerators(text)}
    for match in _NUMBER.finditer(text):
        at = match.start("part" if match["part"] else "digits")
        if at in listed:
            continue
        sign, begin = _sign(text, match, at)
        tail = _TAIL.match(text, match.end())
        unit, scale, end = _tail(text, match.end(), tail)
        if match["money"] and not _FORMULA.match(text, match.start()):
            unit = _MONEY[match["money"]]
        elif not unit and _is_factor(text, begin):
            unit = "x"
        size, step = _sizes(match, scale)
        value = float(size) if size.is_finite() else inf
        beyond = _beyond(size, match[0])
        leads = bool(_LEADING_NAME.search(text, max(0, begin - 30), begin))
        inside = leads and (not sign or text[begin - 1] in "^({")  # the power of "s^-1" has a sign
        bound = _bound(text, match.start()) or ("lower" if tail and tail["plus"] else "")
        yield Quantity(
            -value if sign == "-" else value, unit, _nouns(text, end), bound, bool(sign), step, False, inside,
            begin, end, beyond,
        )  # fmt: skip


def _is_factor(text: str, begin: int) -> bool:
    """Whether the words before a number make a factor of it: "×3", "by a factor of three"."""
    return bool(_BEFORE.search(text, max(0, begin - 40), begin))


def _sizes(match: re.Match[str], scale: float) -> tuple[Decimal, float]:
    """Return the number with its power and magnitude, and half a unit of its last digit."""
    factor = Decimal(scale)
    if match["part"]:
        return _ENDLESS.multiply(_ratio(match["part"]), factor), 0.0
    digits = match["digits"].replace(",", "")
    base = _ENDLESS.create_decimal(digits)
    if power := match["e"] or match["ten"] or match["flatten"]:
        factor = _ENDLESS.multiply(factor, _ENDLESS.power(Decimal(10), Decimal(power)))
    elif power := match["power"] or match["flat"]:
        base = _ENDLESS.power(base, Decimal(power))
    elif match["mixed"] or match["half"]:
        base = _ENDLESS.add(base, _ratio(match["mixed"] or "1/2"))
    half = Decimal((0, (5,), -len(digits.partition(".")[2]) - 1))
    step = _ENDLESS.multiply(half, factor)
    return _ENDLESS.multiply(base, factor), float(step) if step.is_finite() else 0.0


def _beyond(size: Decimal, written: str) -> str:
    if not size.is_finite():
        return written.strip()  # "0^-1"; "9^9^9" does not fit here either
    value = float(size)
    return str(_ENDLESS.normalize(size)) if isinf(value) or (value == 0) != (size == 0) else ""


def _ratio(fraction: str) -> Decimal:
    above, below = fraction.split("/")
    return _ENDLESS.divide(Decimal(above), Decimal(below))


def _sign(text: str, match: re.Match[str], begin: int) -> tuple[str, int]:
    """Return the sign and where the number begins; the dash of "1.5-2x" or "level-5" is none."""
    if not match["sign"]:
        return "", begin
    at = match.start("sign")
    if at and (text[at - 1].isalnum() or text[at - 1] in ")]%×"):
        return "", begin
    return match["sign"], at


def _tail(text: str, end: int, tail: re.Match[str] | None) -> tuple[str, float, int]:
    """Return unit, magnitude and end of what follows the digits."""
    if tail is None:
        return "", 1.0, end
    scale = _MAGNITUDES[tail["letter"] or tail["word"]] if tail["letter"] or tail["word"] else 1.0
    unit = tail["unit"]
    after = tail.end("unit")
    if unit and unit in _TOUCHING and tail["space"] and text[after : after + 1].isspace():
        unit = None  # "5 in all", "3 x 4"
    if unit in ("x", "X", "×", r"\times") and re.match(r" ?\d", text[after : after + 2]):
        unit = None
    stop = after if unit else max(end, tail.end("letter"), tail.end("word"))
    return (_UNITS[unit] if unit else ""), scale, stop


def _words(text: str) -> Iterable[Quantity]:
    for match in _WORD.finditer(text):
        said = match[0].lower()
        value, unit = _spelled(match)
        written, scale, end = _tail(text, match.end(), _TAIL.match(text, match.end()))
        if said == "one" and not written and scale == 1.0:
            continue  # a pronoun more often than a count
        unit = unit or written or ("x" if _is_factor(text, match.start()) else "")
        bound = _bound(text, match.start())
        yield Quantity(
            value * scale,
            unit,
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


def _spelled(match: re.Match[str]) -> tuple[float, str]:
    """Return value and unit of a match of ``_WORD``."""
    if match["part"]:
        return _VALUES[match["above"].lower()] / _PARTS[match["below"].lower()], ""
    said = match[0].lower()
    return (_cardinal(said), "") if match["cardinal"] else _SPELLED[said]


def _cardinal(words: str) -> float:
    """Return the value of a number in words.

    >>> [_cardinal(words) for words in ("twenty-five", "two thousand five hundred", "half a million")]
    [25.0, 2500.0, 500000.0]
    """
    whole = words.removesuffix(" and a half").removesuffix(" and one half")
    total = group = 0
    for word in re.findall("[a-z]+", whole.removeprefix("half ")):
        if word in ("dozen", "hundred"):
            group = (group or 1) * _TIMES[word]
        elif word in _TIMES:
            total, group = total + (group or 1) * _TIMES[word], 0
        elif word != "and":
            group += _VALUES[word]
    value = float(total + group)
    return value / 2 if whole.startswith("half ") else value + 0.5 * (whole != words)


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
    if match is None or quantity.unit or quantity.beyond or match.end() != match.end("digits"):
        return 1.0  # what stands behind the digits is a power or a fraction, and no magnitude
    bare = float(match["digits"].replace(",", ""))
    return quantity.value / bare if bare else 1.0


def same_size(one: Quantity, other: Quantity) -> bool:
    """Return whether two numbers are equal, sign and unit aside."""
    return (abs(one.value), one.beyond) == (abs(other.value), other.beyond)


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
    if claim.beyond or other.beyond:
        return float(claim.beyond == other.beyond and (mine == theirs or not claim.signed))
    if claim.signed != other.signed:
        # "a drop of 16.49%" for "-16.49%" is right; "+16.49%" or "-7.66×" made of nothing is not.
        if claim.signed and mine < 0:
            return 0.0
        mine, theirs = abs(mine), abs(theirs)
    if abs(mine - theirs) <= 1e-9 * max(abs(mine), abs(theirs)):
        return 1.0
    if claim.spelled and claim.value < 1 and other.unit == "%":
        return float(theirs in (round(100 * mine, digits) for digits in range(3)))  # two thirds: 66.7%
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
