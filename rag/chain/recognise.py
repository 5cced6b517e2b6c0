"""Reads a question once more, now that papers were found for it.

    recognise(read("what is specache"), hits).names       # SpeCache, which a paper writes so

What only the papers can tell: which of its words are names or a title, and whether it asks for one of them as
a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag.chain import roles, titles
from rag.chain.question import Asked
from rag.chain.wanted import Slot
from rag.records import Hit
from rag.text import glossary
from rag.text.names import Name, key
from rag.text.names import find as find_names
from rag.text.spelling import slips
from rag.text.stem import stem
from rag.text.synonyms import concept, concept_of_stem, vocabulary
from rag.text.thesaurus import meanings

# "How fast is it", "how much does it speed up": a figure says so, whatever verb stands beside it.
_CHANGES = frozenset(map(concept, ("fast", "improve", "outperform")))
_LONGEST_NAME = 40


def recognise(asked: Asked, hits: Sequence[Hit]) -> Asked:
    """Return the question with those of its words taken for names that are written as names in the papers.

    Only where it has none itself: "what is specache" asks for SpeCache. Names with a slip of the keyboard are
    mended.
    """
    return _of_whole(_without_change(_with_names(_with_titles(asked, hits), hits)))


def _begun(asked: Asked, hits: Sequence[Hit]) -> tuple[titles.Title, ...]:
    """Return a title that a question about a paper as a whole begins with: "explain batch normalization"."""
    if any(name.strong for name in asked.names) or asked.slot.kind:
        return ()
    found = titles.begun(asked.text, (hit.paper for hit in hits))
    outside = [t.word for t in asked.words if not any(x.start <= t.start < x.end for x in found)]
    return found if found and (not outside or roles.asked_for(outside) is not None) else ()


def _with_titles(asked: Asked, hits: Sequence[Hit]) -> Asked:
    """Return the question without the words of a title that it quotes."""
    found = titles.find(asked.text, (hit.paper for hit in hits)) or _begun(asked, hits)
    if not found:
        return asked
    text, bare = asked.text, asked.bare
    for title in found:  # as long as before, so that offsets stay true
        text = f"{text[: title.start]}{'it'.ljust(title.end - title.start)}{text[title.end :]}"
        bare = bare.replace(asked.text[title.start : title.end], "it")

    def outside(at: int) -> bool:
        return not any(title.start <= at < title.end for title in found)

    return replace(
        asked,
        text=text,
        titles=found,
        names=tuple(name for name in asked.names if outside(name.start)),
        figures=tuple(figure for figure in asked.figures if outside(figure.start)),
        words=tuple(token for token in asked.words if outside(token.start)),
        head=tuple(token for token in asked.head if outside(token.start)),
        bare=bare,
    )


def _of_whole(asked: Asked) -> Asked:
    """Return a question without the words that ask for a paper as a whole, or for its problem or results.

    All of them where that is all it asks of what it names, else those that say nothing of its topic.
    """
    named = bool(asked.titles) or any(name.strong for name in asked.names)
    named = named and asked.slot.kind in ("", "reason")
    if named and roles.is_motive(asked.text, alone=not asked.words):
        return replace(asked, words=(), head=(), slot=Slot("part", ("problem",)), presumes=False)
    if named and not asked.slot.kind and roles.asks_for_limits(token.word for token in asked.words):
        return replace(asked, words=(), head=(), slot=Slot("limits", words="limitations of its own"))
    part = roles.asked_for(token.word for token in asked.words) if named and asked.words else None
    # "Why should I read it?" asks for no cause, "why does it improve?" does.
    if part is not None and not (asked.slot.kind and part):
        slot = Slot("part", (part,)) if part else Slot()
        return replace(asked, words=(), head=(), slot=slot, presumes=False)
    # What is wrong with a topic is told as the problem; what is wrong with a paper's own system hardly ever.
    wrong = roles.trouble(asked.text) if not (named or asked.slot.kind) else ""
    words = tuple(t for t in asked.words if not roles.is_asking(t.word) and t.word != wrong)
    if not words:
        return asked
    slot = Slot("part", ("problem",)) if wrong else asked.slot
    return replace(asked, words=words, head=tuple(token for token in asked.head if token in words), slot=slot)


def _without_change(asked: Asked) -> Asked:
    """Return a question for a figure of something named without its words of change, and without "share"."""
    slot = asked.slot
    if slot.kind != "amount" or not asked.names:
        return asked
    unsaid = slot.nouns if slot.unit == "%" else ()  # the sign says it
    words = tuple(
        t
        for t in asked.words
        if concept_of_stem(t.stem) not in _CHANGES
        and t.stem not in unsaid
        and not asked.text[: t.start].lower().endswith("how ")
    )
    return replace(asked, words=words)


def _with_names(asked: Asked, hits: Sequence[Hit]) -> Asked:
    # "what is chinchilla" has nothing else that it could be about.
    alone = len(asked.words) == 1
    known = {
        name.key
        for hit in hits
        for name in find_names(hit.paper.text)
        if (name.strong or alone) and not (name.text.rstrip("s").isupper() and _is_word(name))
    }
    if any(name.strong for name in asked.names):
        asked = _with_names_mended(asked, known)
        if not asked.several:  # "compare ReVISE with brite" has a second name
            return asked
    found: list[Name] = []
    for n in (3, 2, 1):
        for run in (asked.words[i : i + n] for i in range(len(asked.words) - n + 1)):
            written = asked.text[run[0].start : run[-1].end]
            free = not any(name.start < run[-1].end and run[0].start < name.end for name in found)
            if free and len(written) < _LONGEST_NAME and key(written) in known:
                found.append(Name(written, key(written), True, run[0].start, run[-1].end))
    inside = [(name.start, name.end) for name in found]
    words = tuple(t for t in asked.words if not any(a <= t.start < b for a, b in inside))
    return replace(asked, names=(*asked.names, *found), words=words) if found else asked


def _is_word(name: Name) -> bool:
    """Whether capitals may have made a name of an ordinary word, as "MATH" is of "math"; "PGTS" is none."""
    low = name.text.rstrip("s").lower()
    return len(low) < 3 or low in vocabulary() or bool(glossary.terms(low)) or bool(meanings(stem(low)))


def _with_names_mended(asked: Asked, known: set[str]) -> Asked:
    """Return the question with "SpecPrefil" read as SpecPrefill, which a paper has."""
    meant = slips(known - {name.key for name in asked.names})
    if not any(name.key in meant for name in asked.names):
        return asked
    mended = tuple(replace(name, key=meant.get(name.key, name.key)) for name in asked.names)
    return replace(asked, names=mended)
