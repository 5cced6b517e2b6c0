r"""BibTeX entries of papers, ready for ``\cite``: valid unique keys, accents and special characters as LaTeX.

>>> some = Paper("lee2025revise", "", Source("f", 1), "ReVISE at 7.66× & more", ("Jürgen Łee",), "ICML", 2025)
>>> print(entry(some), end="")
@inproceedings{lee2025revise,
  title = {{ReVISE} at 7.66{\texttimes} {\&} more},
  author = {J{\"u}rgen {\L}ee},
  booktitle = {ICML},
  year = {2025},
}

A letter that LaTeX has no ASCII spelling for (Chinese, Arabic ...) stays as it is; biber and modern engines
read UTF-8.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from pylatexenc.latexencode import UnicodeToLatexEncoder

from rag.records import Paper, Source
from rag.render import safe

__all__ = ["Paper", "Source", "entries", "entry", "latex"]

# Looked for first: a conference may be one on reviews, letters or science.
_MEETING = re.compile(r"\b(?:conference|proceedings|workshop|symposium|meeting)\b", re.I)
_JOURNAL = re.compile(
    r"\b(?:journal|transactions|letters|review|annals|magazine|TMLR|JMLR|TACL)\b|^\s*(?:nature|science)\b",
    re.I,
)
_PREPRINT = re.compile(r"\b(?:arxiv|preprint|corr|[bm]ed?rxiv)\b", re.I)
# Combining marks in the order LaTeX accents are wanted; used for letters that pylatexenc has no entry for.
_ACCENTS: Mapping[str, str] = MappingProxyType(
    {
        "\u0300": "\\`",
        "\u0301": "\\'",
        "\u0302": "\\^",
        "\u0303": "\\~",
        "\u0304": "\\=",
        "\u0306": "\\u",
        "\u0307": "\\.",
        "\u0308": '\\"',
        "\u0309": "\\h",
        "\u030a": "\\r",
        "\u030b": "\\H",
        "\u030c": "\\v",
        "\u0323": "\\d",
        "\u0327": "\\c",
        "\u0328": "\\k",
        "\u0331": "\\b",
    }
)


def entries(papers: Iterable[Paper]) -> str:
    """Return one entry per paper; keys that clash after cleaning get a letter."""
    taken: set[str] = set()
    texts = []
    for paper in papers:
        key = _free(_key(paper.key), taken)
        taken.add(key.casefold())
        texts.append(entry(paper, key))
    return "\n".join(texts)


def entry(paper: Paper, key: str | None = None) -> str:
    """Return the entry of one paper."""
    kind, venue_field = _kind(paper.venue)
    fields = {
        "title": _protected(paper.title) if paper.title else None,
        "author": " and ".join(_author(name) for name in paper.authors) or None,
        venue_field: latex(paper.venue) if paper.venue else None,
        "year": str(paper.year) if paper.year else None,
        "doi": _verbatim(paper.doi),
        "eprint": _verbatim(paper.arxiv_id),
        "archiveprefix": "arXiv" if paper.arxiv_id else None,
        "url": _verbatim(safe.address(paper.url)),
        "note": None if paper.title else "Untitled abstract: " + latex(" ".join(paper.abstract.split()[:10])),
    }
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{key or _key(paper.key)},\n{body}}}\n"


def latex(text: str) -> str:
    """Return ``text`` on one line as LaTeX that prints the same."""
    return _encoded(safe.line(text))


def _encoded(text: str) -> str:
    # BibTeX counts braces and does not know that "\\{" is none.
    pieces = re.split(r"([{}])", unicodedata.normalize("NFC", text))
    named = {"{": "{\\textbraceleft}", "}": "{\\textbraceright}"}
    encoder = UnicodeToLatexEncoder(
        unknown_char_policy="keep", unknown_char_warning=False, replacement_latex_protection="braces-all"
    )
    encoded = "".join(named.get(piece) or encoder.unicode_to_latex(piece) for piece in pieces)
    return "".join(c if c.isascii() else _accented(c) for c in encoded)


def _accented(character: str) -> str:
    """Spell a letter with its accents, innermost first: ``ễ`` is ``{\\~{\\^e}}``; else leave it as it is."""
    decomposed = unicodedata.normalize("NFD", character)
    base, accents = decomposed[0], decomposed[1:]
    if not base.isascii() or not accents or any(accent not in _ACCENTS for accent in accents):
        return character
    for accent in accents:
        base = f"{{{_ACCENTS[accent]}{base}}}" if len(base) > 1 else f"{{{_ACCENTS[accent]}{{{base}}}}}"
    return base


def _protected(title: str) -> str:
    """Put braces around names and acronyms, which a bibliography style would otherwise lower-case."""
    parts = re.split(r"([\s\-/–—:]+)", safe.line(title))
    return "".join(f"{{{_encoded(part)}}}" if _is_name(part) else _encoded(part) for part in parts)


def _is_name(word: str) -> bool:
    letters = [c for c in word if c.isalpha()]
    inner = any(c.isupper() for c in letters[1:]) or (
        word[:1].isdigit() and any(c.isupper() for c in letters)
    )
    return inner or (len(letters) == 1 and letters[0].isupper() and letters[0] != "A")


def _author(name: str) -> str:
    """``and`` separates authors, so a name that contains the word is held together by braces."""
    name = safe.line(name)
    return f"{{{latex(name)}}}" if re.search(r"\band\b", name, re.I) else latex(name)


def _kind(venue: str | None) -> tuple[str, str]:
    if venue is None or _PREPRINT.search(venue):
        return "misc", "howpublished"
    journal = _JOURNAL.search(venue) and not _MEETING.search(venue)
    return ("article", "journal") if journal else ("inproceedings", "booktitle")


def _verbatim(value: str | None) -> str | None:
    """DOIs and addresses are read verbatim; braces and backslashes in them would end the field."""
    return re.sub(r"[{}\\]", "", safe.line(value)) if value else None


def _key(key: str) -> str:
    ascii_key = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9:_.+-]", "", ascii_key) or "paper"


def _free(key: str, taken: set[str]) -> str:
    """BibTeX compares keys without case. ``key``, ``keya`` ... ``keyz``, ``keyaa`` ..."""
    candidate, n = key, 0
    while candidate.casefold() in taken:
        n += 1
        candidate = key + _letters(n)
    return candidate


def _letters(n: int) -> str:
    return ("" if n <= 26 else _letters((n - 1) // 26)) + "abcdefghijklmnopqrstuvwxyz"[(n - 1) % 26]
