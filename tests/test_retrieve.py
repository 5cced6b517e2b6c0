"""Retrieval: fusion, filters, one hit per paper, and parts that disagree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from index_pile import ingest, paper, parts, retriever, write

from rag.adapters.chroma_store import ChromaStore
from rag.adapters.embed_fake import FakeEmbedder
from rag.adapters.keyword import Bm25Index
from rag.chain.retrieve import Retriever, fuse
from rag.index.library import Library
from rag.index.live import LiveKeywords, LiveVectors
from rag.records import Filters

LONG = "Sentence about llamas and alpacas. " * 12 + "Only here the word quokka stands."


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("retrieve")
    papers = [paper(n) for n in range(12)]
    papers.append(paper(20, abstract=LONG, title="Herds", venue=None, year=None, authors=[]))
    papers.append(
        paper(21, title="μCODE for many turns", abstract="We train μCODE, which reaches R² of 0.9.")
    )
    narrow = parts(FakeEmbedder(64, window=24))
    ingest(home / "index", write(home / "pile", papers), parts=narrow)
    return home / "index"


@pytest.fixture
def search(index: Path) -> Iterator[Retriever]:
    with Library(index) as library:
        yield retriever(library)


@pytest.mark.parametrize(
    ("keyword", "dense", "expected"),
    [
        ({}, {}, {}),
        ({"a": 3.0}, {}, {"a": 0.5}),
        ({"a": 3.0}, {"a": 0.1}, {"a": 1.0}),
        ({"a": 9.0, "b": 3.0}, {"b": 0.8, "c": -0.2}, {"a": 0.5, "b": 0.5, "c": 0.0}),
        ({"a": 2.0, "b": 2.0}, {"b": 0.7, "c": 0.5, "d": 0.3}, {"a": 0.5, "b": 1.0, "c": 0.25, "d": 0.0}),
    ],
)
def test_fusion_of_scores(
    keyword: dict[str, float], dense: dict[str, float], expected: dict[str, float]
) -> None:
    assert fuse(keyword, dense, 0.5) == pytest.approx(expected)


def test_a_hit_carries_what_each_search_said(search: Retriever) -> None:
    first, *others = search.search("What does System7 add for tabular data?", top=4)
    assert (first.paper.key, first.score) == ("paper7", 1.0)
    assert first.ranks == {"dense": 1, "keyword": 1}
    assert 0 < first.scores["dense"] <= 1
    assert first.scores["keyword"] > max(hit.scores.get("keyword", 0.0) for hit in others)
    assert [hit.score for hit in others] == sorted((hit.score for hit in others), reverse=True)


def test_a_paper_is_one_hit_with_its_nearest_passage(search: Retriever) -> None:
    hits = search.search("quokka stands", top=50)
    keys = [hit.paper.key for hit in hits]
    assert len(keys) == len(set(keys)) == 14
    assert keys[0] == "paper20"
    assert "quokka" in hits[0].passage.text
    assert hits[0].passage.text == hits[0].paper.abstract[hits[0].passage.start : hits[0].passage.end]


@pytest.mark.parametrize("question", ["muCODE", "μCODE", "µcode", "What is MUCODE?"])
def test_a_name_is_found_however_it_is_written(search: Retriever, question: str) -> None:
    assert search.search(question, top=1)[0].paper.key == "paper21"


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(venues=("icml",)), {"paper1", "paper3", "paper5", "paper7", "paper9", "paper11", "paper21"}),
        (Filters(years=((2020, 2020),)), {"paper0", "paper6"}),
        (Filters(years=((2020, 2020), (2025, 2030))), {"paper0", "paper5", "paper6", "paper11"}),
        (Filters(venues=("ICML", "NeurIPS"), years=((2021, 2021),)), {"paper1", "paper7"}),
        (Filters(authors=("author3",)), {"paper3"}),
        (Filters(authors=("Author3 ANA", "krahenbuhl author4")), {"paper3"}),
        (Filters(papers=("paper2", "paper20", "nobody")), {"paper2", "paper20"}),
        (Filters(venues=("ICM",)), set()),
        (Filters(authors=("",)), set()),
    ],
)
def test_filters(search: Retriever, filters: Filters, expected: set[str]) -> None:
    hits = search.search("What do the systems add?", top=50, filters=filters)
    assert {hit.paper.key for hit in hits} == expected


def test_an_author_filter_without_accents(search: Retriever) -> None:
    assert len(search.search("System", top=50, filters=Filters(authors=("Krahenbuhl",)))) == 13


@pytest.mark.parametrize("question", ["", "  ", "\n"])
def test_no_question_no_hits(search: Retriever, question: str) -> None:
    assert search.search(question) == []


def test_nothing_by_words_leaves_the_dense_hits(search: Retriever) -> None:
    hits = search.search("zzz qqq", top=3)
    assert [set(hit.ranks) for hit in hits] == [{"dense"}] * 3


def test_the_same_question_gives_the_same_hits(search: Retriever) -> None:
    assert search.search("systems for data") == search.search("systems for data")


@dataclass
class Meddled:
    """A vector store during whose query another process publishes, as often as it has jobs."""

    inner: ChromaStore
    jobs: list[tuple[Path, Path]] = field(default_factory=list)

    def query(self, vector, k, allowed=None):  # type: ignore[no-untyped-def]
        result = self.inner.query(vector, k, allowed)
        if self.jobs:
            ingest(*self.jobs.pop())
        return result

    def ids(self) -> set[str]:
        return self.inner.ids()

    def count(self) -> int:
        return self.inner.count()


def test_a_search_during_an_ingest_sees_one_state(tmp_path: Path) -> None:
    file = write(tmp_path / "pile", [paper(1), paper(2)])
    ingest(tmp_path / "index", file)
    write(file, [paper(2), paper(3)])
    with Library(tmp_path / "index") as library:
        vectors = Meddled(ChromaStore.in_folder(library.vector_folder), [(tmp_path / "index", file)])
        keywords = LiveKeywords(library, Bm25Index)
        search = Retriever(library, vectors, keywords, FakeEmbedder(64))
        hits = search.search("What is System3?")
        assert [hit.paper.key for hit in hits] == ["paper3", "paper2"]
        assert hits[0].ranks == {"dense": 1, "keyword": 1}


def test_a_reader_that_stays_open_sees_what_others_write(tmp_path: Path) -> None:
    file = write(tmp_path / "pile", [paper(1), paper(2)])
    ingest(tmp_path / "index", file)
    with Library(tmp_path / "index") as library:
        vectors = LiveVectors(library, ChromaStore.in_folder)
        search = Retriever(library, vectors, LiveKeywords(library, Bm25Index), FakeEmbedder(64))
        assert search.search("What is System3?", 1)[0].paper.key != "paper3"
        write(file, [paper(1), paper(2), paper(3)])
        in_a_process_of_its_own(tmp_path / "index", file)
        hit = search.search("What is System3?", 1)[0]
        assert (hit.paper.key, hit.ranks) == ("paper3", {"dense": 1, "keyword": 1})
        assert (vectors.count(), len(vectors.ids())) == (3, 3)
        vectors.close()


def in_a_process_of_its_own(index: Path, file: Path) -> None:
    import multiprocessing

    writer = multiprocessing.get_context("spawn").Process(target=ingest, args=(index, file))
    writer.start()
    writer.join()
    assert writer.exitcode == 0


def test_questions_about_the_seed_abstracts(shared: Path, tmp_path: Path) -> None:
    """With the embedder and the readers that ship."""
    from rag import wiring
    from rag.settings import load

    settings = load({"index": tmp_path / "index"}, environ={}, files=())
    report = wiring.ingest(settings, sorted((shared / "seeds").glob("*.txt")), lambda _: None)
    assert (report.added, report.failed) == (38, ())
    with wiring.open_pile(settings, lambda _: None) as pile:
        for question, word in [
            ("By how much did SpecPrefill improve time-to-first-token for Llama-3.1-405B?", "7.66"),
            ("What is muCODE?", "CODE"),
            ("What does AnyEdit edit?", "AnyEdit"),
        ]:
            (hit,) = pile.retriever.search(question, 1)
            assert word in hit.paper.abstract
