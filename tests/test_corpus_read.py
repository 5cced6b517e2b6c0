"""Files to papers: the seed lists, the bundled sample, and every kind of file that is none."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import json
import lzma
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rag import corpus, places
from rag.corpus.venues import heading
from rag.errors import UsageError
from rag.index.database import PAPERS
from rag.records import Failure, Paper

SHARED = Path(__file__).parents[1].parent / "shared"
ABSTRACT = "We study how abstracts are read. They are parted by blank lines. " * 4


ENCODINGS = [
    *("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
]


def zipped(data: bytes = b"", **members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, held in (members or {"x": data}).items():
            archive.writestr(name, held)
    return buffer.getvalue()


def deeply(data: bytes) -> bytes:
    """Packed, in a zip that is packed again."""
    return gzip.compress(zipped(bz2.compress(data)))


def read(path: Path) -> list[Paper | Failure]:
    return list(corpus.read(path))


def papers(path: Path) -> list[Paper]:
    items = read(path)
    assert not [item for item in items if isinstance(item, Failure)]
    return [item for item in items if isinstance(item, Paper)]


@pytest.mark.skipif(not (SHARED / "seeds").is_dir(), reason="the seed files are not beside the repository")
def test_seed_files_give_their_38_papers() -> None:
    found = [paper for file in corpus.discover([SHARED / "seeds"]) for paper in papers(file)]
    assert len(found) == 38
    assert {(paper.venue, paper.year) for paper in found} == {("ICML", 2025)}
    assert [paper.source.record for paper in found] == [*range(1, 20), *range(1, 20)]
    assert len({paper.key for paper in found}) == 38
    third = found[2]
    assert third.key.startswith("specprefill-")
    assert third.abstract.endswith(
        "7× maximal end-to-end QPS on real downstream tasks and 7.66× TTFT improvement."
    )
    assert third.raw.endswith(r"7.66$\times$ TTFT improvement.")


def test_sample_is_bundled() -> None:
    found = papers(places.SAMPLE)
    assert len(found) == 38
    assert found[0].key == "lee2025revise"
    assert found[0].authors[0] == "Hyunseok Lee"
    assert found[0].url == "https://icml.cc/virtual/2025/poster/44699"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ICML 2025 Papers", ("ICML", 2025)),
        ("# Accepted Papers at NeurIPS 2024", ("NeurIPS", 2024)),
        ("EMNLP 2023", ("EMNLP", 2023)),
        ("2021 Interspeech papers", ("Interspeech", 2021)),
        ("Proceedings of the 41st Conference on Things (XCONF 2024)", ("XCONF", 2024)),
        ("Abstracts of the Journal of Fish 1998", ("Journal Fish", 1998)),
        ("In 2023 the GPT family of models was used by many people all over the world", None),
        ("We won in 2020.", None),
        ("ICML 2025 Accepted Submissions", ("ICML", 2025)),
        *(
            (pending, (pending, 2025))
            for pending in (
                "Submitted to ICLR 2025",
                "ICLR 2025 under review",
                "ICLR 2025 Conference Withdrawn Submission",
                "ICLR 2025 Conference Desk Rejected Submission",
            )
        ),
        ("No year here", None),
    ],
)
def test_heading(line: str, expected: tuple[str, int] | None) -> None:
    assert heading(line) == expected


def test_list_with_two_headings_wrapped_lines_and_a_scrap(tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    wrapped = ABSTRACT.replace(". They", ".\nThey")
    file.write_text(
        f"ACL 2023\n{wrapped}\n\nToo short.\n\n\nNAACL 2024 Papers\n\n{ABSTRACT}\n", encoding="utf-8"
    )
    first, scrap, second = read(file)
    assert isinstance(first, Paper)
    assert (first.venue, first.year, first.source.record) == ("ACL", 2023, 1)
    assert isinstance(scrap, Failure)
    assert (scrap.record, scrap.line) == (2, 8)
    assert isinstance(second, Paper)
    assert (second.venue, second.year, second.source.record) == ("NAACL", 2024, 3)
    assert first.abstract == second.abstract


def test_list_of_titles_and_abstracts(tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text(f"A First Title\n\n{ABSTRACT}\n\nA Second Title\n\n{ABSTRACT} Again.\n", encoding="utf-8")
    assert [paper.title for paper in papers(file)] == ["A First Title", "A Second Title"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "list.txt"
    file.write_bytes(f"ICML 2025\r\n\r\n{ABSTRACT} naïve “quotes” – Erdös.\r\n".encode(encoding))
    assert papers(file)[0].abstract.endswith("naïve “quotes” – Erdös.")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zipped, deeply])
def test_encodings_of_packed_files(tmp_path: Path, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    file = tmp_path / "list"
    file.write_bytes(pack(f"ICML 2025\r\n\r\n{ABSTRACT} naïve “quotes” – Erdös.\r\n".encode(encoding)))
    assert papers(file)[0].abstract.endswith("naïve “quotes” – Erdös.")


@pytest.mark.parametrize("data", [struct.pack("<500I", *range(500)), b"\x00\x01\x02\xff" * 64])
def test_numbers_in_four_bytes_are_no_text(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "x"
    file.write_bytes(data)
    assert read(file) == [Failure(str(file), 0, "is a binary file of no known format")]


def test_what_is_no_number_is_absent(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    rows = [
        f'{{"title": "a", "abstract": {number}, "year": {number}}}'
        for number in ("NaN", "Infinity", "-1e999")
    ]
    name = '{"value": NaN, "name": "ICML"}'
    extra = '"score": NaN, "held": {"a": [1.5, NaN], "b": Infinity}, "number": 2.5'
    rows.append(f'{{"title": "b", "abstract": "Dogs sleep.", "year": NaN, "venue": {name}, {extra}}}')
    file.write_text("\n".join(rows), encoding="utf-8")
    *failed, good = read(file)
    assert [item.error for item in failed if isinstance(item, Failure)] == ["has no abstract: a"] * 3
    assert isinstance(good, Paper)
    assert (good.year, good.venue) == (None, "ICML")
    assert good.extra == {"held": {"a": [1.5, None]}, "number": 2.5}
    json.dumps(good.extra, allow_nan=False)


def test_arrays_one_after_the_other_are_all_read(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    first, second = ([{"title": f"{at}{n}", "abstract": ABSTRACT} for n in range(2)] for at in "AB")
    last = {"title": "C0", "abstract": ABSTRACT}
    texts = [json.dumps(first, indent=1), "\ufeff" + json.dumps(second), json.dumps(last)]
    for separator in ("", "\n", "\r\n\r\n"):
        file.write_text(separator.join(texts), encoding="utf-8")
        found = papers(file)
        assert [(p.title, p.source.record) for p in found] == [
            (title, record) for record, title in enumerate(["A0", "A1", "B0", "B1", "C0"], 1)
        ]


@pytest.mark.parametrize(
    ("rest", "error", "line"),
    [
        ("\nthe end", "is not valid JSON: Expecting value at column 1", 3),
        ("\n\n]", "is not valid JSON: Expecting value at column 1", 4),
        ('\n[{"title": 1},\n{"title": }]', "is not valid JSON: Expecting value at column 11", 4),
        ("\n12", "is int, not an object with fields", None),
        ("\n[", "is not valid JSON: the array has no end at column 1", 3),
    ],
)
def test_what_follows_an_array_is_listed(tmp_path: Path, rest: str, error: str, line: int | None) -> None:
    file = tmp_path / "x.json"
    file.write_text('[\n{"title": "T", "abstract": "Dogs sleep."}]' + rest, encoding="utf-8")
    first, *_, last = read(file)
    assert isinstance(first, Paper)
    assert isinstance(last, Failure)
    assert (last.error, last.line) == (error, line)


def test_a_markdown_title_that_names_a_venue_is_no_group(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    wmt = "Findings of the WMT 2024 Shared Task"
    parts = ["# ACL 2023\n\nAn introduction.", f"## Dogs\n\n{ABSTRACT}", f"## {wmt}\n\n{ABSTRACT}"]
    file.write_text("\n\n".join([*parts, f"## Cats\n\n{ABSTRACT}"]), encoding="utf-8")
    assert [(p.title, p.venue, p.year) for p in papers(file)] == [
        (title, "ACL", 2023) for title in ("Dogs", wmt, "Cats")
    ]


def test_a_damaged_member_does_not_cost_those_after_it(tmp_path: Path) -> None:
    bad, good = (json.dumps({"title": t, "abstract": f"{t}. {ABSTRACT}"}).encode() for t in ("Bad", "Good"))
    data = zipped(a=bad, b=good)
    at = data.index(b"Bad")
    (tmp_path / "x").write_bytes(data[:at] + b"Mad" + data[at + 3 :])
    items = read(tmp_path / "x")
    assert [item.title for item in items if isinstance(item, Paper)][-1] == "Good"
    (failure,) = [item for item in items if isinstance(item, Failure)]
    assert (failure.record, failure.error) == (0, "a: is damaged: Bad CRC-32 for file 'a'")


def test_json_framings_give_the_same_papers(tmp_path: Path) -> None:
    rows = [{"Title": f"T{i}", "author": "Ann Lee; Bo Chen", "abstract": f"{ABSTRACT} {i}"} for i in range(3)]
    framings = {
        "lines.jsonl": "\n".join(map(json.dumps, rows)),
        "array.json": json.dumps(rows, indent=1),
        "held.json": json.dumps({"count": 3, "results": rows}),
        "held2.json": json.dumps({"count": 3, "results": rows}, indent=2),
        "jq.json": "\n".join(json.dumps(row, indent=2) for row in rows),
        "cat.json": "".join(json.dumps({"papers": part}, indent=2) for part in (rows[:2], rows[2:])),
        "feed.json": json.dumps({"title": "All", "description": "Of a year.", "items": rows}),
    }
    seen = set()
    for name, text in framings.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        found = papers(tmp_path / name)
        assert found[0].authors == ("Ann Lee", "Bo Chen")
        seen.add(tuple((p.key, p.title, p.source.record) for p in found))
    assert len(seen) == 1


@pytest.mark.parametrize("row", [{}, {"paperId": "1"}, {"issued": {}}, {"update_date": "2025", "id": "1"}])
def test_an_abstract_in_paragraphs_is_read_whole(tmp_path: Path, row: dict[str, object]) -> None:
    file = tmp_path / "x.json"
    row |= {"title": ["Dogs", "Hunde"], "abstract": ["Dogs sleep.", "", "Cats trans-", "form."]}
    file.write_text(json.dumps(row), encoding="utf-8")
    assert [(p.title, p.abstract) for p in papers(file)] == [("Dogs", "Dogs sleep. Cats transform.")]


def test_a_record_is_not_taken_for_what_it_holds(tmp_path: Path) -> None:
    for name in ("abstract", "Abstract", "summary"):
        row = {"title": "T", name: ABSTRACT, "results": [{"name": "accuracy", "value": 3}]}
        (tmp_path / "x.json").write_text(json.dumps(row), encoding="utf-8")
        assert [paper.title for paper in papers(tmp_path / "x.json")] == ["T"]


def test_one_bad_object_does_not_stop_the_rest(tmp_path: Path) -> None:
    texts = [json.dumps({"title": f"T{n}", "abstract": f"{ABSTRACT} {n}"}, indent=2) for n in range(3)]
    texts[1] = texts[1].replace('"T1",', '"T1"')
    file = tmp_path / "x.json"
    file.write_text("\n".join(texts), encoding="utf-8")
    first, broken, last = read(file)
    assert broken == Failure(str(file), 2, "is not valid JSON: Expecting ',' delimiter at column 3", 7)
    assert isinstance(first, Paper)
    assert isinstance(last, Paper)
    assert (first.title, last.title, last.source.record) == ("T0", "T2", 3)


def test_one_bad_line_does_not_stop_the_rest(tmp_path: Path) -> None:
    good = json.dumps({"title": "T", "abstract": ABSTRACT})
    file = tmp_path / "x.jsonl"
    file.write_text(
        "\n".join([good, "{broken", "[1]", '{"title": "No abstract"}', "", good]), encoding="utf-8"
    )
    items = read(file)
    assert [type(item) for item in items] == [Paper, Failure, Failure, Failure, Paper]
    assert [item.line for item in items if isinstance(item, Failure)] == [2, 3, 4]
    last = items[-1]
    assert isinstance(last, Paper)
    assert last.source.record == 5


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)), "is a binary file of no known format"),
        (b"just a note", "holds no papers in a known format"),
        (b"[]", "holds no papers in a known format"),
    ],
)
def test_what_holds_no_papers_says_so(tmp_path: Path, data: bytes, error: str) -> None:
    file = tmp_path / "x"
    file.write_bytes(data)
    assert read(file) == [Failure(str(file), 0, error)]


def test_unreadable_file(tmp_path: Path) -> None:
    assert read(tmp_path / "gone") == [
        Failure(str(tmp_path / "gone"), 0, "cannot be read: No such file or directory")
    ]


def test_huge_line(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps({"title": "T", "abstract": "word " * 2_000_000}), encoding="utf-8")
    (failure,) = read(file)
    assert isinstance(failure, Failure)
    assert "10,000,000 characters" in failure.error


def test_abandoned_reading_leaves_no_open_file(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join(json.dumps({"abstract": ABSTRACT}) for _ in range(9)), encoding="utf-8")
    reading = corpus.read(file)
    next(reading)
    del reading
    gc.collect()  # a file left open would warn, and warnings are errors here


def test_discover(tmp_path: Path) -> None:
    for name in ["b.txt", "a/z.bib", "a/c.json", ".hidden/x.txt", "a/.x.txt", "a/pic.png"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x", encoding="utf-8")
    found = corpus.discover([tmp_path, tmp_path / "b.txt", tmp_path / "a" / "pic.png", Path("-")])
    assert [str(path.relative_to(tmp_path)) if path != Path("-") else "-" for path in found] == [
        "a/c.json",
        "a/z.bib",
        "b.txt",
        "a/pic.png",
        "-",
    ]


def test_the_index_is_no_part_of_the_pile(tmp_path: Path) -> None:
    for name in ["a.txt", f"index/{PAPERS}", "index/manifest.json", "index/keyword/1f/vocab.index.json"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"a": 1}', encoding="utf-8")
    assert corpus.discover([tmp_path]) == [tmp_path / "a.txt"]
    with pytest.raises(UsageError, match="There are no papers in the folder"):
        corpus.discover([tmp_path / "index"])


def test_discover_names_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no file or folder .*gone"):
        corpus.discover([tmp_path / "gone"])
    with pytest.raises(UsageError, match="There are no papers in the folder"):
        corpus.discover([tmp_path])
