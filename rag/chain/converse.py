"""Makes a follow-up question stand on its own, by rules over the turns before; says what was taken for what.

    What is PILAF?               ... [1]
    Is that hard to implement?   ->  Is PILAF hard to implement?        ("that" was taken for PILAF [1])

Extractive mode has nothing else; in model mode the model rewords (``rag.chain.reword``), and this is what is
left when its wording cannot be used. A question that needs nothing from before stays as it is. All pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rag.chain import ellipsis, leadin
from rag.chain.carried import Carried, carried
from rag.chain.mention_words import LINKED
from rag.chain.mentions import Mention, find
from rag.chain.question import read
from rag.chain.turns import NOTHING, Cited, Context, Shown, Turn, mentions, stems, together
from rag.text.sentences import split
from rag.text.spelling import written_out

__all__ = ["Cited", "Resolved", "Rewrite", "Turn", "chosen", "standalone"]

_ONE = re.compile(r"(?:this|that|the other) one", re.IGNORECASE)
_AT_ONCE = 3  # papers that "they" may stand for
_FEW_WORDS = 4  # of what was meant instead
_LONGEST = 2000  # characters of a question that leaves something out; a page of text says it all
_MORE = re.compile(
    r"(?:please )?(?:(?:can |could )?(?:you )?(?:tell|give|show) me )?"
    r"(?:(?:some |a bit |a little )?more(?: (?:details?|info(?:rmation)?|(?:about|on) (?:it|that|this)))*"
    r"|(?:in )?more detail|details?|elaborate|go on|continue|(?:explain|say) (?:more|further))"
    r"(?: please| pls)?",
    re.IGNORECASE,
)
_LESS = re.compile(
    r"(?:please )?(?:(?:make it )?(?:shorter|briefer)|in short|briefly|in (?:one|a) sentence"
    r"|(?:the )?short version|too long)(?: please| pls)?",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:(?:any |some )?(?<!the )(?<!that )(?<!those )other (?:papers?|articles?|works?|stud(?:y|ies)|ones)"
    r"|(?:similar|related|further) (?:papers?|articles?|works?)"
    r"|(?:anything|something|what) else(?= (?:on|about|like)\b))",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:this|that|it|them|these|those|same|like|similar|also|too|so|else|topic|subject|have|there)\b",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:compare|versus|vs|than|differ|unlike|better|worse|beat|outperform)", re.IGNORECASE
)


_Found = tuple[Mention, tuple[Cited, ...]]


@dataclass(frozen=True, slots=True)
class Resolved:
    """``words`` of the question were taken for these papers; no words when its whole subject was missing."""

    words: str
    papers: tuple[Cited, ...]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The question to search for.

    Attributes:
        resolved: what was taken for what.
        by: who reworded it.
        without: keys of papers that are not meant.
        otherwise: how else it can be read, for when the papers do not answer it so.
    """

    question: str
    resolved: tuple[Resolved, ...] = ()
    by: Literal["rules", "model"] | None = None
    without: tuple[str, ...] = ()
    otherwise: Rewrite | None = None


def standalone(question: str, turns: Sequence[Turn], shown: Shown = NOTHING) -> Rewrite:
    """Return ``question`` as it would be asked without the turns before.

    Args:
        turns: oldest first; the last few are enough.
        shown: the papers of the whole conversation by number, for a number that none of ``turns`` shows.
    """
    question = " ".join(question.split())
    if len(question) > _LONGEST:
        return Rewrite(question)
    context = Context(turns, shown)
    if not turns:
        found = find(question)
        return _rewritten(question, [(m, context.numbered(m.value)) for m in found if m.kind == "number"])
    return _led(question, context)


def _led(question: str, context: Context) -> Rewrite:
    """What a question means after what is said before it."""
    lead = leadin.read(written_out(question))
    if lead.kind == "new":
        return Rewrite(lead.rest)
    if lead.kind == "back" and (papers := _gone_back_to(lead.words, context)):
        if not lead.rest:
            return Rewrite(f"Tell me about {together(papers)}.", (Resolved(lead.words, papers),), "rules")
        return _within(lead.rest, context.about(papers))
    if lead.kind == "instead" and (meant := _instead(lead.rest, context)):
        return meant
    rest = question if lead.kind == "back" else lead.rest
    return _more(rest, context) or _others(rest, context) or _within(rest, context)


