"""Citation marks: ``[n]`` before the full stop of the sentence that rests on reference n.

>>> marked(Sentence("It is 7.66 times faster.", "verbatim", (Citation(2, "k", "q", 0, 1, 1.0),)))
'It is 7.66 times faster [2].'

Only the program writes such marks: a ``[2]`` that stands in the text itself, put there by an abstract or a
model, is shown as ``(2)``. Several marks are written ``[1][2]``, so an interval like [0, 1] is left alone.
"""

from __future__ import annotations

import re

from rag.records import Citation, Sentence

__all__ = ["Citation", "Sentence", "marked", "numbers", "split_end", "without_marks"]

_END = re.compile(r"\s*(?P<end>[.!?…。！？]+[\"'”’»)\]}]*)\s*$")
_FAKE = re.compile(r"\[\s*(\d{1,4})\s*\]")


def numbers(sentence: Sentence) -> tuple[int, ...]:
    """Return the reference numbers of a sentence, each once, in order."""
    return tuple(dict.fromkeys(citation.ref for citation in sentence.citations))


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
