"""Splits an abstract into sentences, with offsets, and loses nothing.

    >>> [s.text for s in split("It beats GPT-4 (cf. Fig. 2). We use Llama 3.1 405B. Why?")]
    ['It beats GPT-4 (cf. Fig. 2).', 'We use Llama 3.1 405B.', 'Why?']

A full stop ends a sentence unless something speaks against it: an abbreviation before it, a lower-case word
after it, an open parenthesis around it. When in doubt two sentences stay one: a reader minds a long quotation
less than one that breaks off.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.text.words import word_set


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]`` of the text that was split, without surrounding space."""

    start: int
    end: int
    text: str


# Never the last word of a sentence, whatever follows.
_NEVER_LAST = word_set(
    "e.g i.e eg ie cf vs viz resp approx ca fig figs eq eqs eqn sect def thm lem prop dr prof mr mrs ms st",
    "incl aka a.k.a w.r.t",
)
# Abbreviations only before a number: "no. 5", but "The answer is no. We".
_BEFORE_NUMBER = word_set("no nos p pp vol ch sec ref refs tab art ver max min avg app alg")
# Words that open sentences and are hardly ever part of a name, so that "Smith et al. The" and "vitamin C. We"
# are two sentences while "Smith et al. NeurIPS" and "J. Smith" are one.
_OPENERS = word_set(
    "a all although an and as at based because both but by code compared despite due each experiments",
    "extensive finally first for from further furthermore given here how however if in instead is it its",
    "many meanwhile moreover most motivated no notably on one other our overall patients recent results",
    "second several since some such that the their then therefore there these they third this those through",
    "thus to together two under unlike using via we what when where whereas whether which while who why with",
)
_END = re.compile(r"(?P<stop>[.!?…]+|[。！？]+)(?P<close>[\"'”’»)\]}*_]*)(?P<gap>\s+|$)?")
_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*•‣]|\d{1,2}[.)])\s)")
_LAST_WORD = re.compile(r"[\w.]+$")
_NEXT_WORD = re.compile(r"[\"'“‘«(\[{*_]*(?P<word>[\w-]*)")
_LIST_NUMBER = re.compile(r"\s*[(\[]?(?:\d{1,3}|[A-Za-z])[.)]*\Z")
_LONGEST_PARENTHESIS = 400


def split(text: str) -> list[Span]:
    """Return the sentences of ``text`` in order; together they cover everything but white space."""
    spans = []
    start = 0
    for block_end in [m.start() for m in _PARAGRAPH.finditer(text)] + [len(text)]:
        for end in _ends(text, start, block_end):
            spans.append((start, end))
            start = end
        spans.append((start, block_end))
        start = block_end
    return [span for a, b in spans if (span := _trimmed(text, a, b)) is not None]


def _trimmed(text: str, start: int, end: int) -> Span | None:
    piece = text[start:end]
    body = piece.strip()
    if not body:
        return None
    begin = start + len(piece) - len(piece.lstrip())
    return Span(begin, begin + len(body), body)


def _ends(text: str, start: int, stop: int) -> list[int]:
    """Offsets between ``start`` and ``stop`` at which a sentence ends."""
    ends = []
    opened = _inside_parentheses(text, start, stop)
    begin = start
    for match in _END.finditer(text, start, stop):
        if match.start() in opened or not _is_end(text, begin, match, stop):
            continue
        begin = match.end("close")
        ends.append(begin)
    return ends


def _inside_parentheses(text: str, start: int, stop: int) -> set[int]:
    """Offsets of sentence marks between balanced parentheses; an unbalanced or endless one does not count."""
    inside: set[int] = set()
    stack: list[tuple[str, int]] = []
    for i in range(start, stop):
        char = text[i]
        if char in "([":
            stack.append((char, i))
        elif char in ")]" and stack and stack[-1][0] == ("(" if char == ")" else "["):
            opened = stack.pop()[1]
            if i - opened <= _LONGEST_PARENTHESIS:
                inside.update(j for j in range(opened, i) if text[j] in ".!?…。！？")
    return inside


def _is_end(text: str, begin: int, match: re.Match[str], stop: int) -> bool:
    mark = match["stop"]
    if mark[0] in "。！？" or match.end() >= stop:
        return True
    following = _NEXT_WORD.match(text, match.end(), stop)
    word = following["word"] if following else ""
    if match["gap"] is None:
        return _is_glued_end(text, begin, match, word)
    if _LIST_NUMBER.match(text[begin : match.end("stop")]):
        return False
    if mark == "." and not match["close"] and _is_abbreviation(text, begin, match.start(), word):
        return False
    return _can_open(word, text[match.end() : match.end() + 1])


def _is_glued_end(text: str, begin: int, match: re.Match[str], word: str) -> bool:
    """Whether "performance.We" is two sentences whose space was lost (and not a file name or an address)."""
    before = text[max(begin, match.start() - 3) : match.start()]
    whole = text[match.end() : match.end() + len(word)]
    return len(before) == 3 and before.isalpha() and before.islower() and _is_opener(whole)


def _is_opener(word: str) -> bool:
    return word[:1].isupper() and word.lower() in _OPENERS


def _is_abbreviation(text: str, begin: int, dot: int, following: str) -> bool:
    found = _LAST_WORD.search(text, max(begin, dot - 24), dot)
    word = found[0] if found else ""
    low = word.lower()
    if low in _NEVER_LAST:
        return True
    if low in _BEFORE_NUMBER:
        return following[:1].isdigit()
    initial = len(word) == 1 and word.isupper()
    dotted = "." in word and all(len(part) <= 1 for part in word.split("."))
    if initial or dotted or low == "al":
        return not _is_opener(following)
    return False


def _can_open(word: str, char: str) -> bool:
    """Whether a sentence may begin so: a capital, a digit, "iPhone", "μCODE"; not "data" and not "-"."""
    if not word:
        return not char.islower() and char not in ",;:)-–—"
    return not word[0].islower() or any(c.isupper() for c in word[1:])
