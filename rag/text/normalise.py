"""One spelling for what looks the same, with the way back to the original.

    >>> folded = fold("Soft\\u00adhyphen,  7.66\\u00a0× \\u201cfaster\\u201d")
    >>> folded.text
    'Softhyphen, 7.66 × "faster"'
    >>> folded.back(12, 18)             # where "7.66 ×" stood
    (14, 20)

Folding decomposes compatibility characters (NFKD), drops accents and whatever is invisible (zero-width
characters, direction overrides, soft hyphens), gives dashes, quotation marks and spaces one form each and
keeps the case. Figures come out as a reader takes them, and never run into each other:

    >>> [plain(text) for text in ("12\u202f345", "0·75", "10⁻⁵", "5½", "75.4₃")]
    ['12,345', '0.75', '10^-5', '5 1/2', '75.4_3']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rag.text.words import word_set

_DASHES = "‐‑‒–—―−⁃﹘﹣－"
_SINGLE = "‘’‚‛′´ʼ＇"
_DOUBLE = "“”„‟«»″＂"
_SLASHED = "\u0338"  # the stroke that makes "≠" of "=": the one combining mark that must not be dropped
_FIXED = {
    **dict.fromkeys(_DASHES, "-"),
    **dict.fromkeys(_SINGLE, "'"),
    **dict.fromkeys(_DOUBLE, '"'),
    "⁻": "-",
    "⁄": "/",
    "∕": "/",
    "∆": "Δ",
    "™": "",
    "®": "",
    "…": "...",
    "∼": "~",
    _SLASHED: _SLASHED,
}
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ο": "omicron", "π": "pi",
    "ρ": "rho", "ς": "sigma", "σ": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi",
    "ω": "omega",
}  # fmt: skip
_THIN = "\u00a0\u2007\u2008\u2009\u200a\u202f\u205f"
_DOTS = "·∙‧\u0387"
_GROUPS = re.compile(
    rf"(?<![\w.,])[1-9]\d{{0,2}}(?:(?P<thin>[{_THIN}])\d{{3}}(?:(?P=thin)\d{{3}})*|(?: \d{{3}})+)(?!\d)"
)
# An ordinary space stands between two numbers as well: "in phase 3 300 patients", "Llama 3 405 times".
_COUNTED = re.compile(r" ?[^\W\d_]| ?\(|/")
_WORD_BEFORE = re.compile(r"([^\s(\[]+) \Z")
_LABELS = word_set(
    "phase phases type types level levels stage stages grade grades class group groups day days week weeks",
    "month months year years step steps visit case cycle table figure fig section chapter version layer part",
    "question task model arm cohort study page line point top",
)
_OPENING = word_set("A About After All Among At From In Nearly Of Over Overall The These To We With Within")
# "2·10⁵" and "2·3·5" multiply.
_DECIMAL = re.compile(rf"(?<![\d.,{_DOTS}])\d+(?P<dot>[{_DOTS}])\d+(?![\d{_DOTS}^(⁰¹²³⁴⁵⁶⁷⁸⁹⁻]|[.,]\d)")
_RAISED = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
# What folds to itself, a run at once, or one character that may not.
_RUN_OR_CHAR = re.compile(r"[!-~]+|[^!-~]")
_MARK = re.compile(r"\[\s*\d+(?:\s*[,;‐‑‒–—-]\s*\d+)*\s*\]")
_BOUNDED = re.compile(
    r"(?:\b(?:[Ii]ntervals?|[Rr]anges?|ranging|[Ww]ithin|[Bb]etween|domain|scales?|CI|IQR)(?: of| is| was)?"
    r"|[∈=])[:,]? ?\Z"
)
_PLACED = re.compile(
    r"(?:(?:normali|scal|clip|bound|map|restrict|limit|confin|truncat|project|sampl|uniform|interpolat"
    r"|valu|scor|rating|number|integer|weight|probabilit|parameter|coefficient|constant|threshold)\w*"
    r"|\b(?:lies?|lying|falls?|var(?:y|ies|ied)|drawn|rated|real)|(?<![\w'’])[b-zB-HJ-Zα-ω])\b[^.!?\[\]]{0,24}"
    r" (?:in|to|into|from|over)(?: the)? \Z"
)
_POINTED = re.compile(
    r"\b(?:shown|seen?|described|reported|proposed|introduced|presented|discussed|given|found|compared"
    r"|according|similar|results?|referred|published) (?:in|to|from|over) \Z"
)


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded ``text``; ``origin[i]`` is the offset in the original of its character ``i``."""

    text: str
    origin: tuple[int, ...]

    def back(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the original that ``text[start:end]`` (not empty) came from."""
        return self.origin[start], self.origin[end - 1] + 1


def fold(text: str) -> Folded:
    """Return ``text`` in its one spelling, with the origin of every character."""
    chars: list[str] = []
    origin: list[int] = []
    figures = dict(_figures(text))
    for match in _RUN_OR_CHAR.finditer(text):
        offset, run = match.start(), match[0]
        if "!" <= run[0] <= "~":
            chars.extend(run)
            origin.extend(range(offset, match.end()))
            continue
        for piece in figures.get(offset) or _folded(run):
            if piece == " " and (not chars or chars[-1] == " "):
                continue
            chars.append(piece)
            origin.append(offset)
    return Folded("".join(chars), tuple(origin))


def plain(text: str) -> str:
    """Return ``fold(text).text``, for those who need no way back."""
    if text.isascii():
        return " ".join(_GROUPS.sub(_comma_grouped, text).split())
    return fold(text).text.rstrip()


def _comma_grouped(match: re.Match[str]) -> str:
    return match[0].replace(" ", ",") if _is_one_number(match) else match[0]


def _figures(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offsets of characters whose folded form depends on the digits beside them, with that form."""
    for match in _GROUPS.finditer(text):
        if _is_one_number(match):
            yield from ((i, ",") for i in range(match.start(), match.end()) if not text[i].isdigit())
    if text.isascii():
        return
    yield from ((match.start("dot"), ".") for match in _DECIMAL.finditer(text))
    for match in _RAISED.finditer(text):  # "10⁻¹²" is 10^-12: one caret opens the whole run
        yield match.start(), "^" + _folded(match[0][0])
    for offset in range(1, len(text)):
        if "0" <= text[offset - 1] <= "9" and text[offset] > "~":
            kind = unicodedata.decomposition(text[offset])
            if kind.startswith("<fraction>"):
                yield offset, " " + _folded(text[offset])
            elif kind.startswith("<sub>") and unicodedata.digit(text[offset], None) is not None:
                yield offset, "_" + _folded(text[offset])


def _is_one_number(match: re.Match[str]) -> bool:
    """Whether groups of digits are one number: by thin spaces, or by plain ones before what is counted."""
    if match["thin"]:
        return True
    before = match.string[max(0, match.start() - 40) : match.start()]
    if not _COUNTED.match(match.string, match.end()) or before[-2:-1].isdigit():
        return False
    found = _WORD_BEFORE.search(before)
    if found is None:
        return not before.endswith(("-", "/"))
    word = found[1].strip(".:,")
    return word in _OPENING or (word == word.lower() and word not in _LABELS)


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    """Return what one character folds to: nothing, itself, or several characters."""
    if char in _FIXED:
        return _FIXED[char]
    if char.isspace():
        return " "
    category = unicodedata.category(char)
    if category in ("Cf", "Cc", "Mn", "Me"):
        return ""
    spread = unicodedata.normalize("NFKD", char)
    if spread == char or _SLASHED in spread:
        return char
    return "".join(_folded(c) if c != char else c for c in spread)


def spell_greek(text: str) -> str:
    """Return lower-case ``text`` with Greek letters spelled out: "μcode" is "mucode"."""
    if text.isascii():
        return text
    return "".join(_GREEK.get(char, char) for char in text)


def defuse(text: str) -> str:
    """Return ``text`` fit to stand in an answer: nothing invisible, and no "[3]" that looks like a citation.

    Such a mark is put in parentheses, so that nothing of the text is lost. An interval stays as it is.
    """
    seen = "".join(
        char for char in text if char in "\n\t" or unicodedata.category(char) not in ("Cf", "Cc", "Co", "Cs")
    )
    return _MARK.sub(
        lambda mark: mark[0] if is_interval(mark) else f"({mark[0][1:-1].strip()})",
        seen,
    )


def is_interval(mark: re.Match[str]) -> bool:
    """Return whether ``mark``, a match of bracketed numbers, is an interval or a set and cites nothing.

    >>> [is_interval(_MARK.search(t)) for t in ("in the range [1, 5]", "clipped to [0, 1]", "as in [1, 5]")]
    [True, True, False]

    Citations are counted from 1. Two rising numbers may be either, so the words before them decide.
    """
    values = [int(digits[-18:]) for digits in re.findall(r"\d+", mark[0])]
    if len(values) < 2:
        return False
    if 0 in values:
        return True
    before = mark.string[max(0, mark.start() - 60) : mark.start()]
    before = " ".join(before.split()) + " "
    if len(values) > 2 or values[0] >= values[1] or _POINTED.search(before):
        return False
    return bool(_BOUNDED.search(before) or _PLACED.search(before))
