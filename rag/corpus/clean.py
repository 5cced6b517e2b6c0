r"""Cleans an abstract, a title or a name: what a reader of the printed paper would see, in one line.

>>> text("Abstract\u2014We trans-\nform 5 m\u00e9&lt;sup&gt;2&lt;/sup&gt; by 60\\%.")
'We transform 5 m\xe9² by 60%.'

Markup, entities, mojibake, hyphenation, ligatures and invisible characters go; numbers, signs, units and
percent never change. The original is kept by the caller as ``Paper.raw``.
"""

from __future__ import annotations

import html
import re
import unicodedata

import ftfy

from rag.corpus import markup
from rag.text.words import word_set

# Characters; no abstract is longer, and a whole book in one field would stall everything after it.
LIMIT = 50_000

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u2060\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]"
)
_MOJIBAKE = re.compile("[ÂÃÎÏâåæçðïãÐÑ][\u0080-\u00bf\u0152-\u02dc\u2013-\u2122]")
_INLINE_TAG = re.compile(
    r"</?(?:jats:|mml:)?(?:i|b|u|em|strong|italic|bold|sc|span|a|tt|code|font|ext-link|inline-formula|tex-math|"
    r"math|mrow|mi|mo|mn)(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_BLOCK_TAG = re.compile(
    r"</?(?:jats:)?(?:p|br|div|title|sec|list|list-item|ul|ol|li|h[1-6]|label)(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_SCRIPT_TAG = re.compile(r"<(?:jats:)?(su[bp])>([^<>]{1,40})</(?:jats:)?\1>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_HYPHENATED = re.compile(r"(?<![\w-])([A-Za-z]{2,})[-\u2010]\s*\n\s*([a-z]{2,})(?![\w]*-)")
_GROUPED = re.compile(r"(?<=\d)[\u00a0\u2007\u2008\u2009\u202f](?=\d{3}(?!\d))")
_LINE_HYPHEN = re.compile(r"(?<=\w)[-\u2010][ \t\r]*\n[ \t\r\n]*(?=\w)")
_PREFIX = re.compile(r"^\s*(?:abstract|summary)\s*(?:[—–:.|]|--+|-(?=\s|(?-i:[A-Z]))|\n)\s*", re.IGNORECASE)
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z. -]*[A-Za-z.]")  # most names, and cleaning costs time
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_KEPT_HYPHEN = word_set(
    "self non multi semi state high low well end real long short large small cross fine pre post co sub",
    "meta time data model zero one two three first second full half open near anti inter intra",
)


def text(raw: str) -> str:
    """Return a clean abstract in one line; empty when nothing readable is left."""
    return _one_line(_PREFIX.sub("", _readable(raw)))


def title(raw: str) -> str:
    """Return a clean title: as ``text``, without BibTeX's protecting braces and a final full stop."""
    line = _one_line(_readable(re.sub(r"(?<!\\)[{}](?!\\)", "", raw) if "\\" not in raw else raw))
    line = re.sub(r"[{}]", "", line)
    return line[:-1] if re.search(r"[^.]\w\.$", line) else line


def name(raw: str) -> str:
    """Return a clean personal name."""
    if _PLAIN_NAME.fullmatch(raw):
        return " ".join(raw.split())
    return re.sub(r"[{}]", "", _one_line(_readable(raw))).strip(" ,;")


def storable(raw: str) -> str:
    """Return ``raw`` with lone surrogates replaced, which neither UTF-8 nor SQLite can hold."""
    return _SURROGATE.sub("\ufffd", raw)


def _readable(raw: str) -> str:
    line = storable(raw)
    if not line.isascii():
        line = _INVISIBLE.sub("", _repaired(line)).translate(_LIGATURES)
    else:
        line = _INVISIBLE.sub("", line)
    if "<" in line or "&" in line:
        line = _untagged(line)
    if "\n" in line:
        line = _dehyphenated(line.replace("\r\n", "\n"))
    try:
        line = markup.to_text(line)
    except RecursionError:  # a tower of nested braces is not prose; it stays as it was written
        return line
    return unicodedata.normalize("NFC", line)


def _repaired(line: str) -> str:
    """Undo UTF-8 read as another encoding ("naÃ¯ve"); ASCII characters are never touched by it."""
    return ftfy.fix_encoding(line) if _MOJIBAKE.search(line) else line


def _untagged(line: str) -> str:
    """Resolve entities, twice where they were escaped twice, and drop the tags of prose; ``x<y`` stays."""
    for _ in range(2):
        line = _SCRIPT_TAG.sub(_scripted, line)
        line = _INLINE_TAG.sub("", line)
        line = _BLOCK_TAG.sub("\n", line)
        line = _ENTITY.sub(lambda entity: html.unescape(entity[0]), line)
    return _INVISIBLE.sub("", storable(line))


def _scripted(match: re.Match[str]) -> str:
    sign = "^" if match[1].lower() == "sup" else "_"
    if re.fullmatch(r"[\d+\-−()n]+", match[2]):
        return markup.to_text(f"${sign}{{{match[2]}}}$")
    return f"{sign}{match[2]}"


def _dehyphenated(text: str) -> str:
    """Join words broken at line ends; whether the hyphen belongs is asked of the rest of the text first."""

    def joined(match: re.Match[str]) -> str:
        left, right = match[1], match[2]
        keeps = f"{left}-{right}" in text or (
            left.lower() in _KEPT_HYPHEN and not re.search(rf"\b{left}{right}", text)
        )
        return f"{left}-{right}" if keeps else left + right

    return _LINE_HYPHEN.sub("-", _HYPHENATED.sub(joined, text))


def _one_line(text: str) -> str:
    """Make every run of spaces one plain space; inside "12 345" a thin one stays, which tells what it is."""
    return "\u202f".join(" ".join(part.split()) for part in _GROUPED.split(text))
