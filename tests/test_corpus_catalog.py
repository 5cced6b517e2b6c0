"""Titles from a catalogue: most are found, none is wrong, and what is not sure stays untitled."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rag import corpus, places
from rag.corpus.catalog import Catalog, Entry
from rag.errors import UsageError
from rag.records import Failure, Paper, Source

SHARED = Path(__file__).parents[1].parent / "shared"
SAMPLE = [paper for paper in corpus.read(places.SAMPLE) if isinstance(paper, Paper)]
BARE = [replace(paper, title=None, authors=(), url=None) for paper in SAMPLE]
OWN = Catalog([Entry(paper.title or "", paper.authors, url=paper.url) for paper in SAMPLE])
needs_catalog = pytest.mark.skipif(
    not (SHARED / "catalog").is_dir(), reason="the catalogue of the conference is not beside the repository"
)


def counts(found: list[Paper], truth: list[str | None]) -> tuple[int, int]:
    right = sum(paper.title == title for paper, title in zip(found, truth, strict=True))
    return right, sum(paper.title is not None for paper in found) - right


@pytest.fixture(scope="module")
def icml() -> Catalog:
    return Catalog.load(SHARED / "catalog" / "icml2025.jsonl")


@needs_catalog
def test_seed_abstracts_find_their_titles(icml: Catalog) -> None:
    rows = (SHARED / "catalog" / "seeds.jsonl").read_text(encoding="utf-8").splitlines()
    truth = {(row["file"], row["record"]): row["title"] for row in map(json.loads, rows)}
    papers = [
        item
        for path in corpus.discover([SHARED / "seeds"])
        for item in corpus.read(path)
        if not isinstance(item, Failure)
    ]
    titles = [truth[(Path(paper.source.file).name, paper.source.record)] for paper in papers]
    found = icml.assign(papers)
    right, wrong = counts(found, titles)
    assert right >= 34
    assert wrong == 0
    first = found[0]
    assert (first.key, first.authors[0], first.extra["title_from"]) == (
        "lee2025revise",
        "Hyunseok Lee",
        "catalogue",
    )
    without = Catalog(entry for entry in icml.entries if entry.title not in set(titles))
    assert counts(without.assign(papers), titles) == (0, 0)


@needs_catalog
def test_other_words_for_the_same_papers(icml: Catalog) -> None:
    right, wrong = counts(icml.assign(BARE), [paper.title for paper in SAMPLE])
    assert right >= 28
    assert wrong == 0


def test_small_catalogue() -> None:
    right, wrong = counts(OWN.assign(BARE), [paper.title for paper in SAMPLE])
    assert right >= 30
    assert wrong == 0


def test_strange_abstracts_stay_untitled() -> None:
    text = (
        "Sourdough bread needs flour, water and salt. We bake it for forty minutes until the crust is brown."
    )
    assert OWN.assign([Paper("k", text, Source("/x", 1))])[0].title is None


def test_copies_of_one_abstract_all_get_its_title() -> None:
    found = OWN.assign([*BARE, replace(BARE[0], source=Source("/copy", 1))])
    assert found[0].title == found[-1].title == SAMPLE[0].title


def test_a_title_that_is_known_brings_authors_and_address() -> None:
    titled = replace(SAMPLE[0], title=f"{SAMPLE[0].title}.", authors=(), url=None, year=None)
    (found,) = OWN.assign([titled])
    assert (found.authors, found.url) == (SAMPLE[0].authors, SAMPLE[0].url)
    assert "title_from" not in found.extra


def test_reading_with_a_catalogue_keeps_order_and_failures() -> None:
    failure = Failure("/x", 2, "has no abstract")
    found = list(OWN.entitle([BARE[0], failure, *BARE[1:]], at_once=20))
    assert found[1] == failure
    assert [type(item) for item in found] == [Paper, Failure] + [Paper] * 37
    assert isinstance(found[0], Paper)
    assert found[0].title == SAMPLE[0].title
    assert OWN.fingerprint != Catalog(OWN.entries[1:]).fingerprint


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "title,authors\nReVISE: Learning to Refine,Hyunseok Lee; Jihoon Tack\n"),
        ("t.bib", "@misc{a, title={{ReVISE}: Learning to Refine}, author={Hyunseok Lee and Jihoon Tack}}"),
        ("t.jsonl", '{"title": "ReVISE: Learning to Refine", "authors": ["Hyunseok Lee", "Jihoon Tack"]}\n'),
    ],
)
def test_catalogue_formats(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert Catalog.load(tmp_path / name).entries == [
        Entry("ReVISE: Learning to Refine", ("Hyunseok Lee", "Jihoon Tack"))
    ]


def test_a_catalogue_without_titles_says_so(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(UsageError, match=r"There are no titles in the catalogue .*: it is empty"):
        Catalog.load(tmp_path / "x")
