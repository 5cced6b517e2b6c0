"""What the program is for, through the real command: facts out of abstracts, each with its paper.

Over the original abstracts (bare lists without titles) where they are at hand, and over the bundled digests
always. The questions are not part of any gold set; nothing is tuned on them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag.cli import app

FIRST, SECOND = "000_7e646097318103ec.txt", "003_aa65735f2f229bc8.txt"
SPECPREFILL = "By how much did SpecPrefill improve time-to-first-token for Llama-3.1-405B?"

# Question, seed file and record of the paper that answers it, its key in the bundled sample, the fact.
FACTS = [
    (SPECPREFILL, FIRST, 3, "liu2025speculative", "7.66"),
    ("How much memory or size does MoE-SVD save as a compression ratio?", FIRST, 15, "li2025moesvd", "60%"),
    ("How much faster does Q-RM converge than ORM on GSM8K?", FIRST, 13, "chen2025discriminative", "12×"),
    (
        "How many tokens of retraining does Ladder Residual need for Llama-3.1 8B?",
        FIRST,
        11,
        "zhang2025ladderresidual",
        "3B",
    ),
    (
        "What gain in percent does ProX bring to 7B models in the math domain?",
        FIRST,
        14,
        "zhou2025programming",
        "20%",
    ),
    ("What does finetuning GPT-4o on insecure code lead to?", FIRST, 17, "betley2025emergent", "misalign"),
    ("What compression ratio of the KV cache does SpeCache work with?", SECOND, 6, "jie2025specache", "10×"),
    ("By how much does SliM-LLM+ reduce perplexity further?", SECOND, 8, "huang2025slimllm", "35.1%"),
    (
        "What success rate does the fine-tuned Qwen-72B model reach in agentic software engineering?",
        SECOND,
        15,
        "zainullina2025guided",
        "40.8",
    ),
    (
        "By what percentage does DA-KD outperform the best knowledge distillation methods?",
        SECOND,
        18,
        "he2025dakd",
        "2%",
    ),
    ("How much less wall-clock time does VinePPO need than PPO?", SECOND, 19, "kazemnejad2025vineppo", "3.0"),
]
ELSEWHERE = [
    "How do I bake sourdough bread?",
    "What is the capital of Mongolia?",
    "Who won the 1998 football world cup?",
]


def ask(question: str, index: Path) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(app, ["ask", question, "--json", "--index", str(index)], prog_name="rag")
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(result.stdout)


@pytest.fixture(scope="session")
def seeds() -> Path:
    folder = Path(__file__).parents[1].parent / "shared" / "seeds"
    if not folder.is_dir():
        pytest.skip("the original abstracts (../shared/seeds) are not here")
    return folder


@pytest.fixture(scope="session")
def seed_reports(seeds: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """The index of the original abstracts, and the reports of two runs of the same ingest."""
    index = tmp_path_factory.mktemp("seeds") / "index"
    words = ["ingest", str(seeds), "--index", str(index), "--json"]
    runs = [CliRunner().invoke(app, words, prog_name="rag") for _ in range(2)]
    return index, [json.loads(run.stdout) for run in runs]


def test_ingest_reads_every_abstract_once(seed_reports: tuple[Path, list[dict[str, Any]]]) -> None:
    index, (first, second) = seed_reports
    counts = ("added", "changed", "unchanged", "removed", "papers")
    assert [first[name] for name in counts] == [38, 0, 0, 0, 38]
    assert [second[name] for name in counts] == [0, 0, 38, 0, 38]
    assert first["failed"] == second["failed"] == []
    listed = CliRunner().invoke(app, ["papers", "list", "--json", "--index", str(index)], prog_name="rag")
    papers = json.loads(listed.stdout)["papers"]
    assert {(paper["venue"], paper["year"]) for paper in papers} == {("ICML", 2025)}
    records = sorted((Path(paper["source"]["file"]).name, paper["source"]["record"]) for paper in papers)
    assert records == [(name, n) for name in (FIRST, SECOND) for n in range(1, 20)]


@pytest.mark.parametrize(
    ("question", "file", "record", "key", "fact"), FACTS, ids=[fact[3] for fact in FACTS]
)
def test_a_fact_of_an_original_abstract(
    seed_reports: tuple[Path, list[dict[str, Any]]],
    *,
    question: str,
    file: str,
    record: int,
    key: str,
    fact: str,
) -> None:
    code, answer = ask(question, seed_reports[0])
    source = answer["references"][0]["source"] if answer["references"] else answer["reason"]
    assert (code, answer["status"]) == (0, "answered"), answer["reason"]
    assert (Path(source["file"]).name, source["record"]) == (file, record)
    assert fact in answer["answer"].replace("10x", "10×")
    quotes_hold(answer)


@pytest.mark.parametrize(
    ("question", "file", "record", "key", "fact"), FACTS, ids=[fact[3] for fact in FACTS]
)
def test_a_fact_of_the_bundled_sample(
    sample_index: Path, *, question: str, file: str, record: int, key: str, fact: str
) -> None:
    code, answer = ask(question, sample_index)
    assert (code, answer["status"]) == (0, "answered"), answer["reason"]
    assert answer["references"][0]["key"] == key
    assert fact in answer["answer"].replace("10x", "10×")
    quotes_hold(answer)


def quotes_hold(answer: dict[str, Any]) -> None:
    """In extractive mode every sentence is its own quotation, and every mark has its reference."""
    assert answer["mode"] == "extractive"
    refs = {reference["ref"] for reference in answer["references"]}
    for sentence in answer["sentences"]:
        assert sentence["verdict"] == "verbatim"
        assert {citation["ref"] for citation in sentence["citations"]} <= refs
        assert [citation["quote"] for citation in sentence["citations"]] == [sentence["text"]]
    assert refs == set(range(1, len(refs) + 1))


@pytest.mark.parametrize("question", ELSEWHERE)
def test_what_no_paper_is_about_is_declined(sample_index: Path, question: str) -> None:
    code, answer = ask(question, sample_index)
    assert (code, answer["status"], answer["sentences"], answer["references"]) == (5, "abstained", [], [])
    assert answer["reason"]
    assert answer["nearest"]


@pytest.mark.parametrize("question", ELSEWHERE)
def test_what_no_original_abstract_is_about_is_declined(
    seed_reports: tuple[Path, list[dict[str, Any]]], question: str
) -> None:
    code, answer = ask(question, seed_reports[0])
    assert (code, answer["status"]) == (5, "abstained")


def test_a_question_whose_answer_its_paper_does_not_state(sample_index: Path) -> None:
    code, answer = ask("Which GPU did the authors of VinePPO train on?", sample_index)
    assert code == 5
    assert answer["nearest"][0]["key"] == "kazemnejad2025vineppo"
