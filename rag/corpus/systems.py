"""The name of the system a paper introduces: "we propose Refine via ... (ReVISE), a framework" -> "ReVISE".

A general signal, used to name untitled papers and to find their titles: a name stands right behind a verb of
introduction, in capitals, camel case or brackets, and mostly comes back later in the abstract.
"""

from __future__ import annotations

import re

from rag.text.words import word_set

_VERB = re.compile(
    r"\b(?:we|paper|work|article|study|report)\b[^.;]{0,60}?\b(?:propos|introduc|present|develop|describ|releas|"
    r"design|construct|build|creat|contribut|offer|put forward|call|nam|term|dubb?|curat|establish)\w*"
    r"|\b(?:called|named|termed|dubbed|coined|namely|denoted|abbreviated)\b"
    r"|\bour (?:\w+ ){0,3}(?:method|approach|framework|model|system|algorithm|benchmark|dataset)\b,?",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(?:of|on|with|using|for|from|by|via|in|to|over|like|than|finetun\w+|fine-tun\w+)\s+$"
)
# A name: ReVISE, SpecPrefill, NS-DPO, F2STrans, Q-RM, μCODE, SliM-LLM+.
_NAME = r"[^\W\d_]?[A-Z][\w+*]*(?:[-‐/][\w+*]+)*|[a-z]+[A-Z][\w+*-]*|[α-ωμ∇]-?[A-Z][\w+*-]*"
_MIXED = re.compile(rf"(?<![\w-])(?:{_NAME})(?![\w-])")
_BRACKETED = re.compile(rf"\(\s*(?:[^()]{{0,90}}?[,:–-]\s)?({_NAME})\s*\)")
_COMMON = word_set(
    "AI ML NLP CV RL LLM LLMs VLM VLMs MLLM MLLMs LM LMs GPU GPUs CPU CPUs API APIs SOTA KV QA RAG CoT",
    "CoTs RLHF SFT DPO PPO GPT BERT MoE GAN GANs VAE VAEs CNN CNNs RNN RNNs GNN GNNs SGD ICL OOD IID",
    "PDE PDEs ODE SDE MDP MDPs DNA RNA MRI CT US USA UK EU Our The This These We In To It Its Here",
    "However Moreover Furthermore Finally By On For With As At An A And Our",
)


def introduced(abstract: str) -> str | None:
    """Return the name of the system, method, data set or benchmark that ``abstract`` introduces, if any."""
    ranked = candidates(abstract)
    return ranked[0] if ranked else None


def candidates(abstract: str) -> list[str]:
    """Return names that ``abstract`` may introduce, best first: closest behind a verb of introduction."""
    scores: dict[str, float] = {}
    for verb in _VERB.finditer(abstract):
        window = _clause(abstract, verb.end())
        for match in _BRACKETED.finditer(window):
            _credit(scores, match[1], abstract, 3.0 - match.start() / 200)
        if found := _MIXED.search(window):
            before = window[: found.start()]
            borrowed = 1.5 if _PREPOSITION.search(before) else 0.0
            _credit(scores, found[0], abstract, 2.5 - len(before.split()) / 4 - borrowed)
    whole = [name for name in scores if not any(part.endswith(f"-{name}") for part in scores)]
    return sorted((name for name in whole if scores[name] > 0), key=lambda name: -scores[name])


def _clause(abstract: str, start: int) -> str:
    end = re.search(r"[.;!?]\s+[A-Z]", abstract[start : start + 260])
    return abstract[start : start + (end.start() if end else 260)]


def _credit(scores: dict[str, float], name: str, abstract: str, points: float) -> None:
    """Add ``points``: less for a plain capitalised word, more for a name that is used again."""
    if name in _COMMON or len(name) < 2:
        return
    again = len(re.findall(rf"(?<![\w-]){re.escape(name)}(?![\w-])", abstract)) - 1
    distinctive = bool(re.search(r"[a-z0-9][A-Z]|[A-Z]{2}|\d|[-+*]|[^\x00-\x7f]", name))
    if distinctive or again:
        points += min(again, 4) * 0.6 - (0 if distinctive else 1.2)
        scores[name] = max(scores.get(name, 0.0), points)
