"""The index that is written piece by piece is the one bm25s makes in memory."""

from __future__ import annotations

import random
from pathlib import Path

import bm25s
import numpy as np
import pytest

from rag.adapters import keyword_build

FILES = ("data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy")


@pytest.mark.parametrize("at_once", [7, 100, 1_000_000])
def test_written_in_pieces_like_in_one(at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(1)
    documents = [
        [f"t{int(50 ** chance.random())}" for _ in range(chance.randrange(0, 40))] for _ in range(60)
    ]
    monkeypatch.setattr(keyword_build, "AT_ONCE", at_once)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    assert keyword_build.write(ours, documents)
    vocabulary: dict[str, int] = {}
    numbers = [[vocabulary.setdefault(term, len(vocabulary)) for term in terms] for terms in documents]
    whole = bm25s.BM25(method="lucene", k1=keyword_build.K1, b=keyword_build.B)
    whole.index((numbers, vocabulary), create_empty_token=False, show_progress=False)
    whole.save(theirs, show_progress=False)
    assert sorted(file.name for file in ours.iterdir()) == sorted(file.name for file in theirs.iterdir())
    for name in FILES:
        found, expected = np.load(ours / name), np.load(theirs / name)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    for name in ("params.index.json", "vocab.index.json"):
        assert (ours / name).read_text() == (theirs / name).read_text()


def test_documents_without_a_term(tmp_path: Path) -> None:
    assert not keyword_build.write(tmp_path, [[], []])
