"""Questions about the pile itself: exact counts, and research questions that must not be caught."""

from __future__ import annotations

import pytest

from rag.chain.answer import answer
from rag.chain.pile import count
from rag.chain.pile_grammar import read
from rag.ports import PaperStore
from rag.records import Filters
from tests.chain_fakes import Shelf, paper, pile_of

PAPERS = [
    paper("a", "We edit models. It works.", title="Model editing at scale", year=2025, venue="ICML",
          authors=("Ada Lovelace", "José Núñez")),
    paper("b", "Some say little on GPT-4. Model editing is hard. LoRA helps.", year=2024, venue="ICML",
          authors=("Grace Hopper",)),
    paper("c", "μCODE writes code.", year=2025, venue="Nature Methods"),
]  # fmt: skip
PILE = pile_of(*PAPERS)
VENUES = {"ICML", "Nature Methods"}

CASES = {
    "How many papers are there?": ("There are 3 papers in the pile.", "abc"),
    "What papers do you have?": ("There are 3 papers in the pile.", "abc"),
    "List all papers": ("There are 3 papers in the pile.", "abc"),
    "How many papers from 2025?": ("2 of 3 papers are from 2025.", "ac"),
    "how many papers were published before 2025": ("1 of 3 papers is from before 2025.", "b"),
    "Which papers are from 2024 to 2025?": ("3 of 3 papers are from 2024 to 2025.", "abc"),
    "How many papers are from 2030?": ("None of 3 papers are from 2030.", ""),
    "Which papers were accepted at ICML 2025?": ("1 of 3 papers is from ICML and is from 2025.", "a"),
    "How many ICML papers mention LoRA?": ("1 of 3 papers is from ICML and mentions “LoRA”.", "b"),
    "Show me the papers from Nature Methods": ("1 of 3 papers is from Nature Methods.", "c"),
    "Which papers are by Ada Lovelace?": (
        "1 of 3 papers is by Ada Lovelace. (1 without authors on record.)",
        "a",
    ),
    "papers by Jose Nunez": ("1 of 3 papers is by Jose Nunez. (1 without authors on record.)", "a"),
    "What has Grace Hopper written?": (
        "1 of 3 papers is by Grace Hopper. (1 without authors on record.)",
        "b",
    ),
    "Which paper has Ada Lovelace as its first author?": (
        "1 of 3 papers has Ada Lovelace as first author. (1 without authors on record.)",
        "a",
    ),
    "is there a paper by exactly two people, and which one?": (
        "1 of 3 papers has exactly 2 authors. (1 without authors on record.)",
        "a",
    ),
    "In how many abstracts does LoRA appear?": ("1 of 3 papers mentions “LoRA”.", "b"),
    "How many titles contain the word editing?": ("1 of 3 papers has “editing” in the title.", "a"),
    "How many titles contain the word edit?": ("None of 3 papers have “edit” in the title.", ""),
    "Who wrote Model editing at scale?": ("“Model editing at scale” is by Ada Lovelace and José Núñez.", "a"),
    "How many authors does the LoRA paper have?": ("“b” has 1 author.", "b"),
    "Which paper has the most authors?": ("“Model editing at scale” has the most authors, 2.", "a"),
    "When was the μCODE paper published?": ("“c” appeared at Nature Methods 2025.", "c"),
    "Who proposed LoRA?": ("“b” is by Grace Hopper.", "b"),
    "Who wrote μCODE?": ("“c” has no authors on record.", "c"),
    "the authors of model editing at scale": (
        "“Model editing at scale” is by Ada Lovelace and José Núñez.",
        "a",
    ),
    "What year is the LoRA paper from?": ("“b” appeared at ICML 2024.", "b"),
    "When did LoRA come out?": ("“b” appeared at ICML 2024.", "b"),
    "Where did μCODE appear?": ("“c” appeared at Nature Methods 2025.", "c"),
    "What is the title of the μCODE paper?": ("“c” has no title on record.", "c"),
    "link to LoRA": ("“b” has no address on record.", "b"),
    "Who created GPT-4?": None,  # mentioned, and by somebody else
    "Who wrote GPT-4?": None,
    "Who proposed the loss that LoRA uses?": None,
    "link to the code of LoRA": None,
    "How many papers mention LoRA or μCODE?": ("2 of 3 papers mention “LoRA” or “μCODE”.", "bc"),
    "How many papers mention LoRA and model editing?": (
        "1 of 3 papers mentions “LoRA” and mentions “model editing”.",
        "b",
    ),
    'How many papers mention "LoRA or μCODE"?': ("None of 3 papers mention “LoRA or μCODE”.", ""),
    "Which papers mention LoRA and are from 2024?": (
        "1 of 3 papers mentions “LoRA” and is from 2024.",
        "b",
    ),
    "How many titles contain the words scale or editing?": (
        "1 of 3 papers has “scale” or “editing” in the title.",
        "a",
    ),
    "What are these papers about?": ("There are 3 papers in the pile.", "abc"),
    "summarize my library": ("There are 3 papers in the pile.", "abc"),
    "What topics do the papers cover?": ("There are 3 papers in the pile.", "abc"),
    "Is LoRA mentioned anywhere?": ("1 of 3 papers mentions “LoRA”.", "b"),
    "does any paper mention LoRA": ("1 of 3 papers mentions “LoRA”.", "b"),
    "papers mentioning LoRA": ("1 of 3 papers mentions “LoRA”.", "b"),
    "papers on model editing": ("2 of 3 papers mention “model editing”.", "ab"),
    "is there anything on model editing?": ("2 of 3 papers mention “model editing”.", "ab"),
    "do you have anything by Hopper?": ("1 of 3 papers is by Hopper. (1 without authors on record.)", "b"),
    "Who wrote the most papers?": ("No author has more than one of the 3 papers.", ""),
    "What is the newest paper?": ("“Model editing at scale” and “c” are the newest, from 2025.", "ac"),
    "oldest paper": ("“b” is the oldest, from 2024.", "b"),
    "latest paper on model editing": (
        "“Model editing at scale” is the newest that mentions “model editing”, from 2025.",
        "a",
    ),
    "latest paper on glaciers": None,
    "ICML 2024 papers": ("1 of 3 papers is from ICML and is from 2024.", "b"),
    "papers by Lovelace et al., please": (
        "1 of 3 papers is by Lovelace. (1 without authors on record.)",
        "a",
    ),
    "How many papers per year?": ("Of 3 papers 2 are from 2025 and 1 is from 2024.", ""),
    "which venues are covered": ("Of 3 papers 2 are from ICML and 1 is from Nature Methods.", ""),
    "Who wrote LoRA and when was it published?": ("“b” is by Grace Hopper and appeared at ICML 2024.", "b"),
    "who wrote LoRA and when?": ("“b” is by Grace Hopper and appeared at ICML 2024.", "b"),
    "bibtex for LoRA": ("“b” has the citation key b; --format bibtex prints its entry.", "b"),
    "How do I cite model editing at scale?": (
        "“Model editing at scale” has the citation key a; --format bibtex prints its entry.",
        "a",
    ),
    "Who wrote LoRA and why does it help?": None,
    "Which paper is the fastest?": None,
    "Who wrote the BERT paper?": None,
    "Who wrote it?": None,
    "Which papers are by Jose Nunez?": (
        "1 of 3 papers is by Jose Nunez. (1 without authors on record.)",
        "a",
    ),
    "List everything on model editing": ("2 of 3 papers mention “model editing”.", "ab"),
    "How many papers mention muCODE?": ("1 of 3 papers mentions “muCODE”.", "c"),
    "How many papers mention diffusion?": ("None of 3 papers mention “diffusion”.", ""),
    "What papers are there on diffusion models?": None,
}


