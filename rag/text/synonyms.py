"""Words that askers and authors exchange: general English and the vocabulary of research, no subject's own.

    >>> concept("faster") == concept("accelerates"), concept("cats") == concept("dogs")
    (True, False)

One line, one concept; a word stands in one line only. Opposites stay apart, so that agreement on a concept is
never agreement on a falsehood.
"""

from __future__ import annotations

from functools import lru_cache

from rag.text.stem import stem
from rag.text.words import word_set

_LINES = (
    "improve improvement enhance boost better strengthen gain upgrade raise increase grow growth",
    "rise higher up",
    "reduce reduction decrease lower cut shrink shrinking lessen diminish save saving decline less",
    "fewer mitigate",
    "drop fall degrade degradation deteriorate worsen worse hurt harm impair damage",
    "outperform surpass beat exceed superior outdo overtake",
    "fast faster quick speed speedup accelerate rapid latency slow delay velocity runtime pause wait",
    "waiting slowdown",
    "time duration hour minute second day long",
    "cost expense expensive cheap price budget costly pay spend spending wasteful waste",
    "memory ram vram footprint",
    "verify verification check validate confirm inspect proofread review double-check judge judgment",
    "judging verdict",
    "evaluate evaluation test assess measure examine benchmark trial exam",
    "use employ utilize apply leverage exploit adopt harness",
    "rely depend dependence reliance",
    "propose introduce present develop design devise build create construct offer invent",
    "show demonstrate find observe reveal discover report indicate establish",
    "prove theorem theory theoretical guarantee provable provably formal",
    "method approach technique framework algorithm procedure strategy scheme paradigm pipeline",
    "recipe way solution",
    "dataset corpus collection data",
    "problem challenge issue limitation difficulty obstacle bottleneck drawback weakness shortcoming trouble",
    "cause reason because why due drive driver",
    "prevent avoid stop block",
    "protect defend defense guard defence",
    "secret private privacy confidential",
    "attack adversary adversarial malicious attacker hack hacker",
    "recover reconstruct restore",
    "correct correction fix mend repair refine rethink self-correct remedy patch",
    "error mistake wrong incorrect fault flaw erroneous inaccurate bug defect",
    "accurate accuracy precise exact",
    "answer reply response respond output",
    "question query prompt input",
    "document text passage article page book",
    "big large huge massive great giant bigger",
    "small little tiny compact lightweight smaller",
    "part piece portion fraction share proportion subset section chunk segment bit",
    "human people person annotator expert rater",
    "teach train training learn learner drill educate instruct taught retrain finetune finetuning",
    "tune tuning",
    "student pupil apprentice",
    "adapt adaptation adapter",
    "choose pick select selection choice decide decision",
    "mix combine merge blend mixture integrate combination ensemble",
    "rank order sort",
    "remove delete eliminate discard",
    "change modify alter edit update revise modification",
    "keep retain preserve maintain",
    "forget forgetting unlearn",
    "memorize memorization remember recall rote",
    "leak contaminate contamination leakage",
    "size scale magnitude amount quantity",
    "compress compression condense",
    "image picture visual vision photo photograph",
    "video clip footage",
    "speech voice audio spoken sound",
    "code program software programming coding script snippet",
    "math mathematics mathematical arithmetic",
    "think thinking thought deliberation deliberate",
    "predict forecast estimate prediction anticipate guess speculate",
    "generate generation produce write",
    "translate translation convert conversion",
    "step stage phase",
    "sentence statement utterance",
    "similar alike resemble comparable close",
    "different distinct various diverse variety",
    "important importance key crucial essential critical vital matter salient salience",
    "new novel",
    "simple easy straightforward",
    "hard difficult complex complicated tough",
    "reward incentive score scorer scoring",
    "contrast versus",
    "explain describe clarify",
    "understand comprehend understanding grasp",
    "fail failure break collapse",
    "trust trustworthy",
    "robust robustness resilient resistant",
    "safe safety harmless",
    "dangerous unsafe nasty evil toxic misaligned",
    "insecure vulnerable vulnerability",
    "align alignment",
    "goal aim objective purpose target want",
    "start begin initial",
    "end finish final",
    "device hardware gpu card processor chip",
    "parallel parallelism concurrent simultaneous overlap simultaneously meanwhile",
    "communicate communication talk exchange transfer",
    "hide conceal mask",
    "happen occur arise emerge appear",
    "need require indispensable necessary demand requirement",
    "handle deal cope address tackle",
    "restrict constrain bound",
    "extra additional further",
    "available release open download",
    "split divide decompose partition decomposition factor factorise factorize factorization",
    "store cache",
    "model network chatbot llm assistant neural net bot transformer",
    "word token lexical vocabulary",
    "weight parameter",
    "lengthy extended extend",
    "short brief",
    "subject topic theme",
    "kind type category style format",
    "label tag",
    "web internet online crawl website",
    "filter filtering curate curation clean cleaning",
    "quality good",
    "self itself own intrinsic",
    "external separate outside independent third-party",
    "symbol glyph sign character",
    "pattern rule regularity",
    "genuine true real truly",
    "copy duplicate replicate verbatim",
    "fake synthetic artificial simulated",
    "prior previous earlier former existing past",
    "search explore exploration",
    "tree branch fork",
    "path trajectory trace line",
    "expand deeper",
    "terminate quit abandon",
    "hidden latent unobserved",
    "preference favourite prefer",
    "sample example instance item",
    "context window",
    "feedback critique comment",
    "execute execution run running",
    "game play player",
    "plan planning",
    "agent autonomous",
    "multi many several multiple",
    "perturb perturbation",
    "optimal optimum",
    "guide guided steer",
    "prune pruning sparse sparsity sparsify",
    "distill distillation",
    "specialist sub-network",
    "common joint",
    "user customer client",
    "patient individual participant",
    "disease illness disorder condition",
    "drug medication medicine medicament",
    "doctor physician clinician",
    "death mortality die fatal",
    "kid child paediatric pediatric infant",
    "old elderly aged older",
    "therapy treatment treat",
    "surgery operation surgical",
    "risk danger hazard",
    "associate relate correlate link relationship association relation correlation connect",
    "effect influence impact affect",
    "worth value useful helpful benefit beneficial",
    "car vehicle automobile",
    "rich wealthy income",
    "school classroom educational",
    "lawyer legal law",
    "job task work",
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


@lru_cache(maxsize=1)
def vocabulary() -> frozenset[str]:
    """Return every word of the table."""
    return word_set(*_LINES)
