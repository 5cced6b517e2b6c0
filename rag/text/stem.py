"""A light stemmer: words that mean the same in a question and in an abstract should meet.

    >>> [stem(w) == stem(v) for w, v in (("colour", "color"), ("labelled", "labeled"), ("centre", "center"))]
    [True, True, True]
    >>> [stem(w) for w in ("verification", "verify", "verifies", "reductions", "reduce", "faster", "data")]
    ['verif', 'verif', 'verif', 'reduc', 'reduc', 'fast', 'data']

It is written for matching within one pile, not for linguistics: the longest suffix of a table is taken off
when enough of the word remains, and what is left is tidied. The stems are not words.
"""

from __future__ import annotations

import re
from functools import lru_cache

# suffix -> (replacement, least number of letters that must remain before it)
_RULES = {
    "isations": ("", 3), "izations": ("", 3), "isation": ("", 3), "ization": ("", 3), "ifications": ("if", 2),
    "ification": ("if", 2), "uctions": ("uc", 2), "uction": ("uc", 2), "ucing": ("uc", 2), "ations": ("", 3),
    "ation": ("", 3), "ators": ("", 3), "ator": ("", 3), "ating": ("", 3), "ates": ("", 3), "ated": ("", 3),
    "ate": ("", 3), "ative": ("", 3), "itions": ("it", 3), "ition": ("it", 3), "ions": ("", 4), "ion": ("",
    4),
    "ively": ("", 4), "ives": ("", 4), "ive": ("", 4), "izers": ("", 3), "izer": ("", 3), "izing": ("", 3),
    "ized": ("", 3), "izes": ("", 3), "ize": ("", 3), "ising": ("", 4), "ised": ("", 4), "ises": ("", 4),
    "ise": ("", 4), "ifying": ("if", 2), "ifiers": ("if", 2), "ifier": ("if", 2), "ified": ("if", 2),
    "ifies": ("if", 2), "ify": ("if", 2), "iencies": ("ient", 2), "iency": ("ient", 2), "iently": ("ient", 2),
    "ances": ("", 4), "ance": ("", 4), "ences": ("", 4), "ence": ("", 4), "ments": ("", 3), "ment": ("", 3),
    "nesses": ("", 3), "ness": ("", 3), "ilities": ("", 3), "ility": ("", 3), "ities": ("", 3), "ity": ("",
    3),
    "ibly": ("", 3), "ably": ("", 3), "ible": ("", 3), "able": ("", 3), "ously": ("", 3), "ous": ("", 4),
    "ically": ("", 4), "ical": ("", 4), "ics": ("", 4), "ic": ("", 4), "ally": ("", 4), "als": ("", 5),
    "al": ("", 5), "fully": ("", 4), "ful": ("", 4), "edly": ("", 3), "ingly": ("", 3), "ly": ("", 4),
    "ings": ("", 3), "ing": ("", 3), "ied": ("i", 2), "ies": ("i", 2), "ed": ("", 3), "ers": ("", 4),
    "er": ("", 4), "ors": ("", 4), "or": ("", 4), "est": ("", 4), "es": ("", 3), "s": ("", 3),
    "struction": ("struct", 2), "structions": ("struct", 2), "acy": ("", 4), "ately": ("", 4), "age": ("", 4),
    "ages": ("", 4), "ability": ("", 3), "abilities": ("", 3), "ery": ("er", 4), "eries": ("er", 4),
}  # fmt: skip
_LONGEST = max(map(len, _RULES))
_IRREGULAR = {
    "better": "better", "best": "better", "worse": "worse", "worst": "worse", "less": "less", "fewer": "few",
    "data": "data", "series": "series", "species": "species", "during": "during", "bias": "bias",
    "indices": "index", "indexes": "index", "matrices": "matrix", "corpora": "corpus", "corpuses": "corpus",
    "criteria": "criterion", "analyses": "analys", "analysis": "analys", "hypotheses": "hypothes",
    "hypothesis": "hypothes", "children": "child", "men": "man", "women": "woman", "mice": "mouse",
    "made": "mak", "ran": "run", "found": "find", "shown": "show", "built": "build", "taught": "teach",
    "learnt": "learn", "wrote": "writ", "written": "writ", "chosen": "choos", "chose": "choos",
    "grew": "grow",
    "rose": "ris", "fell": "fall", "led": "lead", "kept": "keep", "gave": "giv", "given": "giv",
    "sped": "speed",
    "beaten": "beat", "began": "begin", "lost": "los", "loss": "loss", "losses": "loss", "gpus": "gpu",
    "time": "time", "times": "time", "timing": "time", "user": "user", "users": "user", "paper": "paper",
    "papers": "paper", "number": "number", "numbers": "number", "order": "order", "answer": "answer",
    "answers": "answer", "layer": "layer", "layers": "layer", "parameter": "parameter", "other": "other",
    "parameters": "parameter", "computer": "comput", "transformer": "transformer",
    "transformers": "transformer",
    "metric": "metric", "metrics": "metric", "cancer": "cancer", "cancers": "cancer", "factor": "factor",
    "factors": "factor", "error": "error", "errors": "error", "tensor": "tensor", "vector": "vector",
    "vectors": "vector", "author": "author", "authors": "author", "state": "state", "states": "state",
    "rate": "rate", "rates": "rate", "date": "date", "image": "imag", "graph": "graph", "use": "us",
    "using": "us", "comparison": "compar", "comparisons": "compar", "synthesis": "synth",
    "synthesize": "synth",
    "synthesizes": "synth", "synthesized": "synth", "synthesizing": "synth", "synthetic": "synth",
    "solution": "solv", "solutions": "solv", "description": "describ", "descriptions": "describ",
    "expansion": "expand", "explanation": "explain", "explanations": "explain", "decision": "decid",
    "decisions": "decid", "forgot": "forget", "forgotten": "forget", "stability": "stabl", "memory": "memory",
    "memories": "memory", "modelling": "model", "modelled": "model", "curricula": "curriculum",
    "recover": "recover", "recovers": "recover", "discover": "discover", "discovers": "discover",
    "transfer": "transfer", "transfers": "transfer", "filter": "filter", "filters": "filter",
    "cluster": "cluster", "clusters": "cluster", "lower": "low", "lowers": "low", "higher": "high",
    "consider": "consider", "considers": "consider", "cover": "cover", "covers": "cover", "offer": "offer",
    "offers": "offer", "monitor": "monitor", "behavior": "behaviour", "behaviors": "behaviour",
    "behaviour": "behaviour", "behaviours": "behaviour", "power": "power", "buffer": "buffer",
    "used": "us", "uses": "us", "usage": "us",
}  # fmt: skip
# British spellings of what is otherwise one word.
_BRITISH = (
    (re.compile(r"^(arm|col|endeav|fav|flav|harb|hon|hum|lab|neighb|rum|tum|vap|vig)our"), r"\1or"),
    (re.compile(r"^(cent|fib|lit|met|theat|calib)re(s?)$"), r"\1er\2"),
    (re.compile(r"^(cancel|channel|dial|fuel|label|level|marvel|signal|travel|tunnel)l(?=e|i)"), r"\1"),
    (re.compile(r"^(anal|catal|paral)yse"), r"\1yze"),
    (re.compile(r"^(artefact)"), "artifact"),
    (re.compile(r"^(grey)"), "gray"),
    (re.compile(r"^(programme)(?=s?$)"), "program"),
)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; one of at most three letters, or with digits, is its own."""
    for british, american in _BRITISH:
        word = british.sub(american, word)
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or not word.isalpha():
        return word
    return _tidy(_without_suffix(word))


def _without_suffix(word: str) -> str:
    for length in range(min(_LONGEST, len(word) - 2), 0, -1):
        rule = _RULES.get(word[-length:])
        if rule is None or len(word) - length < rule[1]:
            continue
        if word.endswith("ss") and length == 1:
            continue
        return word[:-length] + rule[0]
    return word


def _tidy(stemmed: str) -> str:
    """Undo what the spelling did when the suffix was put on: "running", "copied", "compare"."""
    if len(stemmed) > 3 and stemmed[-1] == stemmed[-2] and stemmed[-1] not in "aeiouls":
        return stemmed[:-1]
    if len(stemmed) > 3 and stemmed[-1] == "e":
        return stemmed[:-1]
    if len(stemmed) > 2 and stemmed[-1] == "y" and stemmed[-2] not in "aeiou":
        return stemmed[:-1] + "i"
    return stemmed
