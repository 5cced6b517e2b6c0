"""Questions whose answer is a maximum or a tally over all records.

"Which paper has the longest author list?"  ->  "“...” has the most authors, 18."
"Who wrote the most papers?"                ->  "Ada Lovelace has the most papers, 4 of 38."
"What is the newest paper?"                 ->  "“...” is the newest, from 2025."
"How many papers per year?"                 ->  "Of 38 papers 30 are from 2025 and 8 from 2024."
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from rag.chain.criteria import enumerated, saying
from rag.records import Paper

# Of so many papers or authors that share a maximum, each is named in the sentence.
_NAMED = 5
_ITEM = r"(?:papers?|articles?|publications?|works?|one)"
_THERE = (
    r"(?: (?:are there|there are|do (?:you|we|i) have|(?:in|of) (?:the|my|this|your) (?:pile|collection)))?"
)


def _most_authors(papers: Sequence[Paper], _: re.Match[str]) -> tuple[str, list[Paper]] | None:
    number = max((len(paper.authors) for paper in papers), default=0)
    having = [paper for paper in papers if len(paper.authors) == number]
    if not number:
        return None
    return f"{_these(having)} {'has' if len(having) == 1 else 'have'} the most authors, {number}.", having


def _prolific(papers: Sequence[Paper], _: re.Match[str]) -> tuple[str, list[Paper]] | None:
    written = Counter(name for paper in papers for name in dict.fromkeys(paper.authors))
    if not written:
        return None
    most = max(written.values())
    names = [name for name, number in written.items() if number == most]
    if most == 1:
        return f"No author has more than one of the {len(papers):,} papers.", []
    having = [paper for paper in papers if set(names) & set(paper.authors)]
    who = [*names[:_NAMED], f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else names
    verb, each = ("has", "") if len(names) == 1 else ("have", " each")
    return f"{enumerated(who)} {verb} the most papers, {most:,} of {len(papers):,}{each}.", having


def _by_age(papers: Sequence[Paper], match: re.Match[str]) -> tuple[str, list[Paper]] | None:
    topic = match.groupdict().get("topic")
    if topic:
        on_it = saying([topic]).test
        papers = [paper for paper in papers if on_it(paper)]
    years = [paper.year for paper in papers if paper.year]
    if not years:
        return None
    old = match["age"].lower() in ("oldest", "earliest", "first")
    year = min(years) if old else max(years)
    having = [paper for paper in papers if paper.year == year]
    if len(having) == len(papers) > 1 and not topic:
        return f"All {len(papers):,} papers are from {year}.", having
    verb, mentions = ("is", "mentions") if len(having) == 1 else ("are", "mention")
    which = ("oldest" if old else "newest") + (f" that {mentions} “{topic}”" if topic else "")
    return f"{_these(having)} {verb} the {which}, from {year}.", having


def _divided(papers: Sequence[Paper], match: re.Match[str]) -> tuple[str, list[Paper]] | None:
    by_year = match["by"].lower().startswith("year")
    groups = Counter(str(paper.year or "") if by_year else paper.venue or "" for paper in papers)
    unknown = groups.pop("", 0)
    if not groups:
        return None
    ordered = sorted(groups.items(), reverse=True) if by_year else groups.most_common()
    parts = [f"{number:,} {'is' if number == 1 else 'are'} from {group}" for group, number in ordered]
    text = f"Of {len(papers):,} papers {enumerated(parts)}."
    if unknown:
        text += f" ({unknown:,} without {'year' if by_year else 'venue'} on record.)"
    return text, []


def _these(papers: Sequence[Paper]) -> str:
    if len(papers) > _NAMED:
        return f"{len(papers):,} papers"
    return enumerated([f"“{paper.title or paper.key}”" for paper in papers])


_TALLIES: tuple[
    tuple[re.Pattern[str], Callable[[Sequence[Paper], re.Match[str]], tuple[str, list[Paper]] | None]], ...
] = tuple(
    (re.compile(pattern, re.IGNORECASE), say)
    for pattern, say in (
        (
            r"which (?:paper|article) has (?:the )?(?:longest (?:author list|list of authors)|most authors)"
            r"(?:,? and how many .*)?$",
            _most_authors,
        ),
        (
            r"(?:who|which authors?) (?:has |have |is on |are on )?(?:the )?"
            rf"(?:(?:wrote|written|published|author|authored) )?(?:the )?most {_ITEM}{_THERE}$",
            _prolific,
        ),
        (
            r"(?:(?:who|which authors?) )?(?:(?:is|are) )?(?:the )?(?:(?:most (?:prolific|frequent|common)"
            rf"|top) authors?|appears? (?:the )?most(?: often)?){_THERE}$",
            _prolific,
        ),
        (
            rf"(?:(?:what|which)(?: {_ITEM})? (?:is|are) )?(?:the )?(?P<age>newest|latest|most recent|oldest"
            rf"|earliest) {_ITEM}(?: (?:on|about) (?P<topic>[\w -]{{2,60}}?))?{_THERE}$",
            _by_age,
        ),
        (rf"which {_ITEM} (?:is|are) (?:the )?(?P<age>newest|latest|most recent|oldest|earliest)$", _by_age),
        (
            rf"(?:how many|number of) {_ITEM}{_THERE} (?:per|by|in each|for each|from each|of each)"
            r" (?P<by>year|venue|conference|journal)$",
            _divided,
        ),
        (
            r"(?:which|what) (?P<by>years?|venues?|conferences?|journals?) (?:are|is|do|does)"
            rf"(?: (?:the|these|my|your))?(?: {_ITEM})?"
            r" ?(?:covered|there|in (?:the|my|this|your) (?:pile|collection)|from|span|cover|come from)$",
            _divided,
        ),
    )
)


def tallied(text: str, papers: Callable[[], Sequence[Paper]]) -> tuple[str, list[Paper]] | None:
    """Answer from all records, with the papers meant; None when no maximum or tally is asked for.

    Args:
        text: the question as ``pile_grammar.normal`` gives it.
        papers: reads the records; not called for other questions.
    """
    for pattern, say in _TALLIES:
        if match := pattern.match(text):
            return say(papers(), match)
    return None
