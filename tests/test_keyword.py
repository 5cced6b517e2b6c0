"""BM25: words written one way, names found, and the traps of small and odd piles."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from rag.adapters.keyword import Bm25Index, Terms, fold
from rag.adapters.keyword_build import build
from rag.errors import EnvironmentFault

TEXTS = {
    "selfrag": "Self-RAG: learning to retrieve and to criticise.",
    "gpt": "We probe GPT-4 and Llama-3.1-405B at 7.66 times the speed.",
    "mu": "μCODE trains with α-divergence; R² grows. Krähenbühl helped.",
    "plain": "Retrieving passages helps retrieval.",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Bm25Index:
    folder = tmp_path_factory.mktemp("keyword") / "new"
    build(folder, sorted(TEXTS.items()))
    return Bm25Index(folder)


def top(index: Bm25Index, question: str) -> str | None:
    return next((key for key, _ in index.search(question, 1)), None)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("SelfRAG", "selfrag"),
        ("Self-RAG", "selfrag"),
        ("What does self rag do?", "selfrag"),
        ("GPT4", "gpt"),
        ("GPT-4?", "gpt"),
        ("llama 3.1", "gpt"),
        ("7.66", "gpt"),
        ("mucode", "mu"),
        ("µCODE", "mu"),
        ("alpha divergence", "mu"),
        ("r2", "mu"),
        ("Krahenbuhl", "mu"),
        ("ＲＥＴＲＩＥＶＡＬ of passage", "plain"),
        ("what is the of", None),
        ("", None),
        ("xyzzy", None),
    ],
)
def test_what_is_found(index: Bm25Index, question: str, expected: str | None) -> None:
    assert top(index, question) == expected


def test_scores_are_bm25(tmp_path: Path) -> None:
    """By hand: N = 2, mean length 2; idf = ln(1 + 1.5 / 1.5) = ln 2; tf = 2 of length 3."""
    build(tmp_path / "k", [("a", "zebra zebra lion"), ("b", "lion")])
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 / (2 + 1.5 * (1 - 0.75 + 0.75 * 3 / 2))
    assert Bm25Index(tmp_path / "k").search("zebra", 5) == [("a", pytest.approx(expected, rel=1e-5))]


def test_more_wanted_than_there_is_and_equals_by_order(tmp_path: Path) -> None:
    build(tmp_path / "k", [(f"k{n}", "same words") for n in range(9)])
    index = Bm25Index(tmp_path / "k")
    assert [key for key, _ in index.search("words", 100)] == [f"k{n}" for n in range(9)]
    assert [key for key, _ in index.search("words", 4)] == ["k0", "k1", "k2", "k3"]
    assert index.search("words", 0) == []


def test_only_allowed_papers(index: Bm25Index) -> None:
    assert [key for key, _ in index.search("retrieve", 9)] == ["plain", "selfrag"]
    assert [key for key, _ in index.search("retrieve", 9, frozenset({"selfrag", "gpt", "ghost"}))] == [
        "selfrag"
    ]
    assert index.search("retrieve", 9, frozenset()) == []


@pytest.mark.parametrize("texts", [[], [("a", "")], [("a", "the of and"), ("é字", "")]])
def test_piles_without_a_word(tmp_path: Path, texts: list[tuple[str, str]]) -> None:
    build(tmp_path / "k", texts)
    index = Bm25Index(tmp_path / "k")
    assert index.search("anything", 5) == []
    assert index.keys() == [key for key, _ in texts]


def test_a_text_without_words_among_others(tmp_path: Path) -> None:
    build(tmp_path / "k", [("empty", ""), ("full", "llamas")])
    assert [key for key, _ in Bm25Index(tmp_path / "k").search("llama", 5)] == ["full"]


def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    build(tmp_path / "k", TEXTS.items())
    Bm25Index(tmp_path / "k").search("retrieve", 3)
    assert capfd.readouterr() == ("", "")


def test_an_index_of_other_terms_is_refused(tmp_path: Path) -> None:
    build(tmp_path / "keyword" / "k", TEXTS.items())
    (tmp_path / "keyword" / "k" / "version").write_text("0", encoding="ascii")
    with pytest.raises(EnvironmentFault, match="written by another version") as caught:
        Bm25Index(tmp_path / "keyword" / "k")
    assert caught.value.remedy == f"Repair it with: rag index verify --index {tmp_path}"


def test_terms_of_text_and_question_differ_only_in_asking_words() -> None:
    terms = Terms()
    assert terms.of_text("How does it do X-ray?") == ["how", "doe", "do", "ray", "xray"]
    assert terms.of_question("How does it do X-ray?") == ["ray", "xray"]


def test_folding_keeps_what_is_no_letter() -> None:
    assert fold("Ω-net ς ﬁne ½ 字 İ") == "omega-net sigma fine 1⁄2 字 i"


def test_scores_are_those_of_bm25s(tmp_path: Path) -> None:
    bm25s = pytest.importorskip("bm25s")
    build(tmp_path / "k", sorted(TEXTS.items()))
    theirs = bm25s.BM25.load(tmp_path / "k")
    terms = [t for t in Terms().of_question(" ".join(TEXTS.values())) if t in theirs.vocab_dict]
    expected = dict(zip(sorted(TEXTS), theirs.get_scores(terms).tolist(), strict=True))
    assert dict(Bm25Index(tmp_path / "k").search(" ".join(TEXTS.values()), 99)) == pytest.approx(expected)
