r"""Text of others, made harmless for a terminal; what a reader can see stays as it is.

>>> line("a\x1b[31mred\x1b[0m\u202eb\u200bc\x07")
'aredbc'

Removed: escape sequences (CSI, OSC and the other string kinds), C0 and C1 controls, bidirectional overrides
and isolates, zero-width and other invisible formatting, surrogates, and the tail of long runs of combining
marks. Line and paragraph separators become line breaks, tabs a space.
"""

from __future__ import annotations

import re
import unicodedata

# A string kind (OSC, DCS, APC, PM, SOS) only counts as one when it is closed on its line; otherwise just its
# introducer goes, so that an abstract cannot hide its own rest.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]{0,2000}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_MARKS = re.compile(
    r"([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{3})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+"
)
# Cc controls, Cf invisible formatting (bidi, zero width, soft hyphen, tags), Cs surrogates, Co private use.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co"})
# Invisible although Unicode does not file them under Cf: fillers, and variation selectors.
_BLANKS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def block(text: str) -> str:
    """Return ``text`` harmless, its line breaks kept."""
    if text.isascii() and text.isprintable():
        return text
    text = _BREAKS.sub("\n", _ESCAPES.sub("", text)).replace("\t", " ")
    text = "".join(c for c in text if c == "\n" or unicodedata.category(c) not in _UNSEEN)
    return _MARKS.sub(r"\1", _BLANKS.sub("", text))


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
