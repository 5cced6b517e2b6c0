"""The index follows its files: what is new, changed, gone, unreadable, or the same paper twice."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from index_pile import IDENTITY, counts, found, ingest, paper, parts, read, state, write

from rag import corpus
from rag.adapters.embed_fake import FakeEmbedder
from rag.corpus import identity, keys
from rag.errors import IndexMissing, ProviderError, UsageError
from rag.index.library import Library
from rag.index.parts import Identity
from rag.index.sync import remove
from rag.records import Failure, Filters, Paper, Source


class CountingEmbedder(FakeEmbedder):
    """Remembers what it was asked to embed, and may break off."""

    def __init__(
        self, breaks_after: int | None = None, error: type[BaseException] = KeyboardInterrupt
    ) -> None:
        super().__init__(64)
        self.embedded: list[str] = []
        self._breaks_after = breaks_after
        self._error = error

    def embed(self, texts):  # type: ignore[no-untyped-def]
        if self._breaks_after is not None and len(self.embedded) >= self._breaks_after:
            raise self._error("enough")
        self.embedded += texts
        return super().embed(texts)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


def settle(path: Path) -> Path:
    """Date a file back, as if it had been written a while before it is read."""
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns - 10_000_000_000))
    return path


def refuse(path: Path) -> Iterator[Paper]:
    raise AssertionError(f"{path} was opened")


def test_a_second_run_finds_all_unchanged_and_opens_nothing(index: Path, tmp_path: Path) -> None:
    file = settle(write(tmp_path / "a.jsonl", [paper(n) for n in range(7)]))
    assert counts(ingest(index, file)) == (7, 0, 0, 0)

    report = ingest(index, file, read=refuse)
    assert counts(report) == (0, 0, 7, 0)
    assert report.papers == 7
    assert report.failed == ()


def test_a_file_touched_but_not_edited_is_not_read_again(index: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", [paper(1)])
    ingest(index, file)
    os.utime(file)
    assert counts(ingest(index, file, read=lambda path: iter([1 / 0]))) == (0, 0, 1, 0)


def test_an_edit_within_a_clock_tick_is_noticed(index: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", [paper(1)])
    tick = time.time_ns() + 10**10  # a clock so coarse that reading and editing fall together
    os.utime(file, ns=(tick, tick))
    ingest(index, file)
    file.write_text(file.read_text(encoding="utf-8").replace("1.5%", "9.5%"), encoding="utf-8")
    os.utime(file, ns=(tick, tick))
    assert counts(ingest(index, file)) == (0, 1, 0, 0)


def test_only_what_changed_is_embedded_again(index: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", [paper(n) for n in range(5)])
    ingest(index, file)
    write(file, [paper(9), *(paper(n) for n in range(4)), paper(4, abstract="Something else about tables.")])
    embedder = CountingEmbedder()
    assert counts(ingest(index, file, parts=parts(embedder))) == (1, 1, 4, 0)
    assert sorted(embedder.embedded) == [
        "System4 for image editing. Something else about tables.",
        "System9 for image editing. We present System9, a method for image editing."
        " It adds 9.5% to its base.",
    ]
    assert found(index, "Something else about tables", 1) == ["paper4"]
    with Library(index) as library:
        moved = library.paper("paper0")
    assert moved is not None
    assert moved.source == Source(str(file), 2)


def test_changed_metadata_reaches_chroma_without_a_new_vector(index: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", [paper(1), paper(2)])
    ingest(index, file)
    write(file, [paper(1, venue="TMLR", year=2026), paper(2)])
    embedder = CountingEmbedder()
    assert counts(ingest(index, file, parts=parts(embedder))) == (0, 1, 1, 0)
    assert embedder.embedded == []
    metadata = {each["key"]: each for each in state(index)["metadata"]}
    assert (metadata["paper1"]["venue"], metadata["paper1"]["year"]) == ("TMLR", 2026)
    assert len(metadata) == 2


def test_a_venue_is_found_by_either_name(index: Path, tmp_path: Path) -> None:
    full = "Proceedings of the 37th International Conference on Machine Learning"
    file = write(tmp_path / "a.jsonl", [paper(1), paper(2, venue=full), paper(3, venue="NeurIPS")])
    ingest(index, file)
    with Library(index) as library:
        for wanted in ("ICML", "international conference on machine learning"):
            assert library.keys(Filters(venues=(wanted,))) == {"paper1", "paper2"}
        assert library.keys(Filters(venues=("NIPS", full))) == {"paper1", "paper2", "paper3"}
        assert library.keys(Filters(venues=("Nature",))) == set()


def test_a_vanished_record_is_removed(index: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", [paper(1), paper(2), paper(3)])
    ingest(index, file)
    write(file, [paper(1), paper(3)])
    assert counts(ingest(index, file)) == (0, 0, 2, 1)
    assert "paper2" not in found(index, "System2 tabular data")
    assert len(state(index)["chroma ids"]) == 2


def test_one_paper_of_two_files_keeps_both_sources_until_one_goes(index: Path, tmp_path: Path) -> None:
    short = write(
        tmp_path / "b.jsonl", [paper(1, key="other", abstract="Short.", doi="10.1/x", url="http://u/1")]
    )
    long = write(tmp_path / "a.jsonl", [paper(1, doi="10.1/x", year=None)])
    assert counts(ingest(index, short, long)) == (1, 0, 0, 0)
    with Library(index) as library:
        (both,) = library.papers()
    assert both.key == "other"
    assert both.abstract.startswith("We present")
    assert (both.year, both.url) == (2021, "http://u/1")
    assert (both.source, both.also) == (Source(str(long), 1), (Source(str(short), 1),))
    write(long, [])
    assert counts(ingest(index, long)) == (0, 1, 0, 0)
    with Library(index) as library:
        (left,) = library.papers()
    assert (left.key, left.abstract, left.also) == ("other", "Short.", ())


def test_the_state_does_not_depend_on_the_way_there(tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    write(one, [paper(1, doi="d"), paper(2)])
    write(two, [paper(1, doi="d", abstract="A longer text. " * 9), paper(3), paper(3), paper(4)])
    ingest(tmp_path / "direct", one, two)
    write(one, [paper(5), paper(2, abstract="Old.")])
    write(two, [paper(4), paper(6)])
    ingest(tmp_path / "detour", two)
    ingest(tmp_path / "detour", one)
    write(two, [paper(1, doi="d", abstract="A longer text. " * 9), paper(3), paper(3), paper(4)])
    write(one, [paper(1, doi="d"), paper(2)])
    ingest(tmp_path / "detour", one, two)
    assert state(tmp_path / "detour") == state(tmp_path / "direct")


LINKED = {
    "a": {"title": "Dogs", "abstract": "Dogs sleep.", "arxiv_id": "2502.14565"},
    "b": {"title": "Dogs", "abstract": "Dogs do sleep.", "doi": "10.1234/a"},
    "c": {"title": "Dogs", "abstract": "They sleep.", "arxiv_id": "2502.14565", "doi": "10.1234/a"},
}


@pytest.mark.parametrize("order", ["abc", "cab", "bca"])
def test_a_record_that_links_two_papers_makes_them_one(index: Path, tmp_path: Path, order: str) -> None:
    for name in order:
        file = tmp_path / f"{name}.jsonl"
        file.write_text(json.dumps(LINKED[name]), encoding="utf-8")
        report = ingest(index, file, **CORPUS)
    assert report.papers == 1
    with Library(index) as library:
        (one,) = library.papers()
    assert (one.arxiv_id, one.doi, 1 + len(one.also)) == ("2502.14565", "10.1234/a", 3)
    assert len(found(index, "Dogs sleep")) == len(state(index)["chroma ids"]) == 1


def test_keys_stay_when_titles_collide(index: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", [paper(1, key="k", doi="1"), paper(2, key="k", doi="2")])
    ingest(index, file)
    write(file, [paper(2, key="k", doi="2"), paper(1, key="k", doi="1")])
    assert counts(ingest(index, file)) == (0, 0, 2, 0)
    with Library(index) as library:
        assert {p.key: p.doi for p in library.papers()} == {"k": "1", "ka": "2"}


def test_bad_records_are_listed_on_each_run_but_not_read_again(index: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    write(
        file,
        [paper(1), paper(2, title="half \ud800 pair"), paper(3, abstract=" ", title=None), paper(4, year=-3)],
    )
    with file.open("a", encoding="utf-8") as lines:
        lines.write("not json\n")
    first = ingest(index, settle(file))
    assert [(failure.record, failure.line) for failure in first.failed] == [
        (2, None),
        (3, None),
        (4, None),
        (5, 5),
    ]
    for is_touched in (False, True):
        if is_touched:
            os.utime(file)
        report = ingest(index, file, read=refuse)
        assert (report.failed, report.papers) == (first.failed, 1)
    assert [failure.error.split(":")[-1].strip() for failure in report.failed[:3]] == [
        "broken Unicode (half of a surrogate pair)",
        "neither a title nor an abstract",
        "the year -3 is impossible",
    ]
    write(file, [paper(1), paper(2)])
    report = ingest(index, file)
    assert (counts(report), report.failed) == ((1, 0, 1, 0), ())


def test_an_unreadable_file_keeps_what_it_gave_and_spares_the_others(index: Path, tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good", [paper(1)]), write(tmp_path / "bad", [paper(2), paper(3)])
    ingest(index, good, bad)
    write(good, [paper(1), paper(4)])
    write(bad, [paper(2), paper(5)])

    def breaks(path: Path) -> Iterator[Paper | Failure]:
        yield from read(path)
        if path == bad:
            raise KeyError("a reader's bug")

    report = ingest(index, bad, good, tmp_path / "missing", read=breaks)
    assert counts(report) == (1, 0, 3, 0)
    assert [(Path(f.file).name, f.record, f.error) for f in report.failed] == [
        ("bad", 0, """KeyError: "a reader's bug\""""),
        ("missing", 0, "No such file or directory"),
    ]
    assert counts(ingest(index, bad)) == (1, 0, 1, 1)


