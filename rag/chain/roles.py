"""Questions about a paper as a whole, and which of its sentences tell that part of it.

    "What problem does AnyEdit solve?"         "problem"
    "What is the main contribution of ReVISE"  "method"
    "key findings of SpecPrefill"              "results"
    "What is the gist of VinePPO?"             ""  (all of it)

Every abstract answers them, hardly one in these words: that it has no "gist" says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rag.text.words import word_set

_PARTS = {
    "problem": word_set(
        "problem problems solve solves solved solving tackle tackles tackled address addresses addressed",
        "goal goals aim aims objective objectives motivation motivate motivates motivated research",
        "challenge challenges",
    ),
    "method": word_set(
        "contribution contributions contribute contributes insight insights novel novelty new innovation",
        "innovations innovative approach approaches method methods",
    ),
    "results": word_set(
        "finding findings result results conclusion conclusions conclude concludes concluded experiment",
        "experiments experimental perform performs performance outcome outcomes takeaway takeaways improve",
        "gain gains",
        "improves improvement improvements evaluation",
        "advantage advantages benefit benefits strength strengths",
    ),
}
_WHOLE = word_set(
    "main key core central major primary principal important interesting gist tldr tl dr abstract read",
    "reading simple simply terms words layman plain everything point points message nutshell whole",
    "content contents topic essence matter matters care good useful deal sentence sentences story",
)
# Beside a topic these only ask: "the main findings on calibration".
_ASKING = word_set(
    "main contribution contributions gist takeaway takeaways findings tldr everything good useful"
)
_MAKES = "propos|introduc|present|develop|design|construct|creat|releas|devis|buil[dt]|offer|contribut"
_SAYS = rf"{_MAKES}|describ|investigat|stud(?:y|ies)|analy[sz]|formulat|explor"
_CUES = {
    "problem": re.compile(
        r"\b(?:however|but|yet|although|despite|challeng\w+|limit\w+|struggl\w+|suffer\w*|fail\w*"
        r"|remain\w*|lack\w*|difficult\w*|problem\w*|issues?|cost\w*|expensive|gaps?|needs? (?:to|for)"
        r"|bottlenecks?|hinder\w*|prohibitive\w*|hard|unclear|unexplored|important|crucial|essential(?:ly)?"
        r"|questions?|inefficien\w+|ignor\w+|overlook\w*|aims? to)\b",
        re.IGNORECASE,
    ),
    "method": re.compile(
        rf"\b(?:we|this (?:paper|work|study)|here,?)\b.{{0,40}}\b(?:{_SAYS})\w*"
        r"|\b(?:novel|(?:key|core) (?:idea|insight))\b",
        re.IGNORECASE,
    ),
    "results": re.compile(
        r"\b(?:experiments?|results?|evaluat\w+|outperform\w*|achiev\w+|improv\w+|demonstrat\w+"
        r"|show(?:s|n|ed)?|find(?:s|ings?)?|found|surpass\w*|superior|reveal\w*|reduc\w+|gains?)\b",
        re.IGNORECASE,
    ),
}

# What a paper says of itself, if at all; "challenge" and "problem" are those it solves.
_LIMITS = word_set(
    "limitation limitations drawback drawbacks disadvantage disadvantages downside downsides weakness",
    "weaknesses shortcoming shortcomings cons caveat caveats",
)
_TROUBLE = _LIMITS | word_set(
    "challenge challenges problem problems issue issues difficulty difficulties wrong"
)
_LIMITED = re.compile(
    r"\b(?:limitations?|drawbacks?|disadvantages?|weakness\w*|shortcomings?|caveats?|trade-?offs?|fails?|failure"
    r"|at the (?:cost|expense) of|only works?|cannot|worse|troublesome|difficult|hard(?:er)? (?:to|for)"
    r"|struggles?|suffers?|remains? (?:hard|open|out)|slower|more \w+ errors"
    r"|grows? (?:linearly|quadratically))\b",
    re.IGNORECASE,
)
_TROUBLED = re.compile(rf"\b(?P<word>{'|'.join(_TROUBLE)}) (?:of|with|in|for|faced|when)\b", re.IGNORECASE)
_NEEDED = re.compile(
    r"^(?:and |so )?why\b.*\b(?:need(?:ed)?|necessary|required|proposed|introduced|invented|developed"
    r"|designed|created)$",
    re.IGNORECASE,
)
# "Why do existing methods fail?" is the problem that a paper begins with.
_FAILING = re.compile(
    r"^(?:and |so )?why\b.*\b(?:existing|current|previous|prior|earlier|other|standard) [\w -]*"
    r"(?:fail|struggle|not work|suffer)",
    re.IGNORECASE,
)
# "To address this challenge, we revisit ..." tells of the remedy.
_REMEDY = re.compile(r"(?:In order )?to \w+ (?:this|these|the|such|that)\b", re.IGNORECASE)
_MADE = re.compile(
    rf"\b(?:we|this (?:paper|work|study|article)|here,?)\b.{{0,60}}\b(?:{_MAKES})\w*"
    r"|\bis (?:an?|the)\b",
    re.IGNORECASE,
)
_CALLED = re.compile(r"\b(?:named|called|termed|dubbed)\b", re.IGNORECASE)
_STANDS_FOR = re.compile(r"\bstands? for\b|\bspelled out\b|\bacronym\b|\babbreviat", re.IGNORECASE)
_DEFINITION = re.compile(
    r"^(?:and |so )?(?:(?:what|who) (?:is|are|was|were)(?: meant by)?|define|explain|describe"
    r"|(?:the )?definition of|what do(?:es)? (?=.* mean$))\b",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"\b(?:call(?:ed)?|termed|named|dubbed|defined as|refers? to|known as|that is|is (?:an?|the)|are)\b"
    r"|\bi\.e\.|\([A-Z][\w-]+\)|: |—",
)


def calls(sentence: str) -> bool:
    """Return whether a sentence says what something is called."""
    return bool(_CALLED.search(sentence))


def asks_expansion(question: str) -> bool:
    """Return whether a question asks what an acronym stands for."""
    return bool(_STANDS_FOR.search(question))


def asks_definition(question: str) -> bool:
    """Return whether a question asks what something is: "what is test-time training?"."""
    return bool(_DEFINITION.match(question.rstrip(" ?.!")))


def defines(sentence: str) -> bool:
    """Return whether a sentence may say what something is."""
    return bool(_DEFINES.search(sentence))


def is_asking(word: str) -> bool:
    """Return whether a word says nothing of what is asked about, wherever it stands in a question."""
    return word in _ASKING


def asked_for(words: Iterable[str]) -> str | None:
    """Return the part of a paper that the words of a question ask for, "" for all of it.

    None where one of the words says more: "What problem does it solve in robotics?" is not answered by any
    problem.
    """
    parts = set()
    for word in words:
        if word in _WHOLE:
            continue
        part = next((part for part, having in _PARTS.items() if word in having), None)
        if part is None:
            return None
        parts.add(part)
    return parts.pop() if len(parts) == 1 else ""  # "the main results and the approach": all of it


def tells(part: str, sentence: str) -> bool:
    """Return whether a sentence of an abstract tells this part of the paper."""
    if part == "problem" and (_REMEDY.match(sentence) or presents(sentence)):
        return False
    return bool(_CUES[part].search(sentence))


def presents(sentence: str) -> bool:
    """Return whether a sentence presents what the authors made: "We propose X, a ...", "X is a ..."."""
    return bool(_MADE.search(sentence))


_BRIEF = re.compile(r"\btl;?dr\b|\bin (?:one|a|a single) sentence\b|\bin short\b|\bgist\b", re.IGNORECASE)


def is_brief(question: str) -> bool:
    """Return whether one sentence is asked for."""
    return bool(_BRIEF.search(question))


def asks_for_limits(words: Iterable[str]) -> bool:
    """Return whether the words of a question ask for nothing but limitations."""
    found = [word for word in words if word not in _WHOLE]
    return bool(found) and all(word in _LIMITS for word in found)


def tells_limits(sentence: str) -> bool:
    """Return whether a sentence may tell what something cannot do."""
    return bool(_LIMITED.search(sentence))


def trouble(question: str) -> str:
    """Return the word by which a question asks what is wrong with something, or "".

    >>> trouble("What are the limitations of reward models?"), trouble("Which methods solve word problems?")
    ('limitations', '')
    """
    found = _TROUBLED.search(question)
    return found["word"].lower() if found else ""


def is_motive(question: str, *, alone: bool) -> bool:
    """Return whether a question asks why something was made at all: "Why was AnyEdit needed?".

    Args:
        alone: whether it has no word that says more.
    """
    return bool(_FAILING.match(question) or (alone and _NEEDED.match(question.rstrip(" ?.!"))))
