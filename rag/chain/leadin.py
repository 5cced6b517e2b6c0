"""What people say before the question proper, and what it tells of what follows.

>>> read("no, I meant SpeCache")
Leadin(kind='instead', words='', rest='SpeCache')
>>> read("back to the first paper: did they try open models?")
Leadin(kind='back', words='the first paper', rest='did they try open models?')
>>> read("different topic: MoE compression").kind, read("What is PILAF?").kind
('new', '')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["", "instead", "back", "new"]

_FILLER = (
    r"(?:no|nope|nah|yes|yeah|sorry|ok(?:ay)?|hm+|well|wait|actually|thanks?|thank you|thx|great|cool|nice"
    r"|right|hi|hello|hey|i see|please|pls)"
)
_FILLERS = re.compile(rf"^(?:{_FILLER}\b[\s,.!;:-]*)+(?=\S)", re.IGNORECASE)
_INSTEAD = re.compile(r"^(?:i mean(?:t)?|i was asking (?:about|for)|rather)\b[\s,:]*", re.IGNORECASE)
_BACK = re.compile(
    r"^(?:and |but |so |now )?(?:let us |let's )?(?:(?:go(?:ing)? )?back|return(?:ing)?) to "
    r"(?P<words>[^,:;–—?]+?)(?:\s*[,:;–—]\s*|\s+-\s+|\s*[?.!]*$)(?P<rest>.*)$",
    re.IGNORECASE,
)
_NEW = re.compile(
    r"^(?:(?:a |an )?(?:different|new|another|other) (?:topic|question|subject|thing)"
    r"|change of (?:topic|subject))\s*[,:;.–—-]+\s*(?=\S)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Leadin:
    """What was said before a question, if anything.

    Attributes:
        kind: that something else was meant ("instead"), what to go back to, or that the topic is new.
        words: those of what to go back to.
        rest: the question.
    """

    kind: Kind
    words: str
    rest: str


def read(question: str) -> Leadin:
    """Return what is said before a question, and the question without it."""
    rest = _FILLERS.sub("", question)
    if instead := _INSTEAD.match(rest):
        after = rest[instead.end() :]
        return Leadin("instead", "", after) if after else Leadin("", "", question)
    if back := _BACK.match(rest):
        return Leadin("back", back["words"].strip(), back["rest"].strip())
    if new := _NEW.match(rest):
        return Leadin("new", "", rest[new.end() :])
    return Leadin("", "", rest)
