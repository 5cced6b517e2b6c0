"""Which records are one paper, and what they make together."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag import corpus, places
from rag.corpus import identity
from rag.records import Paper, Source

FOLDER = Path(__file__).parent / "fixtures" / "corpus"
SAMPLE = [paper for paper in corpus.read(places.SAMPLE) if isinstance(paper, Paper)]
REVISE = SAMPLE[0]
BARE = Paper("k", REVISE.abstract, Source("/b.txt", 7))


def same(first: Paper, second: Paper) -> bool:
    return not set(identity.signatures(first)).isdisjoint(identity.signatures(second))


def paper(**fields: object) -> Paper:
    return replace(Paper("k", "Short text.", Source("/x", 1)), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"doi": "10.1/AB"}, {"doi": "10.1/ab", "abstract": "Other."}, True),
        ({"arxiv_id": "2502.14565v1"}, {"arxiv_id": "2502.14565v3", "abstract": "Other."}, True),
        ({"arxiv_id": "2502.14565"}, {"doi": "10.48550/arxiv.2502.14565", "abstract": "Other."}, True),
        (
            {"url": "https://openreview.net/forum?id=a1b"},
            {"url": "http://openreview.net/pdf?id=a1b", "abstract": "O."},
            True,
        ),
        (
            {"url": "https://aclanthology.org/2023.acl-1.1/"},
            {"url": "https://aclanthology.org/2023.acl-1.1.pdf", "abstract": "O."},
            True,
        ),
        ({"url": "https://icml.cc"}, {"url": "https://icml.cc", "abstract": "O."}, False),
        (
            {"url": "https://github.com/a/b2025"},
            {"url": "https://github.com/a/b2025", "abstract": "O."},
            False,
        ),
        (
            {"title": "ReVISE: Learning!", "authors": ("Hyunseok Lee",)},
            {"title": "Revise - learning", "authors": ("Lee, H.", "Jihoon Tack"), "abstract": "O."},
            True,
        ),
        ({"title": "Information Systems"}, {"title": "Information Systems", "abstract": "O."}, False),
        (
            {"title": "A", "authors": ("Ann Lee",)},
            {"title": "A", "authors": ("Bo Wu",), "abstract": "O."},
            False,
        ),
        ({}, {}, True),
        ({}, {"abstract": "Other."}, False),
    ],
)
def test_same_paper(first: dict[str, object], second: dict[str, object], expected: bool) -> None:
    assert same(paper(**first), paper(**second)) is expected


def address(url: str) -> str | None:
    found = identity.signatures(paper(url=url))
    return next((each.removeprefix("url:") for each in found if each.startswith("url:")), None)


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        (("openreview.net/forum?id=a1B", "openreview.net/pdf?id=a1B"), "openreview.net/forum?a1B"),
        (
            ("arxiv.org/abs/2502.14565", "arxiv.org/pdf/2502.14565v2", "www.arxiv.org/pdf/2502.14565v1.pdf"),
            "arxiv.org/2502.14565",
        ),
        (("icml.cc/virtual/2025/poster/45123",), "icml.cc/virtual/2025/poster/45123"),
        (
            ("proceedings.mlr.press/v235/smith24a.html", "proceedings.mlr.press/v235/smith24a/smith24a.pdf"),
            "proceedings.mlr.press/v235/smith24a",
        ),
        (
            ("aclanthology.org/2023.acl-long.12/", "aclanthology.org/2023.acl-long.12.pdf"),
            "aclanthology.org/2023.acl-long.12",
        ),
        (("aclanthology.org/P19-1001",), "aclanthology.org/P19-1001"),
        (("dblp.org/rec/conf/icml/Smith24.html",), "dblp.org/rec/conf/icml/Smith24"),
        (
            (
                "openaccess.thecvf.com/content/CVPR2024/html/Wu_Dogs_CVPR_2024_paper.html",
                "openaccess.thecvf.com/content/CVPR2024/papers/Wu_Dogs_CVPR_2024_paper.pdf",
            ),
            "openaccess.thecvf.com/Wu_Dogs_CVPR_2024_paper",
        ),
        (("pubmed.ncbi.nlm.nih.gov/31415926/",), "pubmed.ncbi.nlm.nih.gov/31415926"),
        (("www.jmlr.org/papers/v24/23-0142.html",), "jmlr.org/papers/v24/23-0142"),
        (("site.example/view.php?id=45123",), "site.example/view.php?45123"),
    ],
)
def test_the_page_of_a_record_names_it(urls: tuple[str, ...], expected: str) -> None:
    assert {address(f"https://{url}") for url in urls} == {expected}


@pytest.mark.parametrize(
    "url",
    [
        "icml.cc/Conferences/2025",
        "icml.cc/virtual/2025/workshop/39571",
        "proceedings.mlr.press/v235/",
        "aclanthology.org/volumes/2023.acl-long/",
        "aclanthology.org/events/acl-2023/",
        "dblp.org/db/conf/icml/icml2024.html",
        "openreview.net/group?id=ICML.cc/2025/Conference",
        "openreview.net/profile?id=~Ann_Lee123",
        "arxiv.org/list/cs.LG/2502",
        "openaccess.thecvf.com/CVPR2024?day=all",
        "papers.nips.cc/paper_files/paper/2023",
        "ojs.example/index.php/AAAI/issue/view/558",
        "site.example/accepted-2025.html",
        "site.example/proceedings/vol123",
        "site.example/conference?id=ICML2025",
        "site.example/search/45123",
    ],
)
def test_the_page_of_a_venue_names_no_record(url: str) -> None:
    assert address(f"https://{url}") is None


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({}, {"abstract": "Other."}, False),
        ({"title": "Dogs"}, {"title": "Cats", "abstract": "Other."}, True),
        ({"title": "Dogs"}, {"title": "Dogs!", "abstract": "Other."}, False),
        ({"title": "Dogs"}, {"title": "Dogs at Night"}, False),
        ({"title": "Dogs"}, {"abstract": "Other."}, False),
        ({"doi": "10.1/a"}, {"doi": "10.1/b"}, True),
        ({"doi": "10.1/a"}, {"doi": "10.48550/arxiv.2502.14565"}, False),
        ({"abstract": SAMPLE[0].abstract}, {"abstract": SAMPLE[11].abstract}, True),
        (
            {"title": "Old", "abstract": SAMPLE[0].abstract},
            {"title": "New", "abstract": "Rewritten. " + " ".join(SAMPLE[0].abstract.split()[:50])},
            False,
        ),
    ],
)
def test_what_contradicts_an_address_or_a_doi(
    first: dict[str, object], second: dict[str, object], expected: bool
) -> None:
    known = [paper(**first)]
    assert identity.contradicted("url:site.example/45123", paper(**second), known) is expected
    assert not identity.contradicted("arxiv:2502.14565", paper(**second), known)
    if "doi" not in first:
        known, second = [paper(**first, doi="10.1/a")], {**second, "doi": "10.1/a"}
        assert identity.contradicted("doi:10.1/a", paper(**second), known) is expected


def test_the_doi_of_a_book_is_no_papers(tmp_path: Path) -> None:
    urls = {
        "https://dl.acm.org/doi/proceedings/10.1145/3580305": None,
        "https://link.springer.com/book/10.1007/978-3-031-72751-1": None,
        "https://dl.acm.org/doi/10.1145/3580305.3599256": "10.1145/3580305.3599256",
    }
    rows = [json.dumps({"title": url[-9:], "abstract": "Dogs sleep.", "url": url}) for url in urls]
    (tmp_path / "x.jsonl").write_text("\n".join(rows), encoding="utf-8")
    found = list(corpus.read(tmp_path / "x.jsonl"))
    assert [item.doi for item in found if isinstance(item, Paper)] == list(urls.values())


def test_near_identical_abstracts_are_one() -> None:
    words = REVISE.abstract.split()
    for variant in (
        " ".join(words[:-8]),
        "Abstract We " + REVISE.abstract,
        REVISE.abstract.upper().replace(",", ""),
        REVISE.abstract + " Code is available online.",
    ):
        assert same(BARE, replace(BARE, abstract=variant))


def test_different_papers_stay_apart() -> None:
    assert not [pair for pair in combinations(SAMPLE, 2) if same(*pair)]


def test_one_paper_from_every_format_is_one() -> None:
    mapping = {
        "title": "Name",
        "authors": "Who",
        "venue": "Where",
        "year": "When",
        "url": "Page",
        "abstract": "Words",
    }
    merged: list[Paper] = []
    for path in sorted(FOLDER.iterdir()):
        for item in corpus.read(path, mapping if path.name == "odd.csv" else None):
            if isinstance(item, Paper):
                known = next((one for one in merged if same(one, item)), None)
                if known:
                    merged[merged.index(known)] = identity.merge(known, item)
                else:
                    merged.append(item)
    assert [one.title for one in merged] == [SAMPLE[0].title, SAMPLE[11].title]
    assert len(merged[0].also) == len(list(FOLDER.iterdir())) - 1
    assert merged[0].arxiv_id == "2502.14565v2"


PREPRINT = replace(
    REVISE,
    key="first",
    venue="arXiv",
    year=2024,
    arxiv_id="2502.14565v1",
    doi="10.48550/arxiv.2502.14565",
    authors=("H. Lee", "S. Oh"),
    url=None,
    abstract="Old text.",
    raw="Old text.",
    source=Source("/a", 1),
    extra={"x": 1},
)
PUBLISHED = replace(
    REVISE,
    key="second",
    doi="10.1000/7",
    abstract="New text.",
    raw="New text.",
    source=Source("/b", 2),
    extra={"y": 2},
)


@pytest.mark.parametrize("order", [(PREPRINT, PUBLISHED), (PUBLISHED, PREPRINT)])
def test_merge_takes_the_newest_text_and_the_fuller_fields(order: tuple[Paper, Paper]) -> None:
    merged = identity.merge(*order)
    assert merged.key == order[0].key
    assert (merged.abstract, merged.raw) == ("New text.", "New text.")
    assert (merged.venue, merged.year, merged.doi, merged.arxiv_id) == (
        "ICML",
        2025,
        "10.1000/7",
        "2502.14565v1",
    )
    assert merged.authors == REVISE.authors
    assert merged.url == REVISE.url
    assert merged.source == order[0].source
    assert merged.also == (order[1].source,)
    conflicts = merged.extra["conflicts"]
    assert isinstance(conflicts, dict)
    assert conflicts["abstract"] == ["Old text."]
    assert conflicts["venue"] == ["arXiv"]
    assert (merged.extra["x"], merged.extra["y"]) == (1, 2)


@pytest.mark.parametrize(
    "venue", ["Submitted to ICLR 2026", "ICLR 2026 Conference Withdrawn Submission", "bioRxiv"]
)
def test_what_is_not_published_does_not_overrule_what_is(venue: str) -> None:
    assert identity.merge(replace(PREPRINT, venue=venue, year=2026), PUBLISHED).venue == "ICML"


def test_later_arxiv_version_wins() -> None:
    third = replace(PREPRINT, arxiv_id="2502.14565v3", abstract="Third.")
    assert identity.merge(third, PREPRINT).abstract == identity.merge(PREPRINT, third).abstract == "Third."
    assert identity.merge(PREPRINT, third).arxiv_id == "2502.14565v3"


def test_merging_copies_records_no_conflict() -> None:
    copy = replace(REVISE, source=Source("/c", 3), title=f"{REVISE.title} ")
    assert "conflicts" not in identity.merge(REVISE, copy).extra


PAPERS = st.builds(
    Paper,
    key=st.just("k"),
    abstract=st.text(min_size=1, max_size=300),
    source=st.builds(Source, file=st.text(max_size=5), record=st.integers(1, 9)),
    title=st.none() | st.text(max_size=40),
    authors=st.lists(st.text(max_size=12), max_size=3).map(tuple),
    venue=st.none() | st.text(max_size=9),
    year=st.none() | st.integers(1900, 2030),
    url=st.none() | st.text(max_size=30).map(lambda path: f"https://[{path}"),
    doi=st.none() | st.text(max_size=9),
    arxiv_id=st.none() | st.text(max_size=9),
)


@given(PAPERS, PAPERS)
def test_any_two_records_merge_to_one_text_whatever_the_order(first: Paper, second: Paper) -> None:
    one, other = identity.merge(first, second), identity.merge(second, first)
    assert one.abstract == other.abstract in (first.abstract, second.abstract)
    assert {one.source, *one.also} == {first.source, second.source} == {other.source, *other.also}
    assert same(first, first)
