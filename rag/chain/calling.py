"""What a paper is called in conversation: the name of its system where it has one, else its title.

"AnyEdit: Edit Any Knowledge Encoded in Language Models"              ->  AnyEdit
"Programming Every Example", whose abstract says "ProX is ..."        ->  ProX
"How Much Can We Forget about Data Contamination?"                    ->  “How Much Can We Forget about Data
                                                                           Contamination”
"""

from __future__ import annotations

import re
from collections import Counter

from rag.records import Paper
from rag.text.names import Lexicon, Name, find
from rag.text.normalise import plain
from rag.text.words import word_set

_ENOUGH = 3.0
_SPOKEN = 2.0
_SHORTEST = 3
_TITLE_WORDS = 12
_OPENING_WORDS = 8
# Names of things that thousands of papers work with, so that they name none of them.
_EVERYBODYS = word_set(
    "llm vlm mllm lm slm rl rlhf rlaif sft dpo ppo grpo orm prm gpt bert llama qwen gemma mistral deepseek",
    "claude kv kvcache qa rag cot moe gan vae cnn rnn gnn sgd adam gpu cpu tpu api sota ai ml nlp cv icl ood",
    "iid mdp pde ode sde mcts lora svd pca ttft qps flop map dna rna mri ct eeg ecg auc roc",
)
_PRESENTED = r"(?:called|named|dubbed|termed|introduce|propose|present|develop)s?\s+(?:\w+\s+){{0,2}}{0}\b"
_DEFINED = r"(?:^|[.:;] )(?:Our )?{0}(?: \([^)]*\))?,? (?:is |are )?an? "
_ACTING = r"\b{0} (?:extends|combines|uses|learns|trains|casts|models|builds|improves|outperforms)\b"


def called(paper: Paper, spoken: str = "") -> str:
    """Return the name of the paper's system, or its title in quotation marks.

    Args:
        spoken: what was just said about the paper; a name that stands there counts for more.
    """
    return system(paper, spoken) or f"“{_short_title(paper)}”"


def system(paper: Paper, spoken: str = "") -> str | None:
    """Return the name by which the paper's own system, method or data set goes; None if it has none."""
    head, colon, _ = (paper.title or "").partition(":")
    if colon and len(head.split()) == 1 and len(head) > 1:
        return head.strip()
    scores = _scores(paper, spoken)
    best = max(scores, key=lambda name: scores[name], default=None)
    return best if best is not None and scores[best] >= _ENOUGH else None


def _scores(paper: Paper, spoken: str) -> dict[str, float]:
    """Points of each name of the abstract: presented or defined there, in the title, often repeated."""
    text, title, said = plain(paper.abstract), Lexicon(paper.title or ""), Lexicon(spoken)
    names = [name for name in find(paper.abstract) if name.strong and not _is_everybodys(name)]
    times = Counter(name.key for name in names)
    scores: dict[str, float] = {}
    for name in names:
        if name.text in scores or len(name.text) < _SHORTEST:
            continue
        word = re.escape(name.text)
        points = min(times[name.key], 4) / 2
        points += 2.0 * bool(re.search(_PRESENTED.format(word), text, re.IGNORECASE))
        points += 2.5 * bool(re.search(_DEFINED.format(word), text))
        points += 1.0 * bool(re.search(_ACTING.format(word), text))
        points += 2.0 * (f"({name.text})" in text)
        points += 2.0 * title.has(name)
        points += _SPOKEN * (name.key in said.keys)
        scores[name.text] = points
    return scores


def _is_everybodys(name: Name) -> bool:
    pieces = re.findall(r"[a-z]+", name.text.lower())
    return name.key in _EVERYBODYS or (bool(pieces) and pieces[0].removesuffix("s") in _EVERYBODYS)


def _short_title(paper: Paper) -> str:
    """The title up to its colon if that says enough; of an untitled paper the first words."""
    if not paper.title:
        return " ".join(paper.abstract.split()[:_OPENING_WORDS]) + " …"
    head = paper.title.partition(":")[0]
    words = (head if len(head.split()) > 3 else paper.title).split()
    return " ".join(words[:_TITLE_WORDS]).rstrip("?!. ") + (" …" if len(words) > _TITLE_WORDS else "")
