"""Words that askers and authors exchange: general English and the vocabulary of research, no subject's own.

    >>> concept("faster") == concept("accelerates"), concept("cats") == concept("dogs")
    (True, False)

One line, one concept; a word stands in one line only. Opposites stay apart, so that agreement on a concept is
never agreement on a falsehood.
"""

from __future__ import annotations

from functools import lru_cache

from rag.text.stem import stem

_LINES = (
    "improve improvement enhance boost better strengthen gain upgrade raise increase grow growth rise higher",
    "reduce reduction decrease lower cut shrink lessen diminish save saving decline less fewer mitigate alleviate",
    "drop fall degrade degradation deteriorate worsen worse hurt harm impair",
    "outperform surpass beat exceed superior outdo",
    "fast speed speedup accelerate quick rapid latency slow velocity runtime",
    "time duration hours minutes seconds long",
    "cost expense expensive cheap price budget costly costing pay",
    "memory ram vram footprint storage",
    "verify verification check validate confirm inspect",
    "evaluate evaluation test assess measure examine benchmark try",
    "use employ utilize apply leverage exploit adopt harness rely",
    "propose introduce present develop design devise build create construct offer suggest invent",
    "show demonstrate find observe reveal discover report indicate prove establish",
    "method approach technique framework algorithm procedure strategy scheme paradigm pipeline system solution way",
    "dataset corpus collection",
    "problem challenge issue limitation difficulty obstacle bottleneck drawback weakness shortcoming trouble",
    "cause reason lead because why due drive source",
    "prevent avoid stop block",
    "protect defend defense guard defence",
    "secret private privacy confidential",
    "attack adversary adversarial exploitable malicious",
    "recover reconstruct restore retrieve",
    "error mistake wrong incorrect fault flaw erroneous",
    "accurate accuracy precise precision exact",
    "answer reply response respond",
    "question query prompt",
    "document text passage article page",
    "big large huge massive great",
    "small little tiny compact lightweight",
    "part portion fraction share proportion subset section",
    "human people person annotator",
    "teach train training learn learner",
    "finetune finetuning tune tuning",
    "pick choose select selection choice",
    "mix combine merge blend mixture integrate combination ensemble",
    "rank order sort",
    "remove delete eliminate discard drop out",
    "change modify alter edit update revise modification",
    "keep retain preserve maintain remain",
    "forget forgetting unlearn",
    "memorize remember recall",
    "leak contaminate contamination leakage",
    "size scale magnitude number amount quantity",
    "compress compression shrinkage condense",
    "image picture visual vision photo",
    "video clip",
    "speech voice audio spoken",
    "code program software programming coding",
    "bug defect",
    "math mathematics mathematical arithmetic",
    "reason reasoning think thinking thought",
    "guess predict forecast estimate prediction anticipate",
    "generate generation produce output write",
    "translate translation convert",
    "step stage phase",
    "task job problem-solving",
    "sentence statement utterance",
    "similar alike resemble comparable close",
    "different distinct various diverse variety",
    "important key crucial essential critical vital",
    "new novel",
    "simple easy straightforward",
    "hard difficult challenging complex complicated tough",
    "reward incentive",
    "compare comparison contrast versus",
    "explain describe clarify",
    "understand comprehend understanding",
    "fail failure break collapse",
    "trust reliable reliability dependable trustworthy",
    "robust robustness resilient resistant",
    "safe safety harmless",
    "goal aim objective purpose target",
    "start begin initial initially",
    "end finish final finally",
    "device hardware gpu accelerator machine",
    "parallel parallelism concurrent simultaneous overlap",
    "hide conceal mask",
    "happen occur arise emerge",
    "need require necessary demand requirement",
    "handle deal cope address tackle",
    "limit restrict constrain bound",
    "extra additional further",
    "available public release open",
    "split divide decompose partition break down",
    "store cache hold",
    "patient subject participant individual",
    "disease illness disorder condition",
    "drug medication medicine medicament",
    "doctor physician clinician",
    "death mortality die fatal",
    "kid child paediatric pediatric infant",
    "old elderly aged older",
    "therapy treatment treat",
    "surgery operation surgical operate",
    "risk danger hazard",
    "associate relate correlate link relationship association relation correlation connect",
    "effect influence impact affect",
    "worth value useful helpful benefit beneficial",
)


def _table() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in _LINES:
        words = line.split()
        for word in words:
            table.setdefault(stem(word), stem(words[0]))
    return table


_CONCEPTS = _table()


def concept_of_stem(stemmed: str) -> str:
    """Return the stem that stands for the concept of ``stemmed``: itself where no line has it."""
    return _CONCEPTS.get(stemmed, stemmed)


@lru_cache(maxsize=16384)
def concept(word: str) -> str:
    """Return the concept of a lower-case word."""
    return concept_of_stem(stem(word))
