"""Titles in a question, in quotation marks: "Which model is used in “Emergent Misalignment”?".

Papers without a system of their own are called so in a conversation, cut short with "…" where they are long.
The words of a title are no words of the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rag.records import Paper
from rag.text.normalise import plain

_QUOTED = re.compile(r"[\"“](?P<words>[^\"“”]{6,300})[\"”]")
_FEWEST = 2
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Title:
    """A title as it is quoted, without its marks, and where it stands with them in the question."""

    words: str
    start: int
    end: int

    def is_of(self, paper: Paper) -> bool:
        """Whether the paper is called so, by the beginning of its title or, without one, of its abstract."""
        return _folded(paper.title or paper.abstract).startswith(_folded(self.words))


def find(question: str, papers: Iterable[Paper]) -> tuple[Title, ...]:
    """Return what stands in quotation marks in a folded question and is the title of one of ``papers``."""
    quoted = [Title(m["words"], m.start(), m.end()) for m in _QUOTED.finditer(question)]
    quoted = [title for title in quoted if len(title.words.split()) >= _FEWEST]
    known = list(papers) if quoted else []
    return tuple(title for title in quoted if any(title.is_of(paper) for paper in known))


def begun(question: str, papers: Iterable[Paper]) -> tuple[Title, ...]:
    """Return the title up to its colon that stands in a question without marks: "the gist of double descent".

    Args:
        question: folded.
    """
    for paper in papers:
        words = _folded((paper.title or "").partition(":")[0]).split()
        if words and len("".join(words)) >= _SHORTEST:
            written = r"\W+".join(map(re.escape, words))
            if found := re.search(rf"\b{written}\b", question, re.IGNORECASE):
                return (Title(found[0], found.start(), found.end()),)
    return ()


def _folded(text: str) -> str:
    words = plain(text).casefold().replace("...", " ").replace("…", " ")
    return " ".join(re.findall(r"\w+", words))