def _within(question: str, context: Context) -> Rewrite:
    """What a question means among the papers spoken of."""
    found = find(question)
    resolved = [(m, papers) for m in found if (papers := _antecedents(m, question, context))]
    if any(_says_which(m) and not _antecedents(m, question, context) for m in found):
        # It asks about a paper that was never shown: of another one it would be another question.
        return _rewritten(question, [(m, papers) for m, papers in resolved if m.kind != "loose"])
    return (
        _thing(question, context)
        or _completed(question, resolved, context)
        or _named(question, resolved, context)
    )


def _gone_back_to(words: str, context: Context) -> tuple[Cited, ...]:
    """The papers of the conversation that someone goes back to: "the first paper", "ladder residual"."""
    for mention in find(words):
        if papers := _antecedents(mention, words, context):
            return papers
    wanted = stems(words)
    called = [cited for cited in context.every if cited.is_called(words)]
    said = [cited for cited in context.every if wanted and wanted <= stems(cited.paper.text)]
    return tuple([*called, *said][:1])


def _instead(words: str, context: Context) -> Rewrite | None:
    """The question before about something else ("no, I meant SpeCache"); None for a question of its own."""
    if len(words.split()) > _FEW_WORDS or words.endswith("?"):
        return None
    whole = ellipsis.complete(f"what about {words}", context)
    return Rewrite(whole or f"What is {words}?", (), "rules")


def _more(question: str, context: Context) -> Rewrite | None:
    """More of the paper spoken of, or less of it."""
    text, papers = question.rstrip(" ?!."), context.main()
    forms = {"Tell me about {}.": _MORE, "{} in one sentence.": _LESS}
    wanted = next((form for form, asks in forms.items() if asks.fullmatch(text)), "")
    if not papers or not wanted:
        return None
    return Rewrite(wanted.format(together(papers)), (Resolved("", papers),), "rules")


def _others(question: str, context: Context) -> Rewrite | None:
    """Papers besides those spoken of, on what is asked or, where nothing is, on the same topic."""
    if not _OTHERS.search(question):
        return None
    papers = context.subject or context.main()
    keys = tuple(cited.paper.key for cited in papers)
    own = [sentence.text for sentence in split(question) if _OTHERS.search(sentence.text)][-1:]
    text = _OTHERS.sub("papers", (own or [question])[0])
    if not _topic(text):
        text = f"papers on {_topic_of(papers)}" if papers else ""
    return Rewrite(text, (Resolved("other than", papers),) if papers else (), "rules", keys) if text else None


def _topic(question: str) -> bool:
    """Whether a question about other papers says on what."""
    asked = read(_POINTS.sub(" ", question))
    return bool(asked.words or asked.names)


def _topic_of(papers: Sequence[Cited]) -> str:
    """The topic of a paper in words: its title without the name of its system."""
    paper = papers[0].paper
    head, colon, tail = (paper.title or split(paper.abstract)[0].text).partition(":")
    return (tail if colon and len(tail.split()) > 2 else head).strip()


def chosen(rewrite: Rewrite, answers: Callable[[Rewrite], bool]) -> Rewrite:
    """Return the reading of a question that the papers answer; the likelier one where both or none is.

    Args:
        answers: whether they answer a reading; asked of the second only if the first is not answered.
    """
    other = rewrite.otherwise
    return other if other is not None and not answers(rewrite) and answers(other) else rewrite


def says_which(question: str) -> bool:
    """Whether a question calls a paper by number or year: "[2]", "paper 2", "the 2024 paper"."""
    return any(_says_which(mention) for mention in find(question))


def _says_which(mention: Mention) -> bool:
    """Whether the words stand for one paper and no other."""
    return mention.kind == "number" or (mention.kind == "property" and mention.text.isdecimal())


def _thing(question: str, context: Context) -> Rewrite | None:
    """Take "that one" for the one thing that the last answer, resting on one paper, named first.

    Which loss is added? -- BDL. -- Why was that one needed?    ->  Why was BDL needed, in DA-KD?
    """
    one = next((m for m in find(question) if _ONE.fullmatch(m.words)), None)
    names = context.new_names()
    if one is None or len(names) != 1 or len(context.listed) != 1:
        return None
    text = f"{question[: one.start]}{names[0]}{question[one.end :]}".rstrip(" ?!.")
    papers = context.main()
    return Rewrite(f"{text}, in {together(papers)}?", (Resolved(one.words, papers),), "rules")


def _completed(question: str, resolved: Sequence[_Found], context: Context) -> Rewrite | None:
    """A fragment put into the question before."""
    chosen = [(m, papers) for m, papers in resolved if m.kind in ("number", "ordinal", "other", "property")]
    if not chosen:
        whole = ellipsis.complete(question, context)
        return Rewrite(whole, (Resolved("", context.main()),), "rules") if whole else None
    mention, papers = chosen[0]
    swapped = ellipsis.swapped(question, context, papers)
    return Rewrite(swapped, (Resolved(mention.words, papers),), "rules") if swapped else None


