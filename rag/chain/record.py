"""Questions about one paper's record: who wrote it, how many they are, when and where it appeared.

    "Who wrote the AnyEdit paper?"              ->  "“AnyEdit: ...” is by Ada Lovelace and Grace Hopper."
    "Which paper has the longest author list?"  ->  "“...” has the most authors, 18."

Only when the words point at exactly one paper, by its title or by a name in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rag.chain.pile_grammar import normal
from rag.records import Paper
from rag.text.names import Lexicon, find
from rag.text.normalise import plain

_X = r"(?:the )?(?P<x>.+?)(?: (?:paper|article|work))?"
_ASKED: tuple[tuple[re.Pattern[str], Callable[[Paper, re.Match[str]], str | None]], ...]


def _authors(paper: Paper, _: re.Match[str]) -> str | None:
    return f"is by {_listed(paper.authors)}" if paper.authors else None


def _how_many(paper: Paper, _: re.Match[str]) -> str | None:
    number = len(paper.authors)
    return f"has {number} author{'s' * (number != 1)}" if number else None


def _end_of_list(paper: Paper, match: re.Match[str]) -> str | None:
    if not paper.authors:
        return None
    last = match["place"].lower() in ("last", "senior")
    return f"has {paper.authors[-1 if last else 0]} as {'last' if last else 'first'} author"


def _appeared(paper: Paper, _: re.Match[str]) -> str | None:
    where = " ".join(str(part) for part in (paper.venue, paper.year) if part)
    return f"appeared at {where}" if paper.venue else (f"is from {where}" if where else None)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


_ASKED = tuple(
    (re.compile(pattern, re.I), say)
    for pattern, say in (
        (rf"who (?:wrote|authored|(?:are|is) the authors? of) {_X}$", _authors),
        (rf"how many authors (?:does|do|did) {_X} have$", _how_many),
        (rf"how many authors (?:on|of|in) {_X}$", _how_many),
        (rf"(?:the )?number of authors (?:on|of|in) {_X}$", _how_many),
        (rf"how many (?:authors|people) (?:have )?(?:wrote|written) {_X}$", _how_many),
        (rf"who is the (?P<place>first|last|lead|senior) author of {_X}$", _end_of_list),
        (
            rf"(?:when|where|(?:in|at) (?:which|what) (?:year|venue|conference)|what year) was {_X} "
            r"(?:published|presented)$",
            _appeared,
        ),
    )
)
_MOST = re.compile(
    r"which (?:paper|article) has (?:the )?(?:longest (?:author list|list of authors)|most authors)"
    r"(?:,? and how many .*)?$",
    re.I,
)


def said(question: str, papers: Callable[[], Sequence[Paper]]) -> tuple[str, list[Paper]] | None:
    """Answer from one record (or those that share a maximum); None when no single paper is meant."""
    text = normal(question)
    if _MOST.match(text):
        return _most(papers())
    for pattern, say in _ASKED:
        match = pattern.match(text)
        paper = _meant(match["x"], papers()) if match else None
        words = say(paper, match) if match and paper else None
        if paper and words:
            return f"“{paper.title or paper.key}” {words}.", [paper]
    return None


def _most(papers: Sequence[Paper]) -> tuple[str, list[Paper]] | None:
    number = max((len(paper.authors) for paper in papers), default=0)
    having = [paper for paper in papers if len(paper.authors) == number]
    if not number:
        return None
    names = _listed([f"“{paper.title or paper.key}”" for paper in having])
    return f"{names} {'has' if len(having) == 1 else 'have'} the most authors, {number}.", having


def _meant(words: str, papers: Sequence[Paper]) -> Paper | None:
    """The one paper with this title or key, else with these names in its title, else in its abstract."""
    exact = plain(words).strip("\"' ").casefold()
    same = [paper for paper in papers if exact in (plain(paper.title or "").casefold(), paper.key)]
    if len(same) == 1:
        return same[0]
    names = find(f"the {words}")  # a capital at the beginning would tell nothing
    if not names:
        return None
    having = [paper for paper in papers if all(map(Lexicon(paper.title or "").has, names))]
    if not having and any(name.strong for name in names):
        having = [paper for paper in papers if all(map(Lexicon(paper.abstract).has, names))]
    return having[0] if len(having) == 1 else None
