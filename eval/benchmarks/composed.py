"""Writes made-up paper records, for sizes of which there is no real text at hand.

    write(Path("10000.jsonl"), 10_000)
    question(17)                            # what a reader of paper 17 might ask

Each record has a title and an abstract of seven to nine sentences (about 125 words) put together from a fixed
set of patterns; names, numbers and rarer words are drawn anew for each paper, log-uniformly by rank, so that
word frequencies have the long tail of text. The same number gives the same record on every machine.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

FIELDS = """
translation parsing retrieval summarisation segmentation tracking planning routing forecasting alignment
clustering denoising captioning grounding scheduling compression calibration imputation matching synthesis
""".split()  # noqa: SIM905
SUBJECTS = """
transformers kernels graphs policies encoders surrogates mixtures diffusions samplers embeddings priors
networks ensembles adapters tokenisers hypernetworks curricula bandits operators manifolds
""".split()  # noqa: SIM905
PROPERTIES = """
sparse causal latent robust modular spectral stochastic federated adaptive equivariant hierarchical online
amortised low-rank private quantised continual contrastive invertible recurrent
""".split()  # noqa: SIM905
# The commonest words; with the coined ones behind them, half of all words drawn.
NOUNS = """
token gradient label query prompt cache budget layer head sample noise reward memory latency bandwidth drift
window margin bias variance norm prior score rank batch step epoch loss curve slope bound anchor pair triple
path tree node edge mask patch frame pixel voxel region contour shadow motion depth camera speaker accent
pitch phrase clause tense entity relation event schema table column record sensor signal spectrum phase pulse
filter kernel stride channel codec packet queue thread shard replica ledger auction market price demand supply
weather river soil crop forest battery voltage circuit wafer defect crack alloy polymer enzyme protein gene
cell tissue tumour dose trial cohort clinic triage lesion scan seizure sleep gait grip joint torque actuator
gripper drone vessel orbit lens mirror photon qubit lattice crystal plasma vortex boundary wave fault tremor
teacher student peer reviewer author editor annotator user session click cart basket playlist lyric chord
""".split()  # noqa: SIM905
OPENINGS = (
    "Existing {p} {s} for {f} lose accuracy as soon as {w} and {v} change together.",
    "Most work on {f} assumes that {s} see {w} before {v}, which rarely holds in deployment.",
    "It is still unclear when {p} {s} help {f} and when they merely memorise {w}.",
    "The cost of {f} is dominated by {w}, which {p} {s} have to recompute for every {v}.",
)
BODIES = (
    "We introduce {n}, a {p} scheme that couples {w} with {v} through a shared set of {s}.",
    "{n} first ranks candidates by {w}, then spends its remaining budget on {v} alone.",
    "The key step replaces the usual {w} penalty by a bound on {v} that can be evaluated in closed form.",
    "A small {p} controller decides for each input whether {w} is worth its price.",
    "Our analysis shows that the error of {n} shrinks with {v} and does not depend on {w}.",
    "Training needs no labels for {w}; a handful of {v} examples per task is enough.",
    "An ablation attributes most of the benefit to {w}, while {v} matters only for long inputs.",
    "We also report where {n} fails, namely on {f} with heavy {v}.",
)
RESULTS = (
    "On {d}, {n} raises accuracy from {a}% to {b}% and needs {x} times less memory.",
    "Across {k} benchmarks including {d}, {n} is {x} times faster than the strongest baseline.",
    "{n} reduces the error on {d} by {a}% with {k} million parameters.",
)


def vocabulary(size: int = 30_000) -> list[str]:
    """Pronounceable words, commonest first."""
    chance = random.Random(3)
    syllables = [a + b for a in "bcdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "al", "en", "or")]
    words: dict[str, None] = dict.fromkeys(NOUNS)
    while len(words) < size:
        words["".join(chance.choices(syllables, k=chance.choice((2, 2, 3))))] = None
    return list(words)


WORDS = vocabulary()


def record(number: int) -> dict[str, object]:
    """Return paper ``number``, in the form of a line of a JSONL file."""
    chance = random.Random(number)
    name, data = _name(chance), _word(chance).capitalize() + "Bench"
    field = chance.choice(FIELDS)

    def filled(pattern: str) -> str:
        return pattern.format(
            n=name, d=data, f=field, p=chance.choice(PROPERTIES), s=chance.choice(SUBJECTS),
            w=f"{_word(chance)} {_word(chance)}", v=_word(chance), k=chance.randint(2, 900),
            x=f"{chance.uniform(1.1, 9.9):.1f}", a=f"{chance.uniform(20, 60):.1f}",
            b=f"{chance.uniform(60, 99):.1f}",
        )  # fmt: skip

    sentences = [
        chance.choice(OPENINGS),
        *chance.sample(BODIES, chance.randint(4, 5)),
        *chance.sample(RESULTS, chance.randint(1, 2)),
        # Words of its own: two abstracts of the same patterns would pass for one paper's.
        f"We release code and data for {', '.join(_word(chance) for _ in range(12))}.",
    ]
    title = f"{name}: {chance.choice(PROPERTIES).capitalize()} {chance.choice(SUBJECTS)} for {field}"
    return {
        "title": f"{title} with {_word(chance)}",
        "abstract": " ".join(map(filled, sentences)),
        "authors": [f"{_word(chance).capitalize()} {_word(chance).capitalize()}" for _ in range(3)],
        "venue": ("Alpha", "Beta", "Gamma", "Delta", "Epsilon")[number % 5],
        "year": 2016 + number % 10,
    }


def question(number: int) -> str:
    """Return a question that paper ``number`` answers."""
    chance = random.Random(number)
    return f"By how much does {_name(chance)} improve accuracy, and what does it need?"


def write(file: Path, records: int) -> Path:
    """Write the first ``records`` papers, unless the file is there."""
    if not file.exists():
        part = file.with_suffix(".part")
        with part.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(record(number)) + "\n" for number in range(records))
        part.replace(file)
    return file


def _word(chance: random.Random) -> str:
    return WORDS[int(len(WORDS) ** chance.random()) - 1]


def _name(chance: random.Random) -> str:
    first, second = chance.choice(WORDS), chance.choice(WORDS)
    return f"{first.capitalize()}{second[:3].capitalize()}{chance.choice(('Net', 'RAG', '-2', 'Former', ''))}"