def _named(question: str, resolved: Sequence[_Found], context: Context) -> Rewrite:
    """A whole question with names for what points back."""
    if resolved:
        return _rewritten(question, resolved)
    about = carried(question, context)
    within = _rewritten(question, [(None, context.main())])
    if about in (Carried.YES, Carried.FIRST):
        return within if about is Carried.YES else replace(within, otherwise=Rewrite(question))
    if about is Carried.ELSE:
        return Rewrite(question, otherwise=within)
    if not context.subject and (find(question) or LINKED.match(question)):
        return Rewrite(f"{context.last.standalone} {question}", (), "rules")
    return Rewrite(question)


def _antecedents(mention: Mention, question: str, context: Context) -> tuple[Cited, ...]:
    """The papers that the words stand for; none when they stand for something else."""
    match mention.kind:
        case "number":
            return context.numbered(mention.value)
        case "property":
            return tuple(cited for cited in context.every if _is(cited, mention.text))[:1]
        case "ordinal" | "other":
            return _of_the_list(mention, context)
        case "pair":
            return context.pair
    # "What did they use for RLEF?" asks about that paper's authors.
    if mention.kind == "they" and context.foreign(question) and not _COMPARES.search(question):
        return ()
    return context.subject[:_AT_ONCE] if mention.plural else context.main()


def _of_the_list(mention: Mention, context: Context) -> tuple[Cited, ...]:
    listed = context.listed
    if mention.kind == "ordinal":
        # Where the last answer showed one paper only, "the second one" is the second of the conversation.
        papers = listed if len(listed) > 1 else tuple(sorted(context.every, key=lambda cited: cited.ref))
        place = mention.value - 1 if mention.value > 0 else len(papers) - 1
        return papers[place : place + 1] if len(papers) > 1 else ()
    others = tuple(cited for cited in listed if cited not in context.main())
    return others[:_AT_ONCE] or context.main()


def _is(cited: Cited, description: str) -> bool:
    """Whether a year, a venue or an author's surname describes the paper."""
    paper, wanted = cited.paper, description.casefold()
    surnames = {word.casefold() for name in paper.authors for word in name.split()}
    return wanted in {str(paper.year), (paper.venue or "").casefold(), *surnames} - {""}


def _rewritten(question: str, resolved: Sequence[tuple[Mention | None, tuple[Cited, ...]]]) -> Rewrite:
    """Put names in the place of words, last first so that offsets stay true; add those that fit nowhere."""
    text = question
    added: dict[int, Cited] = {}
    first = _first_of_each(resolved)
    for mention, papers in reversed(list(resolved)):
        if all(mentions(question, cited) for cited in papers):
            continue
        new = _replacement(mention, papers) if mention in first else None
        if mention is None or (new is None and mention in first):
            added |= {cited.ref: cited for cited in papers}
        elif new is not None:
            text = text[: mention.start] + new + text[mention.end :]
    missing = [cited for _, cited in sorted(added.items()) if not mentions(text, cited)]
    if missing:
        body = text.rstrip(" ?!.")
        text = f"{body}, in {together(missing)}{text[len(body) :].strip() or '?'}"
    told = tuple(Resolved(mention.words if mention else "", papers) for mention, papers in resolved if papers)
    return Rewrite(text, told, "rules") if text != question else Rewrite(question)


def _first_of_each(resolved: Sequence[tuple[Mention | None, tuple[Cited, ...]]]) -> set[Mention | None]:
    """The first words for each set of papers, those that can be replaced before the others."""
    first: dict[tuple[int, ...], Mention | None] = {}
    for mention, papers in resolved:
        refs = tuple(cited.ref for cited in papers)
        if refs not in first or (_replacement(first[refs], papers) is None and _replacement(mention, papers)):
            first[refs] = mention
    return set(first.values())


def _replacement(mention: Mention | None, papers: tuple[Cited, ...]) -> str | None:
    """The words to put in the place of the mention; None where the name is better added at the end."""
    if mention is None or mention.kind == "loose" or "which" in mention.words.lower():
        return None
    name = together(papers)
    if mention.of:
        return f"{mention.words} of {name}"
    names_a_paper = mention.kind in ("number", "ordinal", "property", "noun", "other")
    if any(cited.is_title for cited in papers) and (not names_a_paper or mention.possessive):
        return None
    return f"{name}'s" if mention.possessive else name