@pytest.mark.parametrize("question", CASES)
def test_questions_about_the_pile(question: str) -> None:
    counted = count(question, PILE.store, Filters())
    expected = CASES[question]
    if expected is None:
        assert counted is None
    else:
        assert counted is not None
        assert (counted.sentence.text, "".join(p.key for p in counted.papers)) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who has shown that editing works?",
        "What has RLHF achieved?",
        "How many people took part in the study?",
        "Which papers improve long-context abilities?",
        "Which papers are by far the most convincing on editing?",
        "What papers use LoRA?",
        "How many papers did VinePPO evaluate?",
        "What is in the papers from 2025 about?",
        "Which paper introduces AnyEdit?",
        "How many papers mention that LoRA is bad?",
        "List all limitations of AnyEdit",
        "What do the papers say about model editing?",
        "Which papers compare PPO and GRPO?",
        "How many tokens does NExtLong use?",
        "List all methods for model editing",
        "Which papers mention how PPO works?",
        "Which ICML papers from 2025 do better than the baseline on editing?",
        "Which papers from ICLR are about editing?",
        "How do the abstracts in the pile define editing?",
        "Which articles in the pile agree that editing is hard?",
    ],
)
def test_research_questions_are_left_alone(question: str) -> None:
    assert read(question, lambda: VENUES) is None


