"""Citation marks: ``[n]`` before the full stop of the sentence that rests on reference n.

>>> marked(Sentence("It is 7.66 times faster.", "verbatim", (Citation(2, "k", "q", 0, 1, 1.0),)))
'It is 7.66 times faster [2].'

Only the program writes such marks: a ``[2]`` that stands in the text itself, put there by an abstract or a
model, is shown as ``(2)``. Several marks are written ``[1][2]``, so an interval like [0, 1] is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.records import Citation, Sentence

__all__ = ["Citation", "Sentence", "marked", "numbers", "runs", "split_end", "without_marks"]

LONG_RUN = 4
_END = re.compile(r"\s*(?P<end>[.!?…。！？]+[\"'”’»)\]}]*)\s*$")
_FAKE = re.compile(r"\[\s*(\d{1,4})\s*\]")


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


def without_marks(text: str) -> str:
    """Return ``text`` with whatever looks like one of our marks disarmed."""
    return _FAKE.sub(r"(\1)", text)


def split_end(text: str) -> tuple[str, str]:
    """Split off the closing punctuation, before which the marks go: ``("It works", ".")``."""
    match = _END.search(text)
    return (text[: match.start()], match["end"]) if match else (text.rstrip(), "")


def marked(sentence: Sentence) -> str:
    """Return the sentence with its marks."""
    body, end = split_end(without_marks(sentence.text))
    refs = "".join(f"[{n}]" for n in numbers(sentence))
    return f"{body} {refs}{end}" if refs else body + end
