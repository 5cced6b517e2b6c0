"""Words of a question that point back into the conversation, found by their form alone.

    >>> [(m.words, m.kind) for m in find("Does the second one beat it on GSM8K?")]
    [('the second one', 'ordinal'), ('it', 'it')]
    >>> find("How long does it take to train AnyEdit?"), find("Which models that forget are there?")
    ((), ())
    >>> find("Why does Q-RM fall behind when it is combined with REINFORCE?")   # "it" is Q-RM
    ()

A pronoun is left out when the question itself says what it stands for. It cannot stand for a noun of its own
clause ("How does weight decay come into it?"), so one is looked for in the clauses before. What the others
point at is decided in ``rag.chain.converse``. Offsets count in the question as given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rag.chain import mention_words as words_of
from rag.chain.mention_words import AUXILIARY, PARTS, PLACES, Kind
from rag.text.tokens import content

_SHORT = 4  # content words of a question in which even a filler ("instead", "else") points back


@dataclass(frozen=True, slots=True)
class Mention:
    """Words that point back, from ``start`` to ``end``.

    ``value`` is a reference number or a place in a list (-1: the last), ``text`` a description ("2024").
    ``possessive`` words ("its", "that paper's") stand for a name with 's, ``of`` words ("the authors") want
    "of NAME" behind them, and ``loose`` ones ("instead", "that data") are best left as they are.
    """

    start: int
    end: int
    words: str
    kind: Kind
    value: int = 0
    text: str = ""
    possessive: bool = False
    of: bool = False
    plural: bool = False


def find(question: str) -> tuple[Mention, ...]:
    """Return what points out of the question, in order, without overlaps; the more telling form wins."""
    found: list[Mention] = []
    for kind, form in words_of.FORMS:
        for match in form.finditer(question):
            mention = _mention(kind, match, question)
            if mention and not any(m.start < mention.end and mention.start < m.end for m in found):
                found.append(mention)
    outward = [mention for mention in found if not _answers_itself(mention, question)]
    return tuple(sorted(outward, key=lambda mention: mention.start))


def _mention(kind: Kind, match: re.Match[str], question: str) -> Mention | None:
    group = next((g for g in match.groups() if g), "").lower()
    bare = Mention(match.start(), match.end(), match[0], kind)
    if kind == "number":
        return replace(bare, value=int(group))
    if kind == "ordinal":
        return replace(bare, value=PLACES[group])
    if kind == "pair":
        return replace(bare, plural=True)
    if kind == "they":
        return replace(bare, possessive=group in ("their", "theirs"), plural=True)
    return _doubtful(bare, group, question)


def _doubtful(bare: Mention, group: str, question: str) -> Mention | None:
    """Words that point back in some questions and not in others."""
    match bare.kind:
        case "property":
            description = re.sub(r"['’]s$|\s+et\s+al\.?$", "", group)
            return None if description in words_of.NO_DESCRIPTION else replace(bare, text=description)
        case "noun":
            return _noun(bare, group, question)
        case "it":
            empty = any(m.start() <= bare.start < m.end() for m in words_of.EMPTY_IT.finditer(question))
            return None if empty else replace(bare, possessive=group == "its")
        case "this":
            return _demonstrative(bare, question)
    return bare


def _noun(bare: Mention, noun: str, question: str) -> Mention | None:
    """Leave out "the benchmark" of "the benchmark scores": only a verb may follow it."""
    low, before, after = bare.words.lower(), question[: bare.start], question[bare.end :]
    asked = re.search(rf"(?:{AUXILIARY}|what|how|why|whether|if|that)\s+$", before, re.IGNORECASE)
    verb = re.match(rf"\s+(?:{AUXILIARY}|and|or|itself|on|to|at|with)\b", after, re.IGNORECASE)
    goes_on = re.match(r"\s+\w", after)
    if low.startswith("the ") and goes_on and not (asked or verb or low.endswith("s")):
        return None
    of = bool(re.fullmatch(PARTS, noun)) and not low.startswith("their")
    plural = low.startswith(("these", "those")) and not of
    return replace(bare, possessive=low.endswith(("'s", "’s")), of=of, plural=plural)


def _demonstrative(bare: Mention, question: str) -> Mention | None:
    """Tell "is that hard?" and "of that data" from the "that" of "models that forget" and "shows that"."""
    before, after = question[: bare.start], question[bare.end :]
    low = bare.words.lower()
    ends = not re.match(r"\s*\w", after)
    if low == "that" and not ends and not words_of.BEFORE_THAT.search(before):
        return None
    subject = re.search(rf"(?:^|\W){AUXILIARY}\s*$", before, re.IGNORECASE)
    next_word = re.match(r"\s*([\w-]+)", after)
    without_noun = bool(next_word and words_of.NO_NOUN.fullmatch(next_word[1]))
    alone = ends or low.endswith((" one", " ones")) or without_noun
    return replace(bare, kind="this" if subject and alone else "loose", plural=low.startswith("the"))


def _answers_itself(mention: Mention, question: str) -> bool:
    """Whether the words before the mention say what it means, or it is a mere filler."""
    if mention.kind in ("number", "ordinal", "property", "noun", "pair"):
        return False
    low = mention.words.lower()
    filler = mention.kind == "loose" and not low.startswith(("this", "that", "these", "those"))
    if filler and len(content(question)) > _SHORT:
        return True
    before = _main_words(question[: mention.start])
    if not content(before):
        return False
    if mention.possessive or mention.kind == "other":
        return True  # these may stand for a noun of their own clause
    return any(content(before[: clause.start()]) for clause in words_of.CLAUSE.finditer(before))


def _main_words(before: str) -> str:
    opening = words_of.OPENING.match(before)
    before = before[opening.end() :] if opening else before
    asked_for = words_of.ASKED_FOR.match(before)
    return before[asked_for.end() :] if asked_for else before