CORPUS: dict[str, Any] = {
    "read": corpus.read,
    "identity": Identity(identity.signatures, identity.merge, keys.distinct, identity.contradicted),
}


def cut_off(data: bytes) -> bytes:
    return gzip.compress(data * 50)[:-12]


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda data: b"", "is empty"),
        (cut_off, "is damaged"),
        (lambda data: b"%PDF-1.7 nonsense", "is a PDF"),
        (lambda data: bytes(range(256)), "is a binary file of no known format"),
        (lambda data: zipped({"a.jsonl": b"", "note": b"just a note"}), "a.jsonl: is empty"),
    ],
)
def test_a_file_that_became_unreadable_keeps_its_papers(
    index: Path, tmp_path: Path, spoil: Callable[[bytes], bytes], error: str
) -> None:
    file = settle(write(tmp_path / "a.jsonl", [paper(n) | {"key": ""} for n in range(3)]))
    good = file.read_bytes()
    assert counts(ingest(index, file, **CORPUS)) == (3, 0, 0, 0)
    before = state(index)
    for _ in range(2):  # it is tried again, though it did not change
        file.write_bytes(spoil(good))
        report = ingest(index, settle(file), **CORPUS)
        assert (counts(report), report.papers) == ((0, 0, 3, 0), 3)
        assert report.failed[0].record == 0
        assert report.failed[0].error.startswith(error)
        assert state(index) == before
    file.write_bytes(good)
    report = ingest(index, file, **CORPUS)
    assert (counts(report), report.failed) == ((0, 0, 3, 0), ())


