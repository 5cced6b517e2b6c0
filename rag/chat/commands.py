"""What may be typed besides questions: lines that begin with a slash.

>>> parse("/use lee2025revise"), parse("How many layers?")
(Command(name='use', argument='lee2025revise'), None)
>>> parse("/surces")
Traceback (most recent call last):
rag.errors.UsageError: There is no command /surces. Did you mean /sources?

The first letters are enough where they begin only one command.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from rag import values
from rag.errors import UsageError
from rag.records import Filters


@dataclass(frozen=True, slots=True)
class Spec:
    """A command as /help shows it."""

    name: str
    argument: str
    help: str


COMMANDS = (
    Spec("help", "", "this list"),
    Spec("sources", "", "the papers shown so far, with their numbers"),
    Spec("quotes", "[on|off]", "the words each sentence of the last answer rests on; on: always"),
    Spec("open", "N", "open paper N in the browser"),
    Spec("cite", "", "BibTeX of all papers cited so far"),
    Spec(
        "papers",
        "[WORDS]",
        "the papers there are, or those with these words in key, title, authors, venue or year",
    ),
    Spec("filter", "year>=2024 venue=ICML author=NAME", "ask only such papers; off: all again"),
    Spec("use", "KEY...", "ask only these papers (keys or numbers); off: all again"),
    Spec("mode", "[extractive|model]", "quote sentences, or have a model write"),
    Spec("model", "[NAME]", "which model writes"),
    Spec("raw", "[on|off]", "on: questions are searched as typed, not made stand-alone"),
    Spec("retry", "", "ask the last question again"),
    Spec("undo", "", "take the last question and answer back"),
    Spec("save", "FILE", "write the conversation to FILE.md, FILE.json or FILE.bib"),
    Spec("cost", "", "tokens and money spent in this conversation"),
    Spec("new", "[NAME]", "begin another conversation"),
    Spec("sessions", "[WORDS]", "earlier conversations, or those in which these words were said"),
    Spec("resume", "NAME", "go on with an earlier conversation"),
    Spec("quit", "", "leave; everything is saved (Ctrl-D does the same)"),
)
_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "exit": "quit",
        "q": "quit",
        "bye": "quit",
        "h": "help",
        "?": "help",
        "bibtex": "cite",
        "refs": "sources",
    }
)
_OFF = frozenset({"off", "none", "clear", "all", "reset"})
_FILTER = re.compile(r"\s*(\w+)\s*(>=|<=|=|>|<|:)\s*")


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    argument: str = ""


def parse(line: str) -> Command | None:
    """Return the command of a line; None when it is a question.

    Raises:
        UsageError: it begins with a slash but is no command; the nearest one is named.
    """
    text = line.strip()
    if not text.startswith("/"):
        return None
    word, _, argument = text[1:].partition(" ")
    name = _ALIASES.get(word.lower(), word.lower())
    known = [spec.name for spec in COMMANDS]
    if name in known:
        return Command(name, " ".join(argument.split()))
    begun = [one for one in known if name and one.startswith(name)]
    if len(begun) == 1:
        return Command(begun[0], " ".join(argument.split()))
    near = begun or difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    meant = " or ".join(f"/{one}" for one in near)
    remedy = f"Did you mean {meant}?" if near else "/help lists the commands."
    raise UsageError(f"There is no command /{word}.", remedy)


def is_off(argument: str) -> bool:
    """Whether a word takes a restriction back."""
    return argument.lower() in _OFF


def switch(argument: str, now: bool) -> bool:
    """Read on or off; nothing changes to the other."""
    if argument.lower() in ("on", "off"):
        return argument.lower() == "on"
    if argument:
        raise UsageError(f"{argument!r} is neither on nor off.", "Write one of them, or nothing to switch.")
    return not now


def filtered(argument: str, now: Filters) -> Filters:
    """Return ``now`` with the kinds that are named replaced; ``year=`` alone takes one back.

    >>> described(filtered("year>=2024 author=Yoon Kim", Filters(venues=("ICML",))))
    'venue ICML; year 2024 or later; author Yoon Kim'

    Raises:
        UsageError: it is not made of year, venue and author conditions.
    """
    conditions = _conditions(argument)
    for kind in dict.fromkeys(kind for kind, _, _ in conditions):
        given = [(sign, value) for k, sign, value in conditions if k == kind and value]
        if kind == "year":
            now = replace(now, years=tuple(_years(sign, value) for sign, value in given))
        elif kind == "venue":
            now = replace(now, venues=tuple(value for _, value in given))
        else:
            now = replace(now, authors=tuple(value for _, value in given))
    return now


def _conditions(argument: str) -> list[tuple[str, str, str]]:
    found = list(_FILTER.finditer(argument))
    kinds = {"year", "venue", "author"}
    wrong = next((m[1] for m in found if m[1].lower() not in kinds), None)
    if not found or found[0].start() != 0 or wrong:
        about = f"There is no filter {wrong!r}." if wrong else f"{argument!r} is no filter."
        raise UsageError(about, "Example: /filter year>=2024 venue=ICML author=Lee")
    ends = [match.start() for match in found[1:]] + [len(argument)]
    return [
        (match[1].lower(), match[2], argument[match.end() : end].strip().strip("\"'"))
        for match, end in zip(found, ends, strict=True)
    ]


def _years(sign: str, value: str) -> tuple[int, int]:
    try:
        return values.years(value if sign in ("=", ":") else f"{sign}{value}")
    except ValueError as error:
        raise UsageError(f"Bad year {value!r}: it {error}.") from None


def described(filters: Filters) -> str:
    """Say which papers pass: ``venue ICML, year 2024 or later``."""
    parts = [f"venue {' or '.join(filters.venues)}"] if filters.venues else []
    parts += [f"year {' or '.join(map(_span, filters.years))}"] if filters.years else []
    parts += [f"author {' or '.join(filters.authors)}"] if filters.authors else []
    parts += [f"only {', '.join(filters.papers)}"] if filters.papers else []
    return "; ".join(parts)


def _span(years: tuple[int, int]) -> str:
    first, last = years
    if first == last:
        return str(first)
    if last == values.LAST_YEAR:
        return f"{first} or later"
    return f"{last} or earlier" if first == values.FIRST_YEAR else f"{first}-{last}"
