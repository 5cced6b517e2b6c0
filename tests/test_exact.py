"""The matrix beside the keyword index: what it finds, when it answers, and what damage to it costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag.adapters.chroma_store import ChromaStore
from rag.adapters.exact import ExactVectors, build
from rag.errors import EnvironmentFault
from rag.index.library import Library
from rag.index.live import LiveVectors

ROWS = {"a": [1.0, 0.0], "b": [0.6, 0.8], "c": [0.0, 1.0], "d": [0.6, 0.8]}


@pytest.fixture
def matrix(tmp_path: Path) -> ExactVectors:
    pairs = [(id_, np.array(row, dtype="<f4").tobytes()) for id_, row in sorted(ROWS.items())]
    build(tmp_path / "keyword" / "f" / "exact", pairs, len(pairs), 2)
    return ExactVectors(tmp_path / "keyword" / "f" / "exact")


def test_the_nearest_come_first_and_equals_by_id(matrix: ExactVectors) -> None:
    found = matrix.query(np.array([0.6, 0.8], dtype="<f4"), 3)
    assert [id_ for id_, _ in found] == ["b", "d", "c"]
    assert [score for _, score in found] == pytest.approx([1.0, 1.0, 0.8])


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [({"a", "c"}, ["c", "a"]), ({"a", "nowhere", "zz"}, ["a"]), ({"0"}, []), (set(), [])],
)
def test_only_allowed_passages(matrix: ExactVectors, allowed: set[str], expected: list[str]) -> None:
    found = matrix.query(np.array([0.6, 0.8], dtype="<f4"), 3, frozenset(allowed))
    assert [id_ for id_, _ in found] == expected


def test_an_empty_one_finds_nothing(tmp_path: Path) -> None:
    build(tmp_path / "exact", [], 0, 2)
    matrix = ExactVectors(tmp_path / "exact")
    assert (matrix.query(np.array([1.0, 0.0], dtype="<f4"), 3), matrix.count(), matrix.ids()) == (
        [],
        0,
        set(),
    )


@pytest.mark.parametrize("name", ["vectors.npy", "passages.npy"])
@pytest.mark.parametrize("left", [None, 0, 100, 140])
def test_damage_names_the_repair(matrix: ExactVectors, tmp_path: Path, name: str, left: int | None) -> None:
    file = tmp_path / "keyword" / "f" / "exact" / name
    whole = file.read_bytes()
    assert len(whole) > 130
    file.unlink()
    if left is not None:
        file.write_bytes(whole[: min(left, len(whole) - 1)])
    with pytest.raises(EnvironmentFault) as raised:
        ExactVectors(file.parent)
    assert f"rag index verify --index {tmp_path}" in str(raised.value.remedy)


def test_both_ways_find_the_same(sample_index: Path) -> None:
    vector = np.random.default_rng(1).standard_normal(384).astype("<f4")
    vector /= np.linalg.norm(vector)
    with Library(sample_index) as library:
        matrix = ExactVectors(library.made().exact)
        store = ChromaStore.in_folder(library.vector_folder)
        some = frozenset(sorted(store.ids())[::2])
        for allowed in (None, some):
            ours, theirs = matrix.query(vector, 10, allowed), store.query(vector, 10, allowed)
            assert [id_ for id_, _ in ours] == [id_ for id_, _ in theirs]
            assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-5)
        store.close()


def test_sizes_decide_which_one_answers(sample_index: Path) -> None:
    with Library(sample_index) as library:
        few = LiveVectors(library, ChromaStore.in_folder, ExactVectors, exact_up_to=10_000)
        many = LiveVectors(library, ChromaStore.in_folder, ExactVectors, exact_up_to=3)
        none = LiveVectors(library, ChromaStore.in_folder)
        kinds = [
            type(each.answering(restricted=restricted))
            for each in (few, many, none)
            for restricted in (False, True)
        ]
        assert kinds == [ExactVectors, ExactVectors, ChromaStore, ExactVectors, ChromaStore, ChromaStore]
        for each in (few, many, none):
            each.close()