def test_research_questions_do_not_read_the_records() -> None:
    class Unread:
        def papers(self, filters: Filters) -> None:
            raise AssertionError("the records were read")

    store: PaperStore = Unread()  # type: ignore[assignment]
    assert count("By how much did papers written by hand improve all scores?", store, Filters()) is None


def test_a_page_of_text_is_no_question_about_records() -> None:
    assert count("papers on " + "LoRA and " * 8000, PILE.store, Filters()) is None


def test_the_author_of_most_papers() -> None:
    names = [("Ada Lovelace", "Grace Hopper"), ("Grace Hopper",), ("José Núñez",)]
    shelf = pile_of(*(paper(key, "Cats.", authors=who) for key, who in zip("abc", names, strict=True)))
    counted = count("which author has the most papers?", shelf.store, Filters())
    assert counted is not None
    assert counted.sentence.text == "Grace Hopper has the most papers, 2 of 3."
    assert [p.key for p in counted.papers] == ["a", "b"]


def test_papers_of_one_year_have_no_newest() -> None:
    shelf = pile_of(*(paper(key, "Cats.", year=2025) for key in "ab"))
    counted = count("latest papers", shelf.store, Filters())
    assert counted is not None
    assert counted.sentence.text == "All 2 papers are from 2025."


def test_a_mention_is_shown_by_its_sentence() -> None:
    counted = count("How many papers mention LoRA?", PILE.store, Filters())
    assert counted is not None
    (cited,) = counted.sentence.citations
    assert cited.quote == "LoRA helps."
    assert PAPERS[1].abstract[cited.start : cited.end] == cited.quote


def test_filters_narrow_the_pile() -> None:
    counted = count("How many papers mention model editing?", PILE.store, Filters(papers=("b", "c")))
    assert counted is not None
    assert counted.sentence.text == "1 of 2 papers mentions “model editing”."


def test_a_long_list_is_cut_and_says_so() -> None:
    many = pile_of(*(paper(f"p{i}", "Cats.") for i in range(1200)))
    counted = count("How many papers do you have?", many.store, Filters())
    assert counted is not None
    assert counted.sentence.text == "There are 1,200 papers in the pile. The first 50 are listed."
    assert len(counted.papers) == len(counted.sentence.citations) == 50


def test_the_answer_needs_neither_model_nor_retrieval() -> None:
    result = answer("How many papers from 2025?", PILE)
    assert (result.status, result.sentences[0].verdict) == ("answered", "supported")
    assert [(r.ref, r.paper.key) for r in result.references] == [(1, "a"), (2, "c")]
    assert isinstance(PILE.retriever, Shelf)
    assert PILE.retriever.asked == []
