"""Well-known venues by their acronym, however they are written out.

    >>> same("ICML", "Proceedings of the 42nd International Conference on Machine Learning")
    True
    >>> same("ICML", "International Conference on Machine Learning and Applications")
    False

Only a whole name counts: a workshop at a conference, or its findings, is another venue.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Names without "international", "annual", "IEEE" and the like, which come and go; several are parted by "|".
_KNOWN = {
    "AAAI": "aaai conference on artificial intelligence",
    "ACL": "meeting of association for computational linguistics",
    "AISTATS": "conference on artificial intelligence statistics",
    "ALT": "conference on algorithmic learning theory | algorithmic learning theory",
    "CHI": "conference on human factors in computing systems"
    " | chi conference on human factors in computing systems",
    "CIKM": "conference on information knowledge management",
    "COLING": "conference on computational linguistics",
    "COLM": "conference on language modeling",
    "COLT": "conference on learning theory",
    "CoNLL": "conference on computational natural language learning",
    "CoRL": "conference on robot learning",
    "CVPR": "conference on computer vision pattern recognition | computer vision pattern recognition"
    " | computer vision pattern recognition conference",
    "EACL": "conference of european chapter of association for computational linguistics"
    " | european chapter of association for computational linguistics",
    "ECCV": "european conference on computer vision",
    "ECIR": "european conference on information retrieval",
    "EMNLP": "conference on empirical methods in natural language processing",
    "FAccT": "conference on fairness accountability transparency",
    "ICASSP": "conference on acoustics speech signal processing",
    "ICCV": "conference on computer vision",
    "ICLR": "conference on learning representations",
    "ICML": "conference on machine learning",
    "ICRA": "conference on robotics automation",
    "IJCAI": "joint conference on artificial intelligence | joint conferences on artificial intelligence",
    "INTERSPEECH": "conference of speech communication association",
    "IROS": "conference on intelligent robots systems | rsj conference on intelligent robots systems",
    "JMLR": "journal of machine learning research",
    "KDD": "conference on knowledge discovery data mining | knowledge discovery data mining"
    " | sigkdd conference on knowledge discovery data mining",
    "LREC": "conference on language resources evaluation",
    "MICCAI": "conference on medical image computing computer assisted intervention",
    "MLSys": "conference on machine learning systems | machine learning systems",
    "NAACL": "conference of north american chapter of association for computational linguistics"
    " | north american chapter of association for computational linguistics"
    " | conference of north american chapter of association for computational linguistics human language"
    " technologies",
    "NeurIPS": "nips | conference on neural information processing systems"
    " | neural information processing systems | advances in neural information processing systems",
    "PNAS": "national academy of sciences | national academy of sciences of united states of america",
    "RecSys": "conference on recommender systems",
    "SIGIR": "sigir conference on research development in information retrieval",
    "TACL": "transactions of association for computational linguistics",
    "TMLR": "transactions on machine learning research",
    "TPAMI": "transactions on pattern analysis machine intelligence",
    "UAI": "conference on uncertainty in artificial intelligence",
    "VLDB": "conference on very large data bases | vldb endowment",
    "WACV": "winter conference on applications of computer vision",
    "WSDM": "conference on web search data mining",
    "WWW": "web conference | world wide web conference | conference on world wide web",
}
_ACRONYMS = {
    name: acronym.casefold()
    for acronym, names in _KNOWN.items()
    for name in (acronym.casefold(), *map(str.strip, names.split("|")))
}
_BRACKETS = re.compile(r"\([^()]*\)")
_WORD = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_COMES_AND_GOES = re.compile(
    r"the|and|annual|international|ieee|cvf|acm|\d+(?:st|nd|rd|th)?|"
    r"(?:twent|thirt|fort|fift|sixt|sevent|eight|ninet)(?:y|ieth)|"
    r"first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth"
)
_LEADS = re.compile(r"^(?:in )?(?:proceedings of |proc )?")
_HOW_SHOWN = re.compile(r" (?:posters?|orals?|spotlights?)$")


def same(wanted: str, venue: str) -> bool:
    """Whether ``venue`` is what is ``wanted``; a year is looked at only if the wanted one has it."""
    asked = _name(wanted)
    return wanted.strip().casefold() == venue.strip().casefold() or asked in _names(venue)


@lru_cache(maxsize=10_000)
def _names(venue: str) -> frozenset[str]:
    name = _name(venue)
    return frozenset((name, _acronym(venue) or name))


def _name(venue: str) -> str:
    """Acronym and year of a well-known venue, else the venue itself, folded.

    >>> _name("Thirty-eighth Conference on Neural Information Processing Systems (NeurIPS 2024)")
    'neurips 2024'
    """
    acronym = _acronym(venue)
    year = _YEAR.search(venue)
    return f"{acronym} {year[0]}" if acronym and year else acronym or venue.strip().casefold()


def _acronym(venue: str) -> str:
    words = _WORD.findall(_BRACKETS.sub(" ", venue.casefold()))
    kept = " ".join(word for word in words if not _COMES_AND_GOES.fullmatch(word))
    return _ACRONYMS.get(_HOW_SHOWN.sub("", _LEADS.sub("", kept)), "")
