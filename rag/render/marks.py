"""The marks of a sentence, as a reader wants them; how they look is settled in ``rag.text.marks``.

>>> numbers(Sentence("It is 7.66 times faster.", "verbatim", (Citation(2, "k", "q", 0, 1, 1.0),)))
(2,)
"""

from __future__ import annotations

from collections.abc import Sequence

from rag.records import Citation, Sentence

__all__ = ["Citation", "Sentence", "numbers", "runs"]

LONG_RUN = 4


def numbers(sentence: Sentence) -> tuple[int, ...]:
    """Return the reference numbers of a sentence, each once, in order."""
    return tuple(dict.fromkeys(citation.ref for citation in sentence.citations))


def runs(refs: Sequence[int]) -> list[str]:
    """Return marks for a reader, long runs shortened.

    >>> runs([1, 2, 3, 4, 7, 8])
    ['[1]–[4]', '[7]', '[8]']
    """
    shown: list[str] = []
    at = 0
    while at < len(refs):
        end = at
        while end + 1 < len(refs) and refs[end + 1] == refs[end] + 1:
            end += 1
        long = end - at >= LONG_RUN - 1
        shown += [f"[{refs[at]}]–[{refs[end]}]"] if long else [f"[{n}]" for n in refs[at : end + 1]]
        at = end + 1
    return shown
