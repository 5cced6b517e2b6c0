"""Whether a sentence has the kind of thing that a question asks for.

"How many problems are in X?"      a number with "problems" behind it
"What speed-up does X give?"       a number with a unit, or a factor
"Which datasets was X tried on?"   a name beside a word for datasets that the question does not have already
"""

from __future__ import annotations

import re

from rag.chain import roles
from rag.chain.question import Asked
from rag.chain.support import Sentence
from rag.chain.wanted import METRICS, Slot
from rag.text import numbers
from rag.text.names import Name, key
from rag.text.normalise import plain
from rag.text.stem import stem
from rag.text.words import word_set

_HARDWARE = re.compile(
    r"\b(?:[AHVBLTP]\d{2,3}0?|RTX ?\d+\w*|GTX ?\d+\w*|TPU ?v\d\w*|TPUv\d\w*|GB200|MI\d{3}X?|Xeon|EPYC"
    r"|GeForce|Jetson|Tesla"
    r"|Titan|M[1-4] (?:Pro|Max|Ultra)|Ascend|Gaudi|Trainium|Blackwell|Hopper)\b|\b\d+ ?[x×] ?\w*GPU"
    r"|\b\d+ \w+ GPUs?\b"
)
_LINK = re.compile(
    r"https?://|www\.|\bgithub\b|\bhugging ?face\b"
    r"|\b(?:code|data|models?|project|datasets?|benchmarks?|weights)\b.{0,40}"
    r"\b(?:available"
    r"|released?|at)\b",
    re.I,
)
_LICENCE = re.compile(r"\blicen[cs]e|\bApache\b|\bMIT\b|\bGPL|\bCC[- ]BY", re.IGNORECASE)
_LANGUAGES = re.compile(
    r"\b(?:Python|Java|JavaScript|C\+\+|C#|Rust|Haskell|Ruby|PHP|Go|Kotlin|Scala|SQL|English|Chinese"
    r"|German|French|Spanish"
    r"|Japanese|Arabic|Hindi|Russian|Korean|Portuguese|Italian|Swahili|Turkish|Vietnamese)\b"
)
_REASON = re.compile(
    r"\b(?:because|since|due to|owing to|caused? by|stems? from|arises? from|results? from|so that"
    r"|thus|thereby"
    r"|(?:bottlenecked|limited|hampered|driven|motivated|enabled) by"
    r"|therefore|hence|as a result|reasons?|leads? to|(?:specifically|particular), as|which makes?"
    r"|rel(?:y|ies|iance) on|whose)\b|, where\b",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"\b(?:(?:annotator|contractor|labell?er|crowdworker|subject|respondent|expert|user|student|teacher|participant|worker|volunteer|researcher|engineer|developer"
    r"|author|clinician|physician|doctor|nurse|surgeon|patient|adult|rater|reviewer|speaker)s?|people|persons?"
    r"|m[ae]n|wom[ae]n|children|humans)\b",
    re.IGNORECASE,
)
_PATTERNS = {
    "hardware": _HARDWARE, "language": _LANGUAGES, "reason": _REASON, "licence": _LICENCE, "place": _LINK,
    "person": _PEOPLE,
}  # fmt: skip
_UNITS = {
    "duration": frozenset(["ms", "s", "min", "h", "day", "week", "month", "year"]),
    "money": frozenset(["usd", "eur", "gbp"]),
}
# Acronyms of whole fields and kinds: no answer to "which model".
_KINDS = word_set(
    "llm lm vlm mllm rl ai ml nlp gpu cpu tpu api rlhf sft cot kv qa rag mdp ppo dpo svd kd moe cnn",
    "rnn gan vae mlp",
    "qps ttft flops tflops bleu rouge f1 auc map ndcg mse mae psnr ssim fid iou agi mle mcmc pca sgd mcts",
    "dna rna mri ct hiv usa uk eu ood iid sota stem url llm-as-a-judge",
)
# Measures that a figure is of only where the word itself stands; a speed-up may be called otherwise.
_STRICT = frozenset(
    map(
        stem,
        METRICS
        | word_set(
            "rate length dimension rank temperature depth width threshold value budget frequency dose"
        ),
    )
)
# Of these the word before says which: "discount factor", "batch size". Others say such things in other words.
_TIED = frozenset(map(stem, ("factor", "size", "norm")))
_UNTIED = frozenset(
    map(stem, ("speedup", "speed-up", "sample", "effect", "model", "compression", "acceleration"))
)
_EPONYMS = word_set(
    "gaussian bayesian markov fourier euclidean hessian bernoulli poisson transformer transformers",
    "newton riemannian",
    "lipschitz pareto english european american african asian chinese",
)
_DATA = frozenset(map(stem, ("dataset", "datasets", "benchmark", "benchmarks", "corpus", "corpora")))
_BESIDE_DATA = re.compile(
    r"\b(?:data|datasets?|benchmarks?|corpus|corpora|suites?|tasks?|tests?|evaluat\w+|collections?)\b",
    re.IGNORECASE,
)


