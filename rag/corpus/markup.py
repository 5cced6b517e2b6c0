r"""Finds the LaTeX, Markdown and typewriter pieces in running text and makes them readable; the rest stays.

>>> to_text(r"**AnyEdit** gains 21.5\% ($R^2 \geq 0.9$), costs $5 and $10; see \url{https://a.org/x_1%20y}")
'AnyEdit gains 21.5% (R² ≥ 0.9), costs $5 and $10; see https://a.org/x_1%20y'

One pass from left to right, each piece found by a pattern of bounded length, so that a huge or hostile line
costs linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rag.corpus import latex

_START = re.compile(r"https?://|[\\$`*_\[{~]|---?(?!-)|''")
_URL = re.compile(r"https?://[^\s<>\"{}|\\^`\[\]]+")
_URL_MACRO = re.compile(r"\\(?:url|path|nolinkurl)\s*\{([^{}\s]{1,2000})\}")
_HREF = re.compile(r"\\href\s*\{([^{}\s]{1,2000})\}\s*\{")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\(\s*(https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\s*\)")
_DISPLAY = re.compile(r"\$\$(.{1,2000}?)\$\$|\\\((.{1,2000}?)\\\)|\\\[(.{1,2000}?)\\\]", re.DOTALL)
_INLINE = re.compile(r"\$((?:\\.|[^$\\]){1,800})\$", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\begin\s*\{([a-z]+\*?)\}(.{0,4000}?)\\end\s*\{\1\}", re.DOTALL)
_MACRO = re.compile(r"\\[A-Za-z@]+\*?")
_ACCENT = re.compile(r"\\[`'^\"~=.]\s*(?:\{\\?[A-Za-z]\}|\\[ij]\b|[A-Za-z])")
_SPACED_ACCENT = re.compile(r"\\[Hckruv] +[A-Za-z]")
_ESCAPE = re.compile(r"\\([%&$#_{} ,;!/-])")
_STRONG = re.compile(
    r"(?<![\w*])\*\*(?=\S)(.{1,600}?)(?<=\S)\*\*(?!\*)"
    r"|(?<!\w)__(?=\S)([^_]{1,300} [^_]{1,300}?)(?<=\S)__(?!\w)"
)
_EMPHASIS = re.compile(
    r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,400}?)(?<=\S)\*(?![\w*])|(?<!\w)_(?=[^\s_])([^_\n]{1,400}?)(?<=\S)_(?!\w)"
)
_QUOTES = re.compile(
    r"``(?=\S)([^`]{1,400}?)(?:''|``|\")|`(?=\S)([^`'\n]{1,400}?)'(?!\w)|``?([^`\n]{1,400})``?"
)
_RUN = re.compile(r"\*+|_+|-+")
_WORDS = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_TEXISH = re.compile(r"\\[A-Za-z]|[\^_{=<>≤≥]")
_THOUSANDS = re.compile(r"\d(?:\\,|\{,\})\d{3}(?!\d)")
_GROUP_LIMIT = 1500


def to_text(text: str) -> str:
    """Return ``text`` with markup turned to readable Unicode; what cannot be read stays as it is."""
    out: list[str] = []
    position = 0
    while match := _START.search(text, position):
        start = match.start()
        out.append(text[position:start])
        piece, position = _HANDLERS[match[0][0]](text, start)
        out.append(piece)
    out.append(text[position:])
    return "".join(out)


Piece = tuple[str, int]  # the readable text and where to go on


def _address(text: str, start: int) -> Piece:
    match = _URL.match(text, start)
    return (match[0], match.end()) if match else ("http", start + 4)


def _dollar(text: str, start: int) -> Piece:
    if match := _DISPLAY.match(text, start):
        return latex.piece(match[1].strip(), math=True), match.end()
    match = _INLINE.match(text, start)
    if match and _is_formula(match[1], text[match.end() : match.end() + 1]):
        return latex.piece(match[1].strip(), math=True), match.end()
    return "$", start + 1


def _is_formula(body: str, following: str) -> bool:
    """Tell ``$10$-shot`` and ``$ x_1 $`` from money: ``$5 and $10``, ``US$3-$4``."""
    if "\n\n" in body:
        return False
    if _TEXISH.search(body):
        return not (body[0].isdigit() and body[-1].isspace() and _WORDS.search(_MACRO.sub(" ", body)))
    money = following.isdigit() or (body[0].isdigit() and re.search(r"\s.*[A-Za-z]{2}", body))
    return not (body[0].isspace() or body[-1].isspace() or money or _WORDS.search(body))


def _backslash(text: str, start: int) -> Piece:
    for pattern, handle in _MACROS:
        if match := pattern.match(text, start):
            return handle(text, match)
    return "\\", start + 1


def _url_macro(_: str, match: re.Match[str]) -> Piece:
    return re.sub(r"\\([%#_&~])", r"\1", match[1]), match.end()


def _href(text: str, match: re.Match[str]) -> Piece:
    end = _group_end(text, match.end() - 1)
    label = to_text(text[match.end() : end - 1])
    return _labelled(label, match[1].replace("\\", "")), end


def _formula(_: str, match: re.Match[str]) -> Piece:
    return latex.piece((match[2] or match[3] or "").strip(), math=True), match.end()


def _environment(_: str, match: re.Match[str]) -> Piece:
    if match[1].rstrip("*") in ("equation", "align", "math", "displaymath", "gather", "eqnarray"):
        return f" {latex.piece(match[2].strip(), math=True)} ", match.end()
    items = re.split(r"\\item\b\s*", match[2])
    return " • ".join(to_text(item).strip() for item in items), match.end()


def _macro(text: str, match: re.Match[str]) -> Piece:
    """A macro with its arguments; an unknown one without arguments stays, as would a Windows path."""
    end = match.end()
    name = match[0][1:].rstrip("*")
    if name[0] == "n" and (name == "n" or name[1].isupper()) and not latex.is_known(name):
        return " ", match.start() + 2  # a line end that was escaped once too often
    while end < len(text) and text[end] in "[{":
        closed = _group_end(text, end)
        if closed == end:
            break
        end = closed
    if end == match.end():
        return _bare_macro(text, match, name)
    if name in latex.WRAPPERS and text[match.end()] == "{" and _group_end(text, match.end()) == end:
        return to_text(text[match.end() + 1 : end - 1]), end  # there may be formulas and links within
    return latex.piece(text[match.start() : end]), end


def _bare_macro(text: str, match: re.Match[str], name: str) -> Piece:
    if accent := _SPACED_ACCENT.match(text, match.start()):
        return latex.piece(accent[0]), accent.end()
    if not latex.is_known(name):
        return match[0], match.end()
    piece = latex.piece(match[0])
    # LaTeX takes no space behind a macro: "stra\ss e", "5 \textmu m"
    within = len(piece) == 1 and piece.isalpha() and re.compile(r" [a-z]").match(text, match.end())
    return piece, match.end() + bool(within)


def _plain_escape(text: str, match: re.Match[str]) -> Piece:
    if _THOUSANDS.match(text, match.start() - 1):
        return ",", match.end()
    return {",": " ", ";": " ", "!": "", "/": "", "-": ""}.get(match[1], match[1]), match.end()


def _accent(_: str, match: re.Match[str]) -> Piece:
    return latex.piece(match[0]), match.end()


def _break(_: str, match: re.Match[str]) -> Piece:
    return " ", match.end()


def _brace(text: str, start: int) -> Piece:
    r"""``{\it x}`` and ``{\"o}`` are markup; a plain ``{0, 1}`` is a set and stays."""
    if text.startswith("{,}", start):
        return ",", start + 3
    end = _group_end(text, start)
    if end == start or not re.match(r"\{\s*\\[A-Za-z`'^\"~=.]", text[start:end]):
        return "{", start + 1
    inner = text[start + 1 : end - 1].strip()
    switch = _MACRO.match(inner)
    if switch and switch[0][1:] in latex.SWITCHES:
        return to_text(inner[switch.end() :].strip()), end
    return to_text(inner), end


def _star(text: str, start: int) -> Piece:
    for pattern in (_STRONG, _EMPHASIS):
        if match := pattern.match(text, start):
            return to_text(match[1] or match[2]), match.end()
    run = _RUN.match(text, start)
    return (run[0], run.end()) if run else (text[start], start + 1)


def _bracket(text: str, start: int) -> Piece:
    if match := _LINK.match(text, start):
        return _labelled(to_text(match[1]), match[2]), match.end()
    return "[", start + 1


def _labelled(label: str, address: str) -> str:
    """A link keeps its address; said once where label and address are the same."""
    same = re.sub(r"^https?://|/$", "", label.strip()) == re.sub(r"^https?://|/$", "", address)
    return address if same or not label.strip() else f"{label} ({address})"


def _backtick(text: str, start: int) -> Piece:
    match = _QUOTES.match(text, start)
    if match is None:
        return "`", start + 1
    if match[1] is not None:
        return f"“{to_text(match[1])}”", match.end()
    if match[2] is not None:
        return f"‘{to_text(match[2])}’", match.end()
    return match[3], match.end()


def _tie(text: str, start: int) -> Piece:
    """``Figure~3`` is a tied space; ``~5%`` means about."""
    tied = (
        start > 0
        and (text[start - 1].isalnum() or text[start - 1] in ".})")
        and text[start + 1 : start + 2].strip()
    )
    return (" " if tied else "~"), start + 1


def _dash(text: str, start: int) -> Piece:
    """``---`` and a ``--`` between spaces or digits are dashes; ``--verbose`` is an option."""
    run = _RUN.match(text, start)
    width = len(run[0]) if run else 1
    before, after = text[start - 1 : start], text[start + width : start + width + 1]
    if width == 3:
        return "—", start + width
    if width == 2 and ((before.isspace() and after.isspace()) or (before.isalnum() and after.isalnum())):
        return "–", start + width
    return "-" * width, start + width


def _apostrophes(_: str, start: int) -> Piece:
    return "''", start + 2


def _group_end(text: str, start: int) -> int:
    """Return the index behind the bracket that closes the one at ``start``, or ``start`` if none does."""
    opening = text[start]
    closing = "}" if opening == "{" else "]"
    depth, position = 0, start
    while position < min(len(text), start + _GROUP_LIMIT):
        char = text[position]
        if char == "\\":
            position += 1
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return start


_MACROS: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], Piece]], ...] = (
    (_URL_MACRO, _url_macro),
    (_HREF, _href),
    (_DISPLAY, _formula),
    (_ENVIRONMENT, _environment),
    (_MACRO, _macro),
    (_ACCENT, _accent),
    (re.compile(r"\\\\(?:\[[^\]]*\])?"), _break),
    (_ESCAPE, _plain_escape),
)
_HANDLERS: dict[str, Callable[[str, int], Piece]] = {
    "h": _address,
    "$": _dollar,
    "\\": _backslash,
    "{": _brace,
    "*": _star,
    "_": _star,
    "[": _bracket,
    "`": _backtick,
    "~": _tie,
    "-": _dash,
    "'": _apostrophes,
}
