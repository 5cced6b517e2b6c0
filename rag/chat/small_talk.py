"""Lines of a conversation that ask the papers nothing: greetings, thanks, "help", "quit".

>>> meant("thanks!"), meant("help"), meant("bye"), meant("What helps?")
('thanks', 'help', 'quit', '')
"""

from __future__ import annotations

import re

_FORMS = {
    "quit": r"(?:quit|exit|bye|good ?bye|:q)",
    "help": r"(?:help|commands|what can (?:you|i|this) do|who are you|what are you|how does this work)",
    "hello": r"(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there)?",
    "thanks": r"(?:(?:ok(?:ay)?|great|cool|perfect|nice|good),? )?"
    r"(?:thanks?|thank you|thx|ty)(?: a lot| so much| you)?|ok(?:ay)?|great|cool|perfect|nice|got it|i see",
}
_MEANT = {kind: re.compile(form, re.IGNORECASE) for kind, form in _FORMS.items()}
SAID = {
    "hello": "Hello. Ask about the papers; /help lists what else can be done.",
    "thanks": "You are welcome.",
}


def meant(line: str) -> str:
    """Return "quit", "help", "hello" or "thanks", or "" for anything to be asked of the papers."""
    text = " ".join(line.split()).strip(" .!?")
    return next((kind for kind, form in _MEANT.items() if form.fullmatch(text)), "")
