"""One spelling for what looks the same, with the way back to the original.

    >>> folded = fold("Soft\\u00adhyphen,  7.66\\u00a0× \\u201cfaster\\u201d")
    >>> folded.text
    'Softhyphen, 7.66 × "faster"'
    >>> folded.back(12, 18)             # where "7.66 ×" stood
    (14, 20)

Folding decomposes compatibility characters (NFKD), drops accents and whatever is invisible (zero-width
characters, direction overrides, soft hyphens), gives dashes, quotation marks and spaces one form each and
keeps the case.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

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
_MARK = re.compile(r"\[\s*\d+(?:\s*[,;-]\s*\d+)*\s*\]")


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
    for offset, char in enumerate(text):
        for piece in char if "!" <= char <= "~" else _folded(char):
            if piece == " " and (not chars or chars[-1] == " "):
                continue
            # "10¹²" is 10^12: one caret opens the whole run of superscripts.
            if piece == "^" and offset and _folded(text[offset - 1])[:1] == "^":
                continue
            chars.append(piece)
            origin.append(offset)
    return Folded("".join(chars), tuple(origin))


def plain(text: str) -> str:
    """Return ``fold(text).text``, for those who need no way back."""
    if text.isascii():
        return " ".join(text.split())
    return fold(text).text.rstrip()


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
    if unicodedata.decomposition(char).startswith("<super>") and unicodedata.digit(char, None) is not None:
        return "^" + str(unicodedata.digit(char))
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

    Such a mark is put in parentheses, so that nothing of the text is lost.
    """
    seen = "".join(
        char for char in text if char in "\n\t" or unicodedata.category(char) not in ("Cf", "Cc", "Co", "Cs")
    )
    return _MARK.sub(lambda mark: f"({mark[0][1:-1].strip()})", seen)
