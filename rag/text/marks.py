"""Citation marks: ``[n]`` before the full stop of the sentence that rests on reference n.

>>> marked("It is 7.66 times faster [7].", [2, 1, 2])
'It is 7.66 times faster (7) [2][1].'

Only the program writes such marks: a ``[7]`` that stands in the text itself, put there by an abstract or a
model, is shown as ``(7)``. Several marks are written ``[2][1]``, so an interval like [0, 1] is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_END = re.compile(r"\s*(?P<end>[.!?…。！？]+[\"'”’»)\]}]*)\s*$")
_FAKE = re.compile(r"\[\s*(\d{1,4})\s*\]")


def marked(text: str, refs: Iterable[int]) -> str:
    """Return a sentence with the marks of its references, each once."""
    body, end = split_end(without_marks(text))
    marks = "".join(f"[{ref}]" for ref in dict.fromkeys(refs))
    return f"{body} {marks}{end}" if marks else body + end


def without_marks(text: str) -> str:
    """Return ``text`` with whatever looks like one of our marks disarmed."""
    return _FAKE.sub(r"(\1)", text)


def split_end(text: str) -> tuple[str, str]:
    """Split off the closing punctuation, before which the marks go: ``("It works", ".")``."""
    match = _END.search(text)
    return (text[: match.start()], match["end"]) if match else (text.rstrip(), "")
