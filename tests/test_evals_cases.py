"""The gold format: what is read, and how every fault is named with file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag.errors import UsageError
from rag.evals.cases import load, parse

GOOD: dict[str, object] = {
    "id": "revise-gain",
    "question": "By how much does ReVISE raise Maj@3 on GSM8K?",
    "kind": "fact",
    "split": "test",
    "answerable": True,
    "papers": ["lee2025revise"],
    "facts": [
        {"text": "rises to 31.1", "number": {"value": 31.1, "unit": "%", "tolerance": 0.05}},
        {"text": "self-verification", "aliases": ["self-verif", ["verify", "own"]], "vital": False},
    ],
    "evidence": [{"key": "lee2025revise", "quote": "improves the Maj@3 accuracy"}],
}


def write(folder: Path, *records: object) -> Path:
    file = folder / "gold.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in records), "utf-8")
    return file


def test_a_case_is_read_whole(tmp_path: Path) -> None:
    (case,) = load([write(tmp_path, GOOD)])
    assert case.facts[0].number is not None
    assert case.facts[0].number.value == 31.1
    assert case.facts[1].aliases == (("self-verif",), ("verify", "own"))
    assert case.cluster == "lee2025revise"
    assert case.where.endswith("gold.jsonl:1")


def test_a_folder_is_read_without_its_subfolders(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    (tmp_path / "attacks").mkdir()
    write(tmp_path / "attacks", {"not": "a case"})
    assert [case.id for case in load([tmp_path])] == ["revise-gain"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "Has Space"}, "is not made of"),
        ({"question": " "}, "question is missing"),
        ({"kind": "riddle"}, "kind 'riddle'"),
        ({"kind": "far"}, "answerable=True"),
        ({"split": "train"}, "neither tune nor test"),
        ({"answerable": "yes"}, "answerable is missing or not true or false"),
        ({"papers": "lee2025revise"}, "papers is not a list"),
        ({"facts": [{"text": "x", "alias": []}]}, "unknown field 'alias'"),
        ({"facts": [{"text": "x", "aliases": [[]]}]}, "neither a string nor a list"),
        ({"facts": [{"text": "x", "number": {"value": "3"}}]}, "value is missing or not a number"),
        ({"facts": [{"text": "x", "number": {"value": 3, "tolerance": -1}}]}, "tolerance is negative"),
        ({"kind": "followup"}, "a followup has a history"),
        ({"papers": [], "facts": []}, "names papers, facts or a count"),
        ({"colour": "red"}, "unknown field 'colour'"),
    ],
)
def test_every_fault_is_named_with_its_line(tmp_path: Path, change: dict[str, object], words: str) -> None:
    file = write(tmp_path, {**GOOD, "id": "fine"}, {**GOOD, **change})
    with pytest.raises(UsageError) as caught:
        load([file])
    assert f"{file}:2" in caught.value.message
    assert words in caught.value.message


def test_an_unanswerable_case_has_no_facts() -> None:
    with pytest.raises(ValueError, match="has no facts"):
        parse({**GOOD, "kind": "near-miss", "answerable": False})


def test_a_repeated_id_names_both_places(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gold\.jsonl:2.*gold\.jsonl:1"):
        load([write(tmp_path, GOOD, GOOD)])


def test_broken_json_and_missing_files_are_user_errors(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text("{", "utf-8")
    with pytest.raises(UsageError, match=r"gold\.jsonl:1"):
        load([file])
    with pytest.raises(UsageError, match="no gold set"):
        load([tmp_path / "absent"])


def test_only_what_is_sent_enters_the_digest() -> None:
    base = parse(GOOD)
    assert parse({**GOOD, "facts": [], "note": "mended"}).digest() == base.digest()
    assert parse({**GOOD, "question": "By how much?"}).digest() != base.digest()
