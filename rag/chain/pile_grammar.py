"""Reads what a question about the pile asks for: which papers, by year, venue, author or words.

    >>> names = read("How many ICML papers from 2025 mention editing?", venues=lambda: {"ICML"})
    >>> [criterion.words for criterion in names]
    ['are from ICML', 'are from 2025', 'mention “editing”']
    >>> read("Which papers improve model editing?", venues=lambda: {"ICML"}) is None
    True

A question is read only if every word of it is understood; anything else is a question for the papers. Ways
of asking are first rewritten into one ("What has Ada Lovelace written?" into "which papers are by Ada
Lovelace"), then a head ("how many papers") is followed by criteria in any order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set

from rag.chain.criteria import (
    Criterion,
    Place,
    by_author,
    of_venue,
    of_years,
    saying,
    titled,
    with_authors,
)
from rag.text.normalise import plain
from rag.text.phrases import Phrase
from rag.text.spelling import written_out
from rag.text.venues import same

_NAME = r"[^\W\d_a-z][\w.'’-]*(?: (?:(?:de|der|den|van|von|da|di|la|le|el|bin) )*[^\W\d_a-z][\w.'’-]*){0,4}"
_PAPERS = r"(?:papers?|articles?|abstracts?|publications?|titles?)"
_WROTE = r"(?:(?:co-?)?author(?:ed)?|written|wrote|write|published|publish)"
_SOME = r"(?:(?:an? |any |some )?" + _PAPERS + r"|anything|something)"
_PILE = r"(?:the|my|our|this|your) (?:pile|index|library|corpus|collection|database)"
_THESE = r"(?:all )?(?:of )?(?:(?:these|the|my|your) " + _PAPERS + r"|" + _PILE + r")"
# What stands in the pile, altogether.
_OVERVIEW = (
    r"(?i:^(?:(?:what|which) (?:are|is) " + _THESE + r"(?: all)? about|what is in " + _PILE
    + r"|(?:summari[sz]e|describe|(?:give(?: me)? an )?overview (?:of|over)) " + _THESE
    + r"|(?:what|which) (?:topics|subjects|themes) (?:are (?:there|covered)(?: in " + _PILE
    + r")?|do(?:es)? " + _THESE + r" (?:cover|treat)))$)"
)  # fmt: skip
_REWRITTEN = [
    (re.compile(pattern), new)
    for pattern, new in (
        (r"(?i:,? (?:please|pls|thanks|thank you)$)", ""),
        (r"(?i:,? and (?:which|what)(?: (?:one|ones|papers?|is it|are they))*$)", ""),
        (r"(?i: et al\.?)", ""),
        (r"(?i:^([\w&.-]+(?: [\w&.-]+)?) (\d{4}) " + _PAPERS + r"$)", r"which papers are from \1 \2"),
        (_OVERVIEW, "which papers are there"),
        (r"(?i:^(?:is|are) there " + _SOME + r"(?= (?:that|which|by|on|about|from|in|with|mention)\b))",
         "which papers"),
        (r"(?i:^(?:do|have) (?:you|we|i) (?:have |got )?" + _SOME + r"(?= (?:by|on|about|from|mention)\b))",
         "which papers"),
        (r"(?i:^(?:anything|something)(?= (?:by|on|about|from)\b))", "which papers"),
        (r"(?i:^(?:do|does) (?:any|some)(?: of (?:the|these|my|your))? (?=" + _PAPERS + r" mention\b))",
         "which "),
        (r"(?i:^(?:is|are|was|were) (.+?) (?:ever )?mentioned(?: anywhere| at all| somewhere)?"
         r"(?: in (?:any|some|one)?(?: of)? ?(?:the |these |my |your )?" + _PAPERS + r")?$)",
         r"which papers mention \1"),
        (r"(?i:^" + _PAPERS + r"(?= (?:mentioning|(?:that |which )?mention|on|about|from|since|before|after"
         r"|until|between|published|accepted)\b))",
         "which papers"),
        (r"(?i:^(?:is|are) there (?:an? |any )?" + _PAPERS + r"\b)", "which papers"),
        (r"(?i:^any " + _PAPERS + r"\b)", "which papers"),
        (r"(?i:^(?:the )?number of(?= (?:the )?" + _PAPERS + r"\b))", "how many"),
        (r"(?i:^in how many (" + _PAPERS + r") (?:does|do|is|are) (.+?) (?:appear|occur|mentioned|named)$)",
         r"how many \1 mention \2"),
        (rf"(?i:^(?:what|which papers?) (?:has|have|did) )({_NAME})(?i: {_WROTE})$",
         r"which papers are by \1"),
        (rf"(?i:^which papers do )({_NAME})(?i: and )({_NAME})(?i: share|(?: both)? have in common)$",
         r"which papers are by \1 and by \2"),
        (r"(?i:^what is there (?=by ))", "which papers are "),
        (r"(?i:^papers(?= by ))", "which papers are"),
    )
]  # fmt: skip
_HEAD = re.compile(
    r"(?:please )?(?:how many|which|what|(?:can you )?(?:list|show|give|name|find|count)(?: me)?)(?: of)?"
    r"(?: all| every| the| your| my| our)*(?P<venue> [\w&.-]+)??(?P<year> \d{4})? (?P<noun>"
    + _PAPERS
    + r")\b",
    re.I,
)
_EVERYTHING = re.compile(
    r"(?:please )?(?:list|show|give|find)(?: me)? (?:everything|all)\b(?: that)?"
    r"(?: there is| you have| we have)?",
    re.I,
)
_PLACE = re.compile(
    r"(?:(?:that )?(?:are there|is there|there are|(?:do )?(?:you|we|i) have|have (?:you|we)(?: got)?|"
    r"(?:are |is )?(?:in|of) (?:the|my|our|this|your) (?:pile|index|library|corpus|collection|database)))\b",
    re.I,
)
_LINK = r"(?:(?:that |which )?(?:are|were|is|was|have been|came|appeared) )?(?:all )?"
_YEAR = re.compile(
    _LINK + r"(?:published |dated |written |out )?(?:(?P<how>from|in|of|since|after|before|until|between) )"
    r"(?:the year )?(?P<first>\d{4})(?:(?: and | to |\s?[-–]\s?)(?P<last>\d{4}))?\b"
    r"(?: (?:or|and) (?P<tail>later|newer|after|earlier|older|before)\b)?",
    re.I,
)
_AUTHOR = re.compile(rf"(?i:{_LINK}(?:co-?)?(?:written |authored |published )?by )(?P<name>{_NAME})")
_AUTHOR_AS = re.compile(
    rf"(?i:(?:that |which )?(?:with|has|have|lists?|names?) )(?P<name>{_NAME})"
    r"(?i: as (?:an? |the |its |their )*(?P<place>first |last |senior |lead |co-?)?authors?\b)"
)
_WORDS = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_NUMBERS = {**{word: n for n, word in enumerate(_WORDS)}, "a single": 1, "a dozen": 12}
_AUTHORS = re.compile(
    r"(?:that |which )?(?:are |is )?(?:with|has|have|by) (?P<how>exactly |only |just |at least |at most |"
    r"more than |over |fewer than |less than )?(?P<number>\d{1,6}|"
    + "|".join(_NUMBERS)
    + r") (?:authors?|people|names?)"
    r"(?P<tail> or (?:more|fewer|less))?\b",
    re.I,
)
_VENUE = re.compile(
    _LINK + r"(?:published |presented |accepted )?(?:at|in|from) (?:the )?(?P<venue>[\w&. -]+)", re.I
)
_MENTION = re.compile(
    r"(?:that |which )?(?:mention(?:s|ing)?|contain(?:s|ing)?|refer(?:s|ring)? to|with the words?)"
    r" (?P<exact>the (?:words?|phrase|term) )?(?P<phrase>.+)",
    re.I,
)
_ABOUT = re.compile(_LINK + r"(?:on|about) (?:the (?:topic|subject) of )?(?P<phrase>.+)", re.I)
_NOT_A_PHRASE = re.compile(
    r"\b(?:how|why|what|which|that|who|whether|when|if|is|are|was|were|do|does|did|can|not|but|than|it|they"
    r"|you)\b",
    re.I,
)
_LONGEST_PHRASE = 5
_JOINED = re.compile(r"(?:,? )(and|or) (?:on |about |both |either )?", re.I)
_QUOTES = ('"', "'")

Venues = Callable[[], Set[str]]
Says = Callable[[Sequence[str], bool], Criterion]


def read(question: str, venues: Venues) -> list[Criterion] | None:
    """Return what is asked of the papers (nothing, for "what papers do you have?"); None if it is not that.

    Args:
        venues: gives those of the pile; no other word is taken for one.
    """
    return criteria_of(normal(question), venues)


def criteria_of(text: str, venues: Venues) -> list[Criterion] | None:
    """The same for a question as ``normal`` gives it."""
    head = _HEAD.match(text) or _EVERYTHING.match(text)
    if not head:
        return None
    found = _of_head(head, venues)
    says = titled if head.groupdict().get("noun", "").lower().startswith("title") else saying
    rest = text[head.end() :].strip(" ,")
    while found is not None and rest:
        step = _next(rest, venues, says)
        if step is None and rest.startswith("and "):  # a further phrase: "on LoRA and quantization"
            step = _next(f"mention {rest.removeprefix('and ')}", venues, says)
        if step is None:
            return None
        criterion, rest = step
        found += [criterion] if criterion else []
    return found


def normal(question: str) -> str:
    """The question on one line, without its mark, rewritten into the form that ``read`` knows."""
    text = " ".join(plain(written_out(question)).rstrip(" ?.!").split())
    for pattern, new in _REWRITTEN:
        text = pattern.sub(new, text, count=1)
    return text


def _of_head(head: re.Match[str], venues: Venues) -> list[Criterion] | None:
    named = head.groupdict()
    found = []
    if named.get("venue"):
        venue = _known(named["venue"], venues)
        if venue is None:
            return None
        found.append(of_venue(venue))
    if named.get("year"):
        found.append(of_years("from", int(named["year"]), None))
    return found


def _next(rest: str, venues: Venues, says: Says) -> tuple[Criterion | None, str] | None:
    """The criterion at the beginning of ``rest`` (None for "in the pile") and what follows it."""
    rest = re.sub(r"^(?:and|,) ", "", rest)
    readings: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Criterion | None]], ...] = (
        (_PLACE, lambda _: None),
        (_YEAR, _of_years),
        (_AUTHORS, _number_of_authors),
        (_AUTHOR_AS, lambda m: by_author(m["name"], _place(m["place"] or ""))),
        (_AUTHOR, lambda m: by_author(m["name"])),
    )
    for pattern, make in readings:
        if match := pattern.match(rest):
            return make(match), rest[match.end() :].strip(" ,")
    return _venue_at(rest, venues) or _phrase_at(rest, says)


def _of_years(match: re.Match[str]) -> Criterion:
    how = {"": match["how"].lower(), "e": "until", "o": "until", "b": "until"}.get(
        (match["tail"] or "")[:1], "since"
    )
    return of_years(how, int(match["first"]), int(match["last"]) if match["last"] else None)


def _place(word: str) -> Place:
    return {"first ": "first", "lead ": "first", "last ": "last", "senior ": "last"}.get(word.lower(), "")  # type: ignore[return-value]


def _number_of_authors(match: re.Match[str]) -> Criterion:
    said = match["number"].lower()
    number = _NUMBERS[said] if said in _NUMBERS else int(said)
    how = (match["how"] or "").strip().lower()
    tail = (match["tail"] or "").lower()
    if how in ("more than", "over"):
        return with_authors("at least", number + 1)
    if how in ("fewer than", "less than"):
        return with_authors("at most", number - 1)
    if how == "at least" or tail.endswith("more"):
        return with_authors("at least", number)
    return with_authors("at most" if how == "at most" or tail else "exactly", number)


def _venue_at(rest: str, venues: Venues) -> tuple[Criterion, str] | None:
    match = _VENUE.match(rest)
    words = match["venue"].split() if match else []
    for size in range(len(words), 0, -1):
        venue = _known(" ".join(words[:size]), venues)
        if match and venue:
            left = rest[match.end() :]
            later = " ".join(words[size:])
            if re.match(r"\d{4}\b", later):  # "at ICML 2025"
                later = f"in {later}"
            return of_venue(venue), f"{later}{left}".strip(" ,")
    return None


def _phrase_at(rest: str, says: Says) -> tuple[Criterion, str] | None:
    for pattern in (_MENTION, _ABOUT):
        match = pattern.match(rest)
        if match:
            phrase = re.sub(rf"\s+{_PLACE.pattern}$", "", match["phrase"], flags=re.I)
            return _criteria_of(phrase.strip(), says, bool(match.groupdict().get("exact")))
    return None


def _criteria_of(phrase: str, says: Says, exact: bool) -> tuple[Criterion, str] | None:
    """Read "RLHF or DPO" as two phrases, of "LoRA and ..." the first; in quotation marks it is one."""
    parts = [phrase] if phrase[:1] in _QUOTES else _JOINED.split(phrase, maxsplit=1)
    first, second = parts[0].strip("\"' "), parts[-1].strip("\"' ")
    if not _is_phrase(first):
        return None
    if len(parts) == 1:
        return says([first], exact), ""
    if parts[1].lower() == "and":
        return says([first], exact), f"and {parts[2]}"
    return (says([first, second], exact), "") if _is_phrase(second) else None


def _is_phrase(phrase: str) -> bool:
    short = len(phrase.split()) <= _LONGEST_PHRASE
    return short and bool(Phrase(phrase)) and not _NOT_A_PHRASE.search(phrase)


def _known(word: str, venues: Venues) -> str | None:
    """What a word is called in the answer, if it is a venue: as the pile has it, else as it was asked."""
    word = word.strip()
    meant = [venue for venue in venues() if same(word, venue)]
    return next((venue for venue in meant if venue.casefold() == word.casefold()), word) if meant else None
