"""Every format gives the same two papers: realistic files under ``fixtures/corpus``."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pdf_pages import pdf

from rag import corpus, places
from rag.corpus.readers import READERS
from rag.corpus.streams import Stream
from rag.errors import UsageError
from rag.records import Failure, Paper

FOLDER = Path(__file__).parent / "fixtures" / "corpus"
SAMPLE = [paper for paper in corpus.read(places.SAMPLE) if isinstance(paper, Paper)]
EXPECTED = (SAMPLE[0], SAMPLE[11])
LONG = "International Conference on Machine Learning"
PMLR = "Proceedings of machine learning research"
MAPPING = {
    "title": "Name",
    "authors": "Who",
    "venue": "Where",
    "year": "When",
    "url": "Page",
    "abstract": "Words",
}

# file: format, venue, DOI of the first, arXiv id of the first
FORMATS: dict[str, tuple[str, str, str | None, str | None]] = {
    "arxiv-snapshot.jsonl": ("JSON", "arXiv", None, "2502.14565v2"),
    "arxiv.atom.xml": ("arXiv Atom", "arXiv", None, "2502.14565v2"),
    "conference-list.json": ("JSON", "ICML", None, None),
    "crossref.json": ("JSON", LONG, "10.1000/x0", None),
    "export.ris": ("RIS", LONG, None, None),
    "fields.md": ("Markdown", "ICML", None, None),
    "fields.txt": ("text with fields", "ICML", None, None),
    "medline.txt": ("MEDLINE", PMLR, "10.1000/x0", None),
    "odd.csv": ("table", "ICML", None, None),
    "openalex.json": ("JSON", "arXiv (Cornell University)", "10.48550/arxiv.2502.14565", "2502.14565"),
    "openreview-v1.json": ("JSON", "ICML", None, None),
    "openreview-v2.json": ("JSON", "ICML", None, None),
    "openreview.bib": ("BibTeX", f"Forty-second {LONG}", None, None),
    "pubmed.xml": ("PubMed XML", PMLR, "10.1000/x0", None),
    "reading-list.md": ("Markdown", "ICML", None, None),
    "semantic-scholar.json": ("JSON", LONG, "10.48550/arxiv.2502.14565", "2502.14565"),
    "table.csv": ("table", "ICML", None, None),
    "table.tsv": ("table", "ICML", None, None),
    "zotero.csl.json": ("JSON", LONG, None, None),
}


def papers(path: Path, mapping: dict[str, str] | None = None) -> list[Paper]:
    items = list(corpus.read(path, mapping))
    assert not [item for item in items if isinstance(item, Failure)]
    return [item for item in items if isinstance(item, Paper)]


@pytest.mark.parametrize("name", FORMATS)
def test_format_round_trips(name: str) -> None:
    mapping = MAPPING if name == "odd.csv" else None
    format_, venue, doi, arxiv_id = FORMATS[name]
    found = papers(FOLDER / name, mapping)
    assert corpus.describe(FOLDER / name, mapping).format == format_
    assert [paper.title for paper in found] == [paper.title for paper in EXPECTED]
    assert [paper.authors for paper in found] == [paper.authors for paper in EXPECTED]
    assert [paper.key for paper in found] == ["lee2025revise", "akyurek2025surprising"]
    assert [paper.year for paper in found] == [2025, 2025]
    assert [paper.source.record for paper in found] == ([1, 3] if name == "openreview-v2.json" else [1, 2])
    assert (found[0].venue, found[0].doi, found[0].arxiv_id) == (venue, doi, arxiv_id)
    assert [_unlabelled(paper.abstract) for paper in found] == [paper.abstract for paper in EXPECTED]
    assert all(paper.url or paper.doi for paper in found)


def _unlabelled(abstract: str) -> str:
    return abstract.removeprefix("BACKGROUND: ").replace(" RESULTS: ", " ")


def test_every_reader_has_a_fixture() -> None:
    covered = {format_ for format_, *_ in FORMATS.values()} | {"abstract list", "Parquet", "PDF (guessed)"}
    assert {reader.NAME for reader in READERS} == covered


def test_abstract_list() -> None:
    found = papers(FOLDER / "list.txt")
    assert [paper.abstract for paper in found] == [paper.abstract for paper in EXPECTED]
    assert [(paper.venue, paper.year, paper.title) for paper in found] == [("ICML", 2025, None)] * 2


def test_bibtex_strings_cross_references_and_broken_entries() -> None:
    first, broken, second, bare = corpus.read(FOLDER / "library.bib")
    assert isinstance(first, Paper)
    assert (first.title, first.authors) == (EXPECTED[0].title, EXPECTED[0].authors)
    assert (first.venue, first.year, first.doi) == (
        f"Proceedings of the 42nd {LONG}",
        2025,
        "10.1000/example.44699",
    )
    assert isinstance(second, Paper)
    assert (second.venue, second.authors) == (f"{LONG} (ICML)", EXPECTED[1].authors)
    assert second.raw != second.abstract == EXPECTED[1].abstract
    assert isinstance(broken, Failure)
    assert "is not valid BibTeX" in broken.error
    assert broken.line == 9
    assert isinstance(bare, Failure)
    assert bare.error == "has no abstract: An Entry without an Abstract"


def test_unknown_columns_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="no column 'Nme'"):
        list(corpus.read(FOLDER / "odd.csv", {"abstract": "Words", "title": "Nme"} | {"year": "When"}))


def test_a_table_without_known_columns_asks_for_them() -> None:
    failure, *rows = corpus.read(FOLDER / "odd.csv")
    assert [isinstance(row, Failure) for row in rows] == [True, True]
    assert isinstance(failure, Failure)
    assert failure.error.endswith("--map abstract=COLUMN, of Name, Who, Where, When, Page, Words")


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, lambda data: _zipped({"a/x.bib": data, ".h": b"no"})]
)
def test_packed(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    (tmp_path / "papers.bin").write_bytes(pack((FOLDER / "openreview.bib").read_bytes()))
    assert [paper.key for paper in papers(tmp_path / "papers.bin")] == [paper.key for paper in EXPECTED]


def test_zip_numbers_records_through_its_members(tmp_path: Path) -> None:
    members = {
        "a.bib": (FOLDER / "openreview.bib").read_bytes(),
        "b.txt": b"just a note",
        "c.jsonl.gz": gzip.compress((FOLDER / "arxiv-snapshot.jsonl").read_bytes()),
    }
    (tmp_path / "x.zip").write_bytes(_zipped(members))
    items = list(corpus.read(tmp_path / "x.zip"))
    found = [item for item in items if isinstance(item, Paper)]
    assert [(paper.source.record, paper.extra["member"]) for paper in found] == [
        (1, "a.bib"),
        (2, "a.bib"),
        (3, "c.jsonl.gz"),
        (4, "c.jsonl.gz"),
    ]
    assert [item.error for item in items if isinstance(item, Failure)] == [
        "b.txt: holds no papers in a known format"
    ]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_damaged_packing_is_one_failure(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    (tmp_path / "x").write_bytes(pack((FOLDER / "openreview.bib").read_bytes())[:-30])
    (failure,) = corpus.read(tmp_path / "x")
    assert isinstance(failure, Failure)
    assert failure.error.startswith(("is damaged", "cannot be read"))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    data = (FOLDER / "fields.txt").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    found = papers(corpus.STDIN)
    assert [paper.key for paper in found] == [paper.key for paper in EXPECTED]
    assert found[0].source.file == "-"


def test_a_submission_is_no_paper_of_the_conference(tmp_path: Path) -> None:
    text = (FOLDER / "openreview-v2.json").read_text(encoding="utf-8")
    (tmp_path / "x.json").write_text(
        text.replace("ICML 2025 poster", "Submitted to ICML 2025"), encoding="utf-8"
    )
    assert [(paper.venue, paper.year) for paper in papers(tmp_path / "x.json")] == [
        ("Submitted to ICML 2025", 2025)
    ] * 2


def test_describe_reads_no_more_than_asked() -> None:
    description = corpus.describe(places.SAMPLE)
    assert (description.format, len(description.records)) == ("JSON", 3)


def test_xml_entity_bombs_are_refused(tmp_path: Path) -> None:
    text = (FOLDER / "pubmed.xml").read_text(encoding="utf-8")
    bomb = '<!DOCTYPE PubmedArticleSet [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    start, end = text.index("<!DOCTYPE"), text.index("<PubmedArticleSet>")
    (tmp_path / "x.xml").write_text(text[:start] + bomb + text[end:], encoding="utf-8")
    (failure,) = corpus.read(tmp_path / "x.xml")
    assert isinstance(failure, Failure)
    assert "is not valid XML" in failure.error


def test_cut_off_xml_gives_what_came_before(tmp_path: Path) -> None:
    text = (FOLDER / "arxiv.atom.xml").read_text(encoding="utf-8")
    (tmp_path / "x.xml").write_text(text[: text.rindex("<category")], encoding="utf-8")
    first, failure = corpus.read(tmp_path / "x.xml")
    assert isinstance(first, Paper)
    assert isinstance(failure, Failure)


def test_pdf_is_a_marked_guess(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    lines = [
        "Abstract",
        "We study what happens when abstracts are",
        "guessed from a page of 12 lines.",
        "1 Introduction",
        "No.",
    ]
    (tmp_path / "paper").write_bytes(pdf("Guessing Abstracts from Pages", lines))
    (paper,) = papers(tmp_path / "paper")
    assert paper.title == "Guessing Abstracts from Pages"
    assert paper.abstract == "We study what happens when abstracts are guessed from a page of 12 lines."
    assert "guess" in paper.extra


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    rows = {"title": [paper.title for paper in EXPECTED], "abstract": [paper.abstract for paper in EXPECTED]}
    import pyarrow.parquet

    pyarrow.parquet.write_table(arrow.table(rows), tmp_path / "x")
    assert [paper.title for paper in papers(tmp_path / "x")] == [paper.title for paper in EXPECTED]


def _zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


FILES = sorted(path for path in FOLDER.iterdir())
BLOCKS = st.sampled_from([path.read_bytes() for path in FILES])


def _mangled(data: bytes, cuts: list[tuple[int, int, bytes]]) -> bytes:
    for start, length, put in cuts:
        at = start % (len(data) + 1)
        data = data[:at] + put + data[at + length :]
    return data


SCRAPS = st.one_of(
    st.binary(max_size=6), st.sampled_from([b'"', b"{", b"}", b"\n", b"]", b"<", b"\0", b"\xff", b"@a{"])
)
CUTS = st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 400), SCRAPS), min_size=1, max_size=5)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=BLOCKS, cuts=CUTS)
def test_mangled_files_never_crash(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[tuple[int, int, bytes]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "mangled"
    path.write_bytes(_mangled(data, cuts))
    for item in corpus.read(path):
        assert isinstance(item, Paper | Failure)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.NAME)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    data=st.one_of(
        st.binary(max_size=300),
        st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
        BLOCKS,
    )
)
def test_no_reader_crashes_on_a_file_that_is_not_its_own(reader: object, data: bytes) -> None:
    list(reader.read(Stream(lambda: io.BytesIO(data), "utf-8")))  # type: ignore[attr-defined]
