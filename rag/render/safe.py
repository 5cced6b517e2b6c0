r"""Text of others, made harmless for a terminal; what a reader can see stays as it is.

>>> line("a\x1b[31mred\x1b[0m\u202eb\u200bc\x07")
'aredbc'

Removed:

- escape sequences (CSI, OSC and the other string kinds), C0 and C1 controls;
- bidirectional overrides and isolates, zero-width and other invisible formatting, tags, surrogates, private
  use, and whatever else Unicode calls default-ignorable: fillers, Mongolian and other variation selectors and
  the unassigned code points kept for more of them. An emoji is shown in its plain form, a joined one as its
  members;
- of the marks on one letter the fourth of those that go on any letter (U+0300 and its like), and of all kinds
  together the seventh, and those behind them. Words need no more; a hundred paint over the lines around.

Kept are the zero-width joiner and non-joiner between letters of the scripts they shape (Arabic, Persian, the
Indic ones), where they can be seen. Line and paragraph separators become line breaks, tabs a space.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# A string kind (OSC, DCS, APC, PM, SOS) only counts as one when it is closed on its line; otherwise just its
# introducer goes, so that an abstract cannot hide its own rest.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]{0,2000}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_MARKS_OF_ALL = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_FIRST = "\u0300"  # of all marks
_MOST_OF_ALL = 3
_MOST = 6  # Burmese and pointed Hebrew need five
# Vowels and finals of Hangul written in parts stand on the letter before them like marks.
_ON_HANGUL = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")
_JOINERS = frozenset("\u200c\u200d")
_JOINED = "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\U00011000-\U000114ff"
_LOOSE_JOINER = re.compile(f"(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])")
# Cc controls, Cf invisible formatting (bidi, zero width, soft hyphen, tags), Cs surrogates, Co private use.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co"})
# Default-ignorable although Unicode does not file them under Cf.
_BLANKS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)


def block(text: str) -> str:
    """Return ``text`` harmless, its line breaks kept."""
    if text.isascii() and text.isprintable():
        return text
    text = _BREAKS.sub("\n", _ESCAPES.sub("", text)).replace("\t", " ")
    text = "".join(c for c in text if c == "\n" or c in _JOINERS or unicodedata.category(c) not in _UNSEEN)
    # Joiners last: they neither end a run of marks nor count in it.
    return _LOOSE_JOINER.sub("", "".join(_unstacked(_BLANKS.sub("", text))))


def _unstacked(text: str) -> Iterator[str]:
    """Yield the characters of ``text`` but for the marks that are too many on their letter."""
    marks = of_all = 0
    for char in text:
        if char in _JOINERS:
            yield char
        elif char >= _FIRST and (unicodedata.category(char)[0] == "M" or _ON_HANGUL.match(char)):
            general = _MARKS_OF_ALL.match(char) is not None
            if marks < _MOST and not (general and of_all == _MOST_OF_ALL):
                marks, of_all = marks + 1, of_all + general
                yield char
        else:
            marks = of_all = 0
            yield char


def line(text: str) -> str:
    """Return ``text`` harmless and on one line."""
    return " ".join(block(text).split())


def address(url: str | None) -> str | None:
    """Return a web address that can be shown and clicked, or None for anything else (``javascript:`` ...)."""
    if url is None:
        return None
    shown = line(url)
    return shown if re.fullmatch(r"https?://[^\s<>\"'`\\^{}|]+", shown) else None


def json_text(text: str) -> str:
    r"""Escape, in serialised JSON, the characters that JSON allows but a terminal obeys (C1, bidi ...).

    >>> json_text('{"a": "x\u202ey"}')
    '{"a": "x\\u202ey"}'
    """
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    return "".join(c if c == "\n" or unicodedata.category(c) not in _UNSEEN else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
