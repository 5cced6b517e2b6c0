"""Makes a follow-up question stand on its own, by rules over the turns before; says what was taken for what.

    What is PILAF?               ... [1]
    Is that hard to implement?   ->  Is PILAF hard to implement?        ("that" was taken for PILAF [1])

Extractive mode has nothing else; in model mode the model rewords (``rag.chain.reword``), and this is what is
left when its wording cannot be used. A question that needs nothing from before stays as it is. All pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rag.chain import ellipsis, roles
from rag.chain.mentions import Mention, find
from rag.chain.question import read
from rag.chain.turns import NOTHING, Cited, Context, Shown, Turn, mentions, together

__all__ = ["Cited", "Resolved", "Rewrite", "Turn", "standalone"]

_ONE = re.compile(r"(?:this|that|the other) one", re.IGNORECASE)
_AT_ONCE = 3  # papers that "they" may stand for
_ON_TOPIC = 0.6  # share of its words that ties a question to a paper when no word points back
_LINKED = re.compile(r"^(?:and|but|so|also|then)\b", re.IGNORECASE)
_DEFINITE = re.compile(r"\bthe\s+([\w-]+)\b(?!\s+(?:of|by|from|for|in|that|which)\b)", re.IGNORECASE)
_SUMS_UP = re.compile(r"\b(?:summar|overview\b|explain\b|describe\b)", re.IGNORECASE)
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
    """The question to search for; ``resolved`` says what was taken for what, ``by`` who reworded it."""

    question: str
    resolved: tuple[Resolved, ...] = ()
    by: Literal["rules", "model"] | None = None


def standalone(question: str, turns: Sequence[Turn], shown: Shown = NOTHING) -> Rewrite:
    """Return ``question`` as it would be asked without the turns before.

    Args:
        turns: oldest first; the last few are enough.
        shown: the papers of the whole conversation by number, for a number that none of ``turns`` shows.
    """
    question = " ".join(question.split())
    context, found = Context(turns, shown), find(question)
    if not turns:
        return _rewritten(question, [(m, context.numbered(m.value)) for m in found if m.kind == "number"])
    resolved = [(m, papers) for m in found if (papers := _antecedents(m, question, context))]
    if any(_says_which(m) and not _antecedents(m, question, context) for m in found):
        # It asks about a paper that was never shown: of another one it would be another question.
        return _rewritten(question, [(m, papers) for m, papers in resolved if m.kind != "loose"])
    return (
        _thing(question, context)
        or _completed(question, resolved, context)
        or _named(question, resolved, context)
    )


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
    if _carries_on(question, context):
        return _rewritten(question, [(None, context.main())])
    if not context.subject and (find(question) or _LINKED.match(question)):
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


def _carries_on(question: str, context: Context) -> bool:
    """Whether a question without a word that points back still asks about the same paper."""
    if not context.main() or context.foreign(question) or mentions(question, context.main()[0]):
        return False
    if _LINKED.match(question) or _asks_for_a_part(question):
        return True
    definite = any(context.has_word(match[1]) for match in _DEFINITE.finditer(question))
    return definite and context.shared(question) >= _ON_TOPIC


def _asks_for_a_part(question: str) -> bool:
    """Whether a question asks for what every paper has, "the main results?", and does not say of which."""
    asked = read(question)
    if asked.names or asked.several or asked.slot.kind not in ("", "reason"):
        return False
    words = [token.word for token in asked.words]
    return roles.asked_for(words) is not None if words else bool(_SUMS_UP.search(question))


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
    if mention is None or mention.kind == "loose":
        return None
    name = together(papers)
    if mention.of:
        return f"{mention.words} of {name}"
    names_a_paper = mention.kind in ("number", "ordinal", "property", "noun", "other")
    if any(cited.is_title for cited in papers) and (not names_a_paper or mention.possessive):
        return None
    return f"{name}'s" if mention.possessive else name
