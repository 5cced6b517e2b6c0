"""Whether a text states a gold fact: by alias or by number, after folding. No model, no embedding.

    >>> states("ReVISE gains 4 points (27.1% to 31.1 percent).", Fact("", number=Number(31.1, "%", 0.05)))
    True
    >>> states("It is unverified.", Fact("verification", aliases=(("verif",),)))
    False

Numbers are read here by a reader of our own and not by the one in ``rag.text`` that the verifier uses: a
fault shared by the program and its measure would be invisible.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from rag.evals.cases import Fact, Number
from rag.text.words import word_set

DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
QUOTES = {ord("’"): "'", ord("‘"): "'", ord("“"): '"', ord("”"): '"', ord("×"): "x"}
# "\\%" and "$31.1\\%$" survive cleaning in models' answers, not in abstracts.
LATEX = re.compile(r"\\times\b|\\([%$&#_])|\$|\\(?:text|mathbf|mathrm|emph|textbf)?\{|[{}]|\\[,;! ]")
NUMBER = re.compile(r"(?<![\w.])(?<![a-z]-)(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|-?\.\d+)")
UNIT = re.compile(r"\s*-?\s*((?:%|percent(?:age)?)[ -]points?|[%°]|[a-z]+(?:/[a-z]+)?)")
MAGNITUDES = {"k": 1e3, "m": 1e6, "b": 1e9, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
UNITS = {
    "percent": "%", "pct": "%", "percentage": "%",
    "times": "x", "fold": "x", "time": "x",
    "pp": "points", "pts": "points",
    "gigabyte": "gb", "gigabytes": "gb", "megabyte": "mb", "megabytes": "mb",
    "second": "s", "seconds": "s", "sec": "s", "minute": "min", "minutes": "min", "hour": "h", "hours": "h",
    "millisecond": "ms", "milliseconds": "ms",
}  # fmt: skip
SMALL = "zero one two three four five six seven eight nine ten eleven twelve"
WORDS = {word: float(value) for value, word in enumerate(SMALL.split())}
STOP = word_set(
    "the and for are was were with that this these those from into than then their its they which what when",
    "has have had can could may might will would not but also such both each more most over under",
    "between how while where who our using used use via about only other some any all been being does did",
    "does one two per own",
)


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return the text in lower case with one spelling of dashes, quotes, accents, LaTeX and spaces."""
    text = LATEX.sub(lambda found: "x" if found[0].startswith("\\times") else (found[1] or ""), text)
    text = unicodedata.normalize("NFKD", text.translate(DASHES).translate(QUOTES))
    return " ".join("".join(c for c in text if not unicodedata.combining(c)).casefold().split())


def states(answer: str, fact: Fact) -> bool:
    """Return whether the answer states the fact: one alias occurs, or the number does."""
    aliases = fact.aliases or (() if fact.number else ((fact.text,),))
    if any(all(occurs(part, answer) for part in alias) for alias in aliases):
        return True
    return fact.number is not None and has_number(answer, fact.number)


def occurs(part: str, text: str) -> bool:
    """Return whether ``part`` stands in the text from the start of a word; digits only as a whole number."""
    wanted = fold(part)
    before = r"(?<![\w])" if wanted[:1].isalnum() else ""
    after = r"(?![\w]|\.\d)" if wanted[-1:].isdigit() else ""
    if wanted[:1].isdigit():
        before = r"(?<![\w.])(?<!\d,)"
    return re.search(before + re.escape(wanted) + after, fold(text)) is not None


def has_number(text: str, number: Number) -> bool:
    """Return whether the text holds the number in its unit; a wanted unit of "" accepts any."""
    unit = same_unit(number.unit)
    return any(
        abs(value - number.value) <= number.tolerance + 1e-9 and unit in ("", found)
        for value, found in numbers(text)
    )


def numbers(text: str) -> Iterator[tuple[float, str]]:
    """Yield (value, unit) of each number; "7 billion" also as 7e9, small number words as digits."""
    folded = fold(text)
    for word in re.finditer(r"\b[a-z]+\b", folded):
        if word[0] in WORDS:
            yield from _with_unit(WORDS[word[0]], folded[word.end() :])
    for found in NUMBER.finditer(folded):
        yield from _with_unit(float(found[0].replace(",", "")), folded[found.end() :])


def _with_unit(value: float, rest: str) -> Iterator[tuple[float, str]]:
    unit = UNIT.match(rest)
    name = unit[1] if unit else ""
    yield value, same_unit(name)
    if unit and name in MAGNITUDES:
        after = UNIT.match(rest[unit.end() :])
        yield value * MAGNITUDES[name], same_unit(after[1]) if after else ""


def same_unit(name: str) -> str:
    """Return the one spelling of a unit: "percent" and "\\%" are "%", "-fold" and "×" are "x"."""
    name = fold(name).strip("- ")
    if name.endswith(("point", "points")):
        return "points"
    return UNITS.get(name, name)


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Return the folded words that carry meaning, cut to six letters so that inflections meet."""
    words = re.findall(r"[a-z0-9]+(?:\.\d+)?", fold(text))
    return frozenset(word[:6] for word in words if len(word) > 2 and word not in STOP)