def fills(asked: Asked, sentence: Sentence) -> float:
    """Return 1.0 when the sentence has what is asked for, 0.0 when not; 0.5 when nothing special is asked."""
    slot = asked.slot
    if slot.kind in _PATTERNS:
        return float(bool(_PATTERNS[slot.kind].search(sentence.span.text)))
    if slot.kind in _UNITS:
        return float(any(q.unit in _UNITS[slot.kind] for q in sentence.quantities))
    if slot.kind in ("part", "listed", "limits"):  # where no sentence has it, any may do
        return 1.0 if _tells(slot, sentence) else 0.5
    if slot.kind == "count":
        return float(_is_counted(asked, sentence))
    if slot.kind == "amount":
        return _amount(asked, sentence)
    return _named(asked, sentence) if slot.kind else 0.5


def _tells(slot: Slot, sentence: Sentence) -> bool:
    if slot.kind == "limits":
        return roles.tells_limits(sentence.span.text)
    if slot.kind == "part":
        return roles.tells(slot.nouns[0], sentence.span.text)
    return any(slot.nouns[0] in q.nouns for q in sentence.quantities if q.spelled)


def gives(asked: Asked, sentence: Sentence) -> bool:
    """Return whether a sentence gives what is asked for, in whatever words: of a figure, any figure."""
    if asked.slot.kind in ("count", "amount") and _figures(asked, sentence):
        return True  # "how many updates does it save?": "nine times fewer"
    return fills(asked, sentence) >= 0.5


def _is_counted(asked: Asked, sentence: Sentence) -> bool:
    noun = asked.slot.nouns[-1]
    if any(not q.unit and any(_is_same(noun, n) for n in q.nouns) for q in _figures(asked, sentence)):
        return True
    return bool(
        re.search(
            rf"\b(?:only|just) (?:a |one )?(?:one|single)(?:[ -]\w+){{0,2}}[ -]{re.escape(noun)}\b",
            sentence.span.text,
        )
    )


def _is_same(noun: str, other: str) -> bool:
    """Whether two nouns in singular count the same: "timestep" and "step", "people" and "contractor"."""
    if _PEOPLE.fullmatch(noun) and _PEOPLE.fullmatch(other):
        return True
    short, long = sorted((noun, other), key=len)
    return long == short or (len(short) > 3 and long.endswith(short))


def _amount(asked: Asked, sentence: Sentence) -> float:
    nouns, near = set(asked.slot.nouns), set(asked.slot.near)
    if any(near & set(map(stem, (q.unit, *q.nouns[:1]))) for q in _figures(asked, sentence)):
        return 1.0  # "2-bit" gives the bit width, "8 layers" the layer depth
    if nouns & _STRICT and not nouns & sentence.stems:
        return 0.0
    if nouns & _TIED and near - _UNTIED and not near & sentence.stems:
        return 0.0
    return max((_fits(q, asked.slot.unit) for q in _figures(asked, sentence)), default=0.0)


def _named(asked: Asked, sentence: Sentence) -> float:
    if set(asked.slot.nouns) & _DATA and not _BESIDE_DATA.search(sentence.span.text):
        return 0.0
    found = len(new_names(asked, sentence))
    return min(1.0, 0.7 + 0.1 * found) if found else 0.0


def _figures(asked: Asked, sentence: Sentence) -> list[numbers.Quantity]:
    """Return the figures that are neither the question's own ("on a 70B model") nor part of a name."""
    return [
        q
        for q in sentence.quantities
        if not q.inside
        and not any(numbers.same_size(f, q) for f in asked.figures)
        and not any(n.start <= q.start < n.end for n in sentence.names)
    ]


def _fits(quantity: numbers.Quantity, unit: str) -> float:
    precise = quantity.step < 0.5 and not quantity.spelled
    match unit:
        case "points":
            fits = quantity.unit in ("%", "points") or precise
        case "%":
            fits = quantity.unit in ("%", "points") or quantity.value in (0.5, 0.25)
        case "size":
            fits = not quantity.unit and quantity.value >= 1e6
        case "x":
            fits = quantity.unit == "x"
        case _:
            fits = bool(quantity.unit) or quantity.signed or precise or quantity.value >= 1000
            return float(fits) or (0.0 if quantity.spelled else 0.6)
    return float(fits)


def new_names(asked: Asked, sentence: Sentence) -> list[Name]:
    """Return the names of the sentence that could answer "which one": none that the question has."""
    pieces = {key(p) for name in asked.names for p in (name.text, *re.split(r"[ -]", name.text))}
    return [name for name in sentence.names if _is_new(name, pieces, sentence)]


def _is_new(name: Name, asked: set[str], sentence: Sentence) -> bool:
    if name.key in _KINDS or any(key(p) in asked for p in (name.text, *re.split(r"[ -]", name.text))):
        return False
    if name.text.isupper() and sentence.lexicon.spells_out(name):
        return False  # "knowledge distillation (KD)": a term
    if name.strong:
        return True
    # "Refine via Self-Verification (ReVISE)", "Mixture of Experts (MoE)", "Large Language Models": no
    # answer to "which model", while "Mixtral" is.
    if name.key in _EPONYMS:
        return False
    after = plain(sentence.span.text)[name.end : name.end + 12]
    return " " not in name.text and not re.match(r" ?\(| of | via ", after)
