"""Short, typable keys: ``lee2025revise``, or ``specprefill-3f2a`` where authors or year are unknown.

The key of a paper depends on its content alone, so that the same paper gets the same key from any file and
on any day. Two papers may propose one key; ``distinct`` settles that with a letter.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container, Sequence

from rag.corpus import systems
from rag.text.words import word_set

_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "Ø": "O", "ß": "ss", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "æ": "ae", "Æ": "AE"}
    | {
        "þ": "th",
        "ð": "d",
        "ı": "i",
        "μ": "mu",
        "α": "alpha",
        "β": "beta",
        "λ": "lambda",
        "π": "pi",
        "∇": "nabla",
    }
)
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv|phd|md)\.?", re.IGNORECASE)
_STOP = word_set(
    "a an the on of in to for with without and or from by at as is are be do does can how what why when",
    "where towards toward via using into its their your our we it this that these those not no new",
    "novel position has have been between under over about than more most modern recent current",
    "existing large language models model learning despite while although paper work which such both",
    "also one two may",
)


def propose(
    abstract: str, title: str | None = None, authors: Sequence[str] = (), year: int | None = None
) -> str:
    """Return the key for a paper of this content.

    Args:
        abstract: the cleaned abstract.
        title: the cleaned title, if known.
        authors: names as read, "Given Family" or "Family, Given".
        year: of publication.
    """
    family = ascii_fold(family_name(authors[0])) if authors else ""
    if family and year and title:
        return f"{family}{year}{_title_word(title)}"[:48]
    named = _label(title) if title else systems.introduced(abstract)
    stem = ascii_fold(named or "") or "-".join(_content_words(title or abstract, 3)) or "paper"
    return f"{stem[:40].strip('-')}-{content_hash(abstract or title or '')[:4]}"


def distinct(proposed: str, taken: Container[str]) -> str:
    """Return ``proposed``, or with letters (b, c, ... z, ba, bb, ...) that make it new.

    Doubles and then halves its steps: a pile may have thousands of papers that propose one key.
    """
    if proposed not in taken:
        return proposed
    last = 1
    while proposed + _letters(last) in taken:
        last *= 2
    first = last // 2 + 1
    while first < last:  # the one before ``first`` is taken, ``last`` is free
        middle = (first + last) // 2
        if proposed + _letters(middle) in taken:
            first = middle + 1
        else:
            last = middle
    return proposed + _letters(last)


def _letters(number: int) -> str:
    """Write a number in base 26, a being 0: 1 is b, 25 is z, 26 is ba."""
    high, low = divmod(number, 26)
    return (_letters(high) if high else "") + chr(ord("a") + low)


def content_hash(text: str) -> str:
    """Return a SHA-256 in hex over letters and digits only: spacing, case and punctuation do not count."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return hashlib.sha256("".join(c for c in folded if c.isalnum()).encode()).hexdigest()


def family_name(author: str) -> str:
    """Return the family name of "Hyunseok Lee", "Lee, Hyunseok" or "Smith JA"."""
    if "," in author:
        return author.partition(",")[0].strip()
    words = [word for word in author.split() if not _SUFFIX.fullmatch(word)]
    if len(words) > 1 and re.fullmatch(r"[A-Z]{1,3}|[A-Z]\.(?:-?[A-Z]\.)*", words[-1]):
        return words[0]
    return words[-1] if words else ""


def ascii_fold(text: str) -> str:
    """Return lower-case ASCII letters and digits of ``text``, accents dropped."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_UNDECOMPOSED))
    return re.sub(r"[^a-z0-9]", "", decomposed.casefold())


def _title_word(title: str) -> str:
    label = ascii_fold(_label(title) or "")
    return label or next(iter(_content_words(title, 1)), "")


def _label(title: str) -> str | None:
    """Return the system of a title such as "ReVISE: Learning to Refine"."""
    match = re.match(r"([^\s:]{2,24})\s?:\s", title)
    return match[1] if match and match[1].casefold() not in _STOP else None


def _content_words(text: str, count: int) -> list[str]:
    words = (ascii_fold(word) for word in re.findall(r"[^\W_]+(?:-[^\W_]+)*", text[:2000]))
    return [word for word in words if len(word) > 1 and word not in _STOP][:count]
