"""Names: which words are names, and when two spellings are one name."""

from __future__ import annotations

import pytest

from rag.text.names import Lexicon, find


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Does μCODE beat Llama-3.1-405B on SWE-bench?", ["μCODE", "Llama-3.1-405B", "SWE-bench"]),
        ("Is Ladder Net better than Llama 3.1 8B?", ["Ladder Net", "Llama 3.1 8B"]),
        ("We use PPO/REINFORCE and o1-mini.", ["PPO", "REINFORCE", "o1-mini"]),
        ("The Q-RM model and C++.", ["Q-RM", "C++"]),
        ("RESULTS: it works. We test it.", []),
        ("Why does it work? The model is big.", []),
        ("How Every Title Word Has Its Capital", []),
    ],
)
def test_find(text: str, expected: list[str]) -> None:
    assert [name.text for name in find(text)] == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("μCODE", "we propose muCODE"),
        ("muCODE", "we propose μCODE"),
        ("LLMs", "a large language model"),
        ("TTFT", "the time-to-first-token"),
        ("RL", "reinforcement learning"),
        ("Llama-3.1-405B", "Llama 3.1 405B"),
        ("Spec-Prefill", "SpecPrefill"),
        ("BenchQAs", "BenchQA"),
        ("Tensor Parallelism", "parallelism over tensors is tensor parallelism"),
    ],
)
def test_has(name: str, text: str) -> None:
    assert Lexicon(text).has(find(f"the {name} thing")[0])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("GPT-4", "GPT-4o"),
        ("Llama-3.1-450B", "Llama-3.1-405B"),
        ("SlimNet+", "SlimNet"),
        ("SpecPrefill", "Speculative Decoding"),
        ("RL", "run long"),
        ("MAE", "it makes many. And errors are few, more and even fewer than the most an expert makes"),
    ],
)
def test_has_not(name: str, text: str) -> None:
    assert not Lexicon(text).has(find(f"the {name} thing")[0])


@pytest.mark.parametrize(
    ("said", "text", "there"),
    [
        ("Qwen2", "We use Qwen2.5 here.", False),
        ("Qwen2.5", "We use Qwen 2.5 here.", True),
        ("Qwen 2.5", "We use Qwen2.5-7B here.", True),
        ("Llama-3", "We use Llama-3.1-8B here.", False),
        ("GPT-4", "We use GPT-4.1 here.", False),
        ("DPO", "on data produced online", False),
        ("DPO", "by direct preference optimization", True),
        ("MoE", "a mixture-of-experts layer", True),
        ("CDG", "the critic discernment game", True),
    ],
)
def test_a_version_or_an_acronym_is_not_another(said: str, text: str, there: bool) -> None:
    (name,) = find(f"It uses {said}.")
    assert Lexicon(text).has(name) is there


def test_a_measure_with_its_value_is_no_name() -> None:
    text = "it achieves BLEU 28.4 on the test, F1 0.82 on GSM8K 84.2 and a HR 1.3 with Llama 3.1 there"
    assert [name.text for name in find(text)] == ["BLEU", "F1", "GSM8K", "HR", "Llama 3.1"]
