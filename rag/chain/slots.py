"""Whether a sentence has the kind of thing that a question asks for.

"How many problems are in X?"      a number with "problems" behind it
"What speed-up does X give?"       a number with a unit, or a factor
"Which datasets was X tried on?"   a name beside a word for datasets that the question does not have already
"""

from __future__ import annotations

import re

from rag.chain.question import Asked
from rag.chain.support import Sentence
from rag.text import numbers
from rag.text.names import Name, key
from rag.text.synonyms import concept_of_stem
from rag.text.words import word_set

_HARDWARE = re.compile(
    r"\b(?:[AHVBLTP]\d{2,3}0?|RTX ?\d+\w*|GTX ?\d+\w*|TPU ?v\d\w*|TPUv\d\w*|GB200|MI\d{3}X?|Xeon|EPYC|GeForce|Jetson|Tesla"
    r"|Titan|M[1-4] (?:Pro|Max|Ultra)|Ascend|Gaudi|Trainium|Blackwell|Hopper)\b|\b\d+ ?[x×] ?\w*GPU|\b\d+ \w+ GPUs?\b"
)
_LINK = re.compile(
    r"https?://|www\.|\bgithub\b|\bhugging ?face\b|\b(?:code|data|models?)\b.{0,40}\b(?:available|released?|at)\b",
    re.I,
)
_LICENCE = re.compile(r"\blicen[cs]e|\bApache\b|\bMIT\b|\bGPL|\bCC[- ]BY", re.IGNORECASE)
_LANGUAGES = re.compile(
    r"\b(?:Python|Java|JavaScript|C\+\+|C#|Rust|Haskell|Ruby|PHP|Go|Kotlin|Scala|SQL|English|Chinese|German|French|Spanish"
    r"|Japanese|Arabic|Hindi|Russian|Korean|Portuguese|Italian|Swahili|Turkish|Vietnamese)\b"
)
_TIME = frozenset(["ms", "s", "min", "h", "day", "week", "month", "year"])
_MONEY = frozenset(["usd", "eur", "gbp"])
# Acronyms of whole fields and kinds: no answer to "which model".
_KINDS = word_set(
    "llm lm vlm mllm rl ai ml nlp gpu cpu tpu api rlhf sft cot kv qa rag mdp ppo dpo svd kd moe cnn rnn gan vae mlp",
    "dna rna mri ct hiv usa uk eu ood iid sota stem url llm-as-a-judge",
)
_BESIDE = {
    "dataset": "dataset benchmark corpus corpora suite data evaluat test collection", "benchmark":
    "benchmark dataset suite evaluat test task experiment", "corpus": "corpus corpora dataset data",
}  # fmt: skip


def fills(asked: Asked, sentence: Sentence) -> float:
    """Return 1.0 when the sentence has what is asked for, 0.0 when not; 0.5 when nothing special is asked."""
    slot = asked.slot
    text = sentence.span.text
    match slot.kind:
        case "":
            return 0.5
        case "count":
            return float(any(_counts(q, slot.nouns) for q in sentence.quantities if not _is_asked(q, asked)))
        case "amount":
            return max(
                (_amount(q, slot.unit) for q in sentence.quantities if not _is_asked(q, asked)), default=0.0
            )
        case "duration":
            return float(any(q.unit in _TIME for q in sentence.quantities))
        case "money":
            return float(any(q.unit in _MONEY for q in sentence.quantities))
        case "hardware":
            return float(bool(_HARDWARE.search(text)))
        case "language":
            return float(bool(_LANGUAGES.search(text)))
        case "licence":
            return float(bool(_LICENCE.search(text)))
        case "place":
            return float(bool(_LINK.search(text)))
    return float(any(True for _ in new_names(asked, sentence)))


def _is_asked(quantity: numbers.Quantity, asked: Asked) -> bool:
    """Whether the figure is the question's own ("on a 70B model") or part of a name."""
    return quantity.inside or any(abs(f.value) == abs(quantity.value) for f in asked.figures)


def _counts(quantity: numbers.Quantity, nouns: tuple[str, ...]) -> bool:
    wanted = {concept_of_stem(noun) for noun in nouns[-1:]}
    return not quantity.unit and bool(wanted & {concept_of_stem(noun) for noun in quantity.nouns})


def _amount(quantity: numbers.Quantity, unit: str) -> float:
    if unit == "%":
        return float(quantity.unit in ("%", "points") or quantity.value in (0.5, 0.25))
    if unit == "x":
        return 1.0 if quantity.unit == "x" else 0.0
    if quantity.unit or quantity.signed or quantity.step < 0.5 or quantity.value >= 1000:
        return 1.0
    return 0.0 if quantity.spelled else 0.6


def new_names(asked: Asked, sentence: Sentence) -> list[Name]:
    """Return the names of the sentence that could answer "which one": none of the question's, no mere acronym."""
    own = {name.key for name in asked.names}
    pieces = {key(p) for name in asked.names for p in re.split(r"[ -]", name.text)}
    return [
        name
        for name in sentence.names
        if name.key not in own
        and name.key not in _KINDS
        and not any(key(p) in pieces for p in re.split(r"[ -]", name.text))
    ]
