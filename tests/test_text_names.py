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
    ],
)
def test_has_not(name: str, text: str) -> None:
    assert not Lexicon(text).has(find(f"the {name} thing")[0])
