"""Questions about one paper's record: who wrote it, when and where it appeared, its title, its address.

    "Who wrote the AnyEdit paper?"  ->  "“AnyEdit: ...” is by Ada Lovelace and Grace Hopper."
    "Link to AnyEdit"               ->  "“AnyEdit: ...” has no address on record."

Only when the words point at exactly one paper, by its title or by a name in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rag.chain.criteria import enumerated
from rag.chain.signals import is_topic
from rag.chain.support import Reading
from rag.chain.titles import find as find_titles
from rag.records import Paper
from rag.text.names import Lexicon, Name, find
from rag.text.normalise import plain

_X = r"(?:the )?(?P<x>.+?)(?: (?:paper|article|work))?"
# "Who wrote AnyEdit and when?"
_AND_WHEN = re.compile(r",? and (?:when|where)$", re.IGNORECASE)
# "Who wrote AnyEdit, and when was it published?"
_ALSO = re.compile(
    r",? and (?=(?:who|when|where|what|how|in which|why|which|does|is)\b.*\b(?:it|they|them|this|that)\b)",
    re.I,
)
_IT = re.compile(r"\b(?:it|they|them|this|that)\b(?: paper\b)?", re.I)
# Of X nothing may be asked but this: "who proposed the loss that AnyEdit uses" is about something else.
_ONLY_X = r"(?:the )?(?:paper |article )?(?P<only>.+?)(?: (?:paper|article))?"

_NAMELESS = "has no authors on record"


def _authors(paper: Paper, _: re.Match[str]) -> str:
    return f"is by {enumerated(paper.authors)}" if paper.authors else _NAMELESS


def _how_many(paper: Paper, _: re.Match[str]) -> str:
    number = len(paper.authors)
    return f"has {number} author{'s' * (number != 1)}" if number else _NAMELESS


def _end_of_list(paper: Paper, match: re.Match[str]) -> str:
    if not paper.authors:
        return _NAMELESS
    last = match["place"].lower() in ("last", "senior")
    return f"has {paper.authors[-1 if last else 0]} as {'last' if last else 'first'} author"


def _appeared(paper: Paper, _: re.Match[str]) -> str:
    where = " ".join(str(part) for part in (paper.venue, paper.year) if part)
    if not where:
        return "has no venue or year on record"
    return f"appeared at {where}" if paper.venue else f"is from {where}"


def _title(paper: Paper, _: re.Match[str]) -> str:
    return "is its title" if paper.title else "has no title on record"


def _cited_as(paper: Paper, _: re.Match[str]) -> str:
    return f"has the citation key {paper.key}; --format bibtex prints its entry"


def _address(paper: Paper, _: re.Match[str]) -> str:
    doi = f"https://doi.org/{paper.doi}" if paper.doi else ""
    arxiv = f"https://arxiv.org/abs/{paper.arxiv_id}" if paper.arxiv_id else ""
    found = paper.url or doi or arxiv
    return f"is at {found}" if found else "has no address on record"


_Says = Callable[[Paper, re.Match[str]], str]
# What a record has, asked for by its name: "authors and year of AnyEdit".
_ATTRIBUTES: tuple[tuple[str, _Says], ...] = (
    (r"(?P<place>first|last|lead|senior) author", _end_of_list),
    (r"(?:full |complete )?(?:list of )?authors?(?: list| names)?", _authors),
    (r"(?:publication |publishing )?(?:year|date)|venue|conference|journal", _appeared),
    (r"(?:full )?title", _title),
    (r"(?:paper )?(?:link|url|address|doi)s?|links?", _address),
    (r"(?:bibtex|bib|citation|reference)(?: (?:entry|key|record))?", _cited_as),
)
_ATTRIBUTE = rf"(?:{'|'.join(re.sub('[?]P<place>', '?:', name) for name, _ in _ATTRIBUTES)})"
_LISTED = re.compile(
    r"(?:(?:what|who) (?:is|are|was|were) |(?:please )?(?:give|show|tell|list|get|name)(?: me)? )?"
    r"(?:the |an? |its |their )?"
    rf"(?P<attributes>{_ATTRIBUTE}(?:,? (?:and )?(?:the |its |their )?{_ATTRIBUTE})*)"
    rf"(?: (?:please|pls))? (?:of|for|to) {_ONLY_X}$",
    re.IGNORECASE,
)
_ASKED: tuple[tuple[re.Pattern[str], _Says], ...] = tuple(
    (re.compile(pattern, re.I), say)
    for pattern, say in (
        (rf"who (?:wrote|authored|(?:are|is) the authors? of) {_X}$", _authors),
        (
            r"(?:who (?:proposed|introduced|presented|developed|created|invented|made|came up with|is behind)"
            rf"|by whom is) {_ONLY_X}$",
            _authors,
        ),
        (rf"how many authors (?:does|do|did) {_X} have$", _how_many),
        (rf"how many authors (?:on|of|in) {_X}$", _how_many),
        (rf"(?:the )?number of authors (?:on|of|in) {_X}$", _how_many),
        (rf"how many (?:authors|people) (?:have )?(?:wrote|written) {_X}$", _how_many),
        (
            rf"(?:when|where|(?:in|at) (?:which|what) (?:year|venue|conference)|what year) was {_X} "
            r"(?:published|presented)$",
            _appeared,
        ),
        (
            r"(?:when|where|(?:in |at )?(?:which|what) (?:year|venue|conference|journal)) (?:is|did) "
            rf"{_ONLY_X} (?:from|appear|come out)(?: (?:in|at))?$",
            _appeared,
        ),
        (rf"(?:please )?(?:how (?:do|can|should) (?:i|we|you) )?cite {_ONLY_X}$", _cited_as),
    )
)
# "The year, in AnyEdit", as a conversation writes "the year?".
_INSIDE = re.compile(r"^(?:(?:and|or|but) )?(.+), in ([^,]+|[\"“].+[\"”]|.+ and .+)$")


def said(text: str, papers: Callable[[], Sequence[Paper]]) -> tuple[str, list[Paper]] | None:
    """Answer from the records of the papers meant; None where the words mean none, or anything else.

    Args:
        text: the question as ``pile_grammar.normal`` gives it.
        papers: reads the records; not called for questions about anything else.
    """
    first, *further = _ALSO.split(_INSIDE.sub(r"\1 of \2", text), maxsplit=1)
    if (dated := _AND_WHEN.search(first)) and (found := _asked(first[: dated.start()], papers)):
        return _sentences([*found[0], (_appeared, dated)], found[1])
    found = _asked(first, papers)
    if found is None or not further:
        return _sentences(*found) if found else None
    says, meant = found
    again = _asked(re.sub(_IT, lambda _: meant[0].key, further[0]), papers) if len(meant) == 1 else None
    return _sentences([*says, *again[0]], meant) if again else None


def _asked(text: str, papers: Callable[[], Sequence[Paper]]) -> tuple[list[_Said], list[Paper]] | None:
    """What is asked of which papers."""
    for pattern, say in _ASKED:
        if match := pattern.match(text):
            alone = "only" in match.groupdict()
            meant = _all_meant(match["only" if alone else "x"], papers(), alone=alone)
            return ([(say, match)], meant) if meant else None
    if match := _LISTED.match(text):
        meant = _all_meant(match["only"], papers(), alone=True)
        return (list(_listed(match["attributes"])), meant) if meant else None
    return None


_Said = tuple[_Says, re.Match[str]]


def _listed(attributes: str) -> Iterator[_Said]:
    for name in re.finditer(_ATTRIBUTE, attributes, re.IGNORECASE):
        for pattern, say in _ATTRIBUTES:
            if match := re.fullmatch(pattern, name[0], re.IGNORECASE):
                yield say, match
                break


def _sentences(says: Sequence[_Said], papers: list[Paper]) -> tuple[str, list[Paper]]:
    each = ((paper, dict.fromkeys(say(paper, match) for say, match in says)) for paper in papers)
    return " ".join(f"“{paper.title or paper.key}” {' and '.join(said)}." for paper, said in each), papers


def _all_meant(words: str, papers: Sequence[Paper], *, alone: bool) -> list[Paper]:
    """The paper that the words mean, or those that each of "AnyEdit and PENME" means; else none."""
    if (one := _meant(words, papers, alone=alone)) is not None:
        return [one]
    parts = re.split(r",? and |, ", words)
    found = [_meant(part, papers, alone=True) for part in parts] if len(parts) > 1 else []
    return [paper for paper in found if paper is not None] if all(found) else []


def _meant(words: str, papers: Sequence[Paper], *, alone: bool) -> Paper | None:
    """The one paper with this title or key, else with these names in its title, else in its abstract.

    With ``alone``, the words must be a title, a key or a name and nothing else.
    """
    exact = plain(words).strip("\"' ").casefold()
    same = [paper for paper in papers if exact in (plain(paper.title or "").casefold(), paper.key)]
    if not same and (quoted := find_titles(plain(words), papers)):
        same = [paper for paper in papers if quoted[0].is_of(paper)]
    if len(same) == 1:
        return same[0]
    if len(begun := _begun_by(words, papers)) == 1:
        return begun[0]
    names = find(f"the {words}")  # a capital at the beginning would tell nothing
    if not names or (alone and (len(names) > 1 or len(names[0].text) < len(exact))):
        return None
    having = [paper for paper in papers if all(map(Lexicon(paper.title or "").has, names))]
    if not having and any(name.strong for name in names):
        having = [paper for paper in papers if _is_about(paper, names)]
    return having[0] if len(having) == 1 else None


def _begun_by(words: str, papers: Sequence[Paper]) -> list[Paper]:
    """The papers whose title, up to its colon, is these words: "adam" of "Adam: A Method for ..."."""
    called = plain(words).strip("\"' ").casefold()
    return [paper for paper in papers if plain(paper.title or "").partition(":")[0].casefold() == called]


def _is_about(paper: Paper, names: Sequence[Name]) -> bool:
    """Whether the abstract has the names and is about one of them: GPT-4 is not by those who only ran it."""
    if not all(map(Lexicon(paper.abstract).has, names)):
        return False
    reading = Reading(paper)
    return any(is_topic(name, reading) for name in names)
