"""Forms of words that point back, and of the words around them; ``mentions`` reads questions with these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from rag.text.words import word_set

Kind = Literal["number", "ordinal", "other", "pair", "property", "noun", "it", "they", "this", "loose"]

_PAPER = r"(?:papers?|articles?|stud(?:y|ies)|works?|publications?)"
_WAY = (
    r"(?:methods?|approach(?:es)?|techniques?|algorithms?|frameworks?|systems?|schemes?|procedures?"
    r"|architectures?|solutions?|proposals?|benchmarks?|datasets?|data sets?)"
)
_THING = rf"(?:{_PAPER}|{_WAY}|models?|abstracts?|ideas?)"
PARTS = r"(?:authors?|researchers|results?|findings?|experiments?|evaluations?|limitations?|contributions?)"
_PLACES = (
    ("first", "1st", "former"),
    ("second", "2nd"),
    ("third", "3rd"),
    ("fourth", "4th"),
    ("fifth", "5th"),
    ("sixth", "6th"),
    ("seventh", "7th"),
    ("eighth", "8th"),
)
_LAST = ("last", "latter", "final")
PLACES: Mapping[str, int] = MappingProxyType(
    {word: n for n, words in enumerate(_PLACES, 1) for word in words} | dict.fromkeys(_LAST, -1)
)
NO_DESCRIPTION = word_set("same other only whole next best right wrong main new old full given", *PLACES)
AUXILIARY = (
    r"(?:is|are|was|were|am|does|do|did|can|could|would|will|shall|should|may|might|has|have|had"
    r"|isn['’]t|doesn['’]t|don['’]t|didn['’]t)"
)

_ONE = rf"(?:ones?|{_PAPER}|{_WAY}|of (?:them|these|those))"
_ORDINAL = "|".join(PLACES)
# "the method" points back, "the method of Lee" or "the method for this" says itself which one.
_ALONE = r"(?!\s+(?:of|by|from|for|in|on|that|which|who|with|using|behind|called|named|to)\b)(?!-)"
_HAPPENS = (
    rf"(?:{AUXILIARY}"
    r"|(?:need|use|have|require|work|improve|help|give|rel|beat|train|handle|support)(?:s|ies|y|ed)?)"
)
_FORMS: tuple[tuple[Kind, str], ...] = (
    ("number", r"\[(\d{1,3})\]"),
    ("number", rf"\b(?:{_PAPER}|references?|refs?|number|no\.|source)\s*#?\s*(\d{{1,3}})\b|#(\d{{1,3}})\b"),
    ("ordinal", rf"\bthe\s+(former|latter)\b(?:\s+{_ONE})?|\bthe\s+({_ORDINAL})\s+{_ONE}"),
    ("ordinal", rf"\bthe\s+({_ORDINAL})(?=\s*(?:[,:;?.!]|$))"),
    ("other", rf"\b(?:the|that|those)\s+others?\b(?:\s+(?:two|three|{_ONE}))?"),
    ("pair", rf"\b(?:(?:both|either|neither|which|all) of )?(?:the|these|those) two\b(?:\s+{_ONE})?"),
    ("pair", r"\b(?:both|either|neither|which) of them\b|\beach other\b"),
    ("pair", rf"\b(?:both|either|neither)\b(?=\s*(?:\w+\s*)?(?:[?.!,]|$)|\s+{_HAPPENS}\b)"),
    ("pair", rf"^(?:and |so |but )?which(?: ones?)?(?= {_HAPPENS}\b)"),
    ("property", rf"\b(?:the|that)\s+(?:ones?|{_PAPER})\s+(?:by|from|of)\s+([\w'’.-]+(?:\s+et\s+al\.?)?)"),
    ("property", rf"\b(?:the|that)\s+([\w'’.-]+)\s+(?:ones?|{_PAPER})\b"),
    ("noun", rf"\b(?:this|that|these|those|the\s+same)\s+({_THING})(['’]s)?(?![\w-])"),
    ("noun", rf"\b(?:the|these|those|their)\s+({PARTS})\b{_ALONE}"),
    ("noun", rf"\bthe\s+({_PAPER}|{_WAY})(?<!s)(['’]s)?(?![\w'’]){_ALONE}"),
    ("it", r"\b(its|it)\b"),
    ("they", r"\b(they|them|their|theirs|all\s+(?:of\s+)?(?:them|these|those))\b"),
    ("this", r"\b(?:this|that|these|those)\b(?:\s+ones?\b)?"),
    ("loose", r"\b(?:instead(?!\s+of)|as\s+well|beforehand|otherwise)\b"),
    ("loose", r"\b(?<!is )(?<!are )there(?!\s+(?:is|are))\b"),
    (
        "loose",
        r"\b(?:earlier|previous|prior|other|alternative|competing|existing)\s+"
        r"(?:approaches|methods|work|works|techniques|systems|papers)\b(?!\s+than)",
    ),
    ("loose", r"\bwh(?:ich|at)\s+ones?\b|\b(?:too|else|before|so)(?=\s*[?.!]*$)"),
)
FORMS = tuple((kind, re.compile(form, re.IGNORECASE)) for kind, form in _FORMS)

# "It is known that", "does it take to", "is it possible to prune a model": words without an antecedent. In
# "is it hard to implement?" the verb lacks its object, and that is "it".
EMPTY_IT = re.compile(
    r"\bit\s+(?:is|was|seems|appears|turns)\s+(?:\w+\s+)?(?:that|out|whether)\b|\bit\s+takes?\s+to\b"
    r"|\b(?:is|was|would|be|makes?|isn['’]t|wasn['’]t)\s+it\s+(?:\w+\s+){0,2}(?:to|that)\s+"
    r"(?=\w+\s+(?!(?:on|in|with|for|to|at|by|from|over|without|under)\b)\w)",
    re.IGNORECASE,
)
# Behind these "that" is a pronoun; behind a noun or "show" it begins a clause.
BEFORE_THAT = re.compile(
    r"(?:^|[,;:(]|\b(?:of|in|on|at|to|for|with|by|from|about|like|than|behind|after|before|without|into|over"
    r"|under|against|through|via|and|or|but|if|when|why|how|is|are|was|were|do|does|did|can|could|would|should"
    r"|will|has|have|had|be|stop|use|uses|cause|causes|handle|fix|avoid|prevent|achieve|doing|moving|using"
    r"|isn['’]t|doesn['’]t|don['’]t|aren['’]t|didn['’]t|wasn['’]t))\s*$",
    re.IGNORECASE,
)
# What can follow the "that" of "is that hard?", in which no noun belongs to it as in "is that data new?".
NO_NOUN = re.compile(
    r".*(?:ly|ive|able|ible|ful|ical|ous|ent|ed|ing)|not|also|still|a|an|the|hard|easy|true|good|bad|new|so|too"
    r"|work|help|hold|scale|mean|need|require|depend|improve|cost|in|on|with|for|because|when|if|even|really"
    r"|slow|fast"
)
# A question that begins so goes on with the one before.
LINKED = re.compile(r"^(?:and|but|so|also|then)\b", re.IGNORECASE)
# Words before a question proper: "and could you tell me", "Compared to X,".
OPENING = re.compile(
    r"^(?:(?:and|but|so|also|then|ok|okay|now|well|hm+|please)\b,?\s*)*"
    r"(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?|please\s+)?"
    r"(?:(?:tell|show)\s+me|explain|say|do\s+you\s+know)?\s*"
    r"(?:(?:compared\s+(?:to|with)|unlike|besides|apart\s+from|on|in|for|with|under|at)\s[^,]{1,40},\s*)?",
    re.IGNORECASE,
)
# What stands before the auxiliary of "which benchmarks did they use" is the object, not what "they" means.
ASKED_FOR = re.compile(
    rf"^(?:\w+\s+)?(?:which|what|how\s+(?:many|much|\w+)|whose)\b[^,;:]*?(?=\b{AUXILIARY}\b)", re.IGNORECASE
)
CLAUSE = re.compile(
    r"[,;:–—(]|\b(?:when|if|because|that|which|who|so|and|or|but|before|after|than|while|although|though|since"
    r"|until|once|where|whether|what|as|how|why|without)\b",
    re.IGNORECASE,
)