def test_a_file_that_is_too_large_keeps_its_papers(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.bib"
    file.write_text("@article{a, title={Dogs}, abstract={Dogs sleep.}}", encoding="utf-8")
    assert ingest(index, file, **CORPUS).added == 1
    monkeypatch.setattr("rag.corpus.streams.WHOLE_LIMIT", 60)
    file.write_text("@article{b, title={Cats}, abstract={Cats sleep.}}" + "\n" * 60, encoding="utf-8")
    report = ingest(index, file, **CORPUS)
    assert counts(report) == (0, 0, 1, 0)
    assert [f.error for f in report.failed] == [
        "is too large for a format that cannot be read piece by piece"
    ]


def test_a_member_that_became_unreadable_keeps_its_papers(index: Path, tmp_path: Path) -> None:
    """The others are followed; and a note among them does not make the whole file unreadable."""
    file = tmp_path / "pile.zip"
    lines = [json.dumps({"title": f"T{n}", "abstract": f"Dogs number {n} sleep."}).encode() for n in range(4)]
    members = {"a.jsonl": lines[0], "b.jsonl": b"\n".join(lines[1:3]), "note": b"just a note"}
    file.write_bytes(zipped(members))
    assert ingest(index, file, **CORPUS).added == 3
    file.write_bytes(zipped(members | {"a.jsonl": b"", "b.jsonl": lines[3]}))
    opened: list[Path] = []

    def noted(path: Path) -> Iterator[Paper | Failure]:
        opened.append(path)
        return corpus.read(path)

    for times, expected in enumerate(((1, 0, 1, 2), (0, 0, 2, 0)), 1):  # tried again, though nothing changed
        report = ingest(index, settle(file), **CORPUS | {"read": noted})
        assert (counts(report), len(opened)) == (expected, times)
        assert [f.error for f in report.failed] == [
            "a.jsonl: is empty",
            "note: holds no papers in a known format",
        ]
    with Library(index) as library:
        assert {p.title for p in library.papers()} == {"T0", "T3"}


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def rows(*given: dict[str, Any], url: str) -> str:
    return "".join(json.dumps({"url": url, **each}) + "\n" for each in given)


@pytest.mark.parametrize(
    "url",
    [
        "https://icml.cc/Conferences/2025",
        "https://proceedings.mlr.press/v235/",
        "https://openreview.net/group?id=ICML.cc/2025/Conference",
        "https://site.example/accepted-45123",
    ],
)
def test_papers_of_one_page_are_not_one(index: Path, tmp_path: Path, url: str) -> None:
    file = tmp_path / "a.jsonl"
    titles = ["Dogs", "Cats", "Rain", "Dogs"]
    file.write_text(
        rows(*({"title": t, "abstract": f"{t} and nothing else."} for t in titles), url=url), encoding="utf-8"
    )
    assert ingest(index, file, **CORPUS).papers == 3


def test_papers_of_one_volume_are_not_one_for_its_doi(index: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    lines = [f"{t},{t} Lee,{t} and nothing else.,10.1007/978-3-031-72751-1" for t in ("Dogs", "Cats", "Rain")]
    file.write_text("\n".join(["title,authors,abstract,doi", *lines, lines[1]]), encoding="utf-8")
    assert ingest(index, file, **CORPUS).papers == 3
    with Library(index) as library:
        assert sorted((p.title, len(p.also)) for p in library.papers()) == [
            ("Cats", 1),
            ("Dogs", 0),
            ("Rain", 0),
        ]


def test_an_address_does_not_overrule_dois_of_any_record(index: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    given = [{"doi": "10.1234/a"}, {}, {"doi": "10.1234/b"}, {"doi": "10.1234/a"}]
    texts = [{"title": "T", "abstract": f"Version {n}."} for n in range(4)]
    file.write_text(
        rows(*(t | g for t, g in zip(texts, given, strict=True)), url="https://openreview.net/pdf?id=a1b"),
        encoding="utf-8",
    )
    assert ingest(index, file, **CORPUS).papers == 2
    with Library(index) as library:
        assert sorted((p.doi, 1 + len(p.also)) for p in library.papers()) == [
            ("10.1234/a", 3),
            ("10.1234/b", 1),
        ]


def test_an_address_does_not_link_papers_whose_dois_differ(index: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    given = [{"title": f"T{n}", "abstract": f"Version {n}.", "doi": f"10.1234/{n}"} for n in range(2)]
    last = {"title": "T0", "abstract": "Version 3."}
    file.write_text(rows(*given, last, url="https://openreview.net/pdf?id=a1b"), encoding="utf-8")
    assert ingest(index, file, **CORPUS).papers == 2


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux only")
def test_a_file_name_that_is_no_text_spares_the_others(index: Path, tmp_path: Path) -> None:
    odd, good = (
        Path(f"{tmp_path}/\udcff.jsonl"),
        write(tmp_path / "good", [paper(1, key="k\ud800"), paper(2)]),
    )
    report = ingest(index, write(odd, [paper(3)]), good)
    assert report.added == 1
    assert [(f.record, f.error.split(":")[0]) for f in report.failed] == [
        (0, "the file's name is not valid Unicode"),
        (1, "cannot be stored"),
    ]


def test_another_way_of_reading_reads_every_file_again(index: Path, tmp_path: Path) -> None:
    file = settle(write(tmp_path / "a.jsonl", [paper(1)]))
    ingest(index, file, reading="1")
    relabelled = [
        Paper(key="paper1", abstract="New.", title="System1 for graph networks", source=Source("f", 1))
    ]
    assert counts(ingest(index, file, reading="1", read=lambda path: iter(relabelled))) == (0, 0, 1, 0)
    assert counts(ingest(index, file, reading="2", read=lambda path: iter(relabelled))) == (0, 1, 0, 0)


def test_prune_removes_what_lost_its_file(index: Path, tmp_path: Path) -> None:
    one, two = write(tmp_path / "1", [paper(1), paper(2)]), write(tmp_path / "2", [paper(2), paper(3)])
    ingest(index, one, two)
    one.unlink()
    assert counts(ingest(index, two)) == (0, 0, 2, 0)
    report = ingest(index, two, prune=True)
    assert (counts(report), report.papers) == ((0, 0, 2, 1), 2)
    with Library(index) as library:
        assert [p.source.file for p in library.papers()] == [str(two), str(two)]


def test_remove_and_ingest_again(index: Path, tmp_path: Path) -> None:
    file = settle(write(tmp_path / "a.jsonl", [paper(1), paper(2)]))
    ingest(index, file)
    report = remove(index, ["paper1"], identity=IDENTITY, parts=parts())
    assert (report.removed, report.papers) == (1, 1)
    assert found(index, "System1 graph networks") == ["paper2"]
    with pytest.raises(UsageError, match="no paper 'paper1'"):
        remove(index, ["paper2", "paper1"], identity=IDENTITY, parts=parts())
    assert found(index, "tabular data") == ["paper2"]
    assert counts(ingest(index, file)) == (1, 0, 1, 0)


def test_remove_makes_no_index(index: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match="There is no index in"):
        remove(index, ["paper1"], identity=IDENTITY, parts=parts())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ProviderError])
def test_an_interrupted_ingest_keeps_its_vectors_and_shows_nothing(
    index: Path, tmp_path: Path, error: type[BaseException]
) -> None:
    first = write(tmp_path / "1", [paper(1)])
    ingest(index, first)
    file = write(tmp_path / "2", [paper(n, abstract=f"Text {n}. " * 20) for n in range(2, 80)])
    with pytest.raises(error):
        ingest(index, file, parts=parts(CountingEmbedder(breaks_after=40, error=error)))
    with Library(index) as library:
        assert library.count_papers() == 1
    assert found(index, "Text") == ["paper1"]
    embedder = CountingEmbedder()
    assert counts(ingest(index, first, file, parts=parts(embedder))) == (78, 0, 1, 0)
    assert len(embedder.embedded) == 78 - 64  # whole batches of 32 were kept
    ingest(tmp_path / "direct", first, file)
    assert state(index) == state(tmp_path / "direct")


def test_progress_counts_passages(index: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    ingest(
        index,
        write(tmp_path / "a", [paper(n) for n in range(300)]),
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(0, 300), (256, 300), (300, 300)]


def test_an_empty_pile_is_an_index_too(index: Path, tmp_path: Path) -> None:
    report = ingest(index, write(tmp_path / "a", []))
    assert (counts(report), report.papers) == ((0, 0, 0, 0), 0)
    assert found(index, "anything") == []
    ingest(index, write(tmp_path / "a", [paper(1)]))
    assert found(index, "anything") == ["paper1"]


class Unreachable(FakeEmbedder):
    """An embedder behind a server that is down."""

    @property
    def dimensions(self) -> int:
        raise ProviderError("down")

    @dimensions.setter
    def dimensions(self, value: int) -> None: ...


def test_an_unchanged_ingest_needs_no_embedding_server(index: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "a", [paper(1)])
    ingest(index, file)
    down = parts(Unreachable(64))
    assert counts(ingest(index, file, parts=down)) == (0, 0, 1, 0)
    with pytest.raises(ProviderError, match="down"):
        ingest(tmp_path / "new", file, parts=down)
