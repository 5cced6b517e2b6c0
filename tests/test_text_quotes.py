"""Folding and finding quotations: formatting may differ, words may not, offsets are the original's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.text.normalise import defuse, fold, plain
from rag.text.quotes import Haystack, find

TEXT = (
    "We reach **7.66×** “speed” on μCODE, i.e. R² of ≥ 0.9. "
    "Un\u200bable \u202eto lose\u202c −16.49% in 1,000 "
    "runs; the naïve self\u00adverification stays at 10⁶ steps."
)
HAYSTACK = Haystack(TEXT)


@pytest.mark.parametrize(
    ("quote", "slice_"),
    [
        ("We reach **7.66×**", "We reach **7.66×"),
        ('we reach 7.66x "speed"', "We reach **7.66×** “speed"),
        ("reach $7.66\\times$ speed on", "reach **7.66×** “speed” on"),
        ("R^2 of >= 0.9", None),
        ("R² of ≥ 0.9", "R² of ≥ 0.9"),
        ("R^2 of ≥ 0.9", "R² of ≥ 0.9"),
        ("unable to lose", "Un\u200bable \u202eto lose"),
        ("to lose -16.49% in", "to lose\u202c −16.49% in"),
        ("naive selfverification stays", "naïve self\u00adverification stays"),
        ("the naive self-verification", "the naïve self\u00adverification"),
        ("at 10^6 steps", "at 10⁶ steps"),
        ("We reach ... 1,000 runs", TEXT[: TEXT.index("1,000 runs") + 10]),
    ],
)
def test_found(quote: str, slice_: str | None) -> None:
    found = find(quote, HAYSTACK)
    assert (None if found is None else TEXT[found[0] : found[1]]) == slice_


@pytest.mark.parametrize(
    "quote",
    [
        "we reach 7.6",
        "we reach 7.67×",
        "reach 7.66% speed",
        "able to lose",
        "lose 16.49% in",
        "lose +16.49% in",
        "in 1,",
        "000 runs; the",
        "at 106 steps",
        "reach speed",
        "steps ... We reach",
        "reach",
        "",
        "...",
    ],
)
def test_not_found(quote: str) -> None:
    assert find(quote, HAYSTACK) is None


@given(st.text(max_size=60))
def test_folding_keeps_the_way_back(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.origin)
    assert list(folded.origin) == sorted(folded.origin)
    for i in range(len(folded.text)):
        start, end = folded.back(i, i + 1)
        assert 0 <= start < end <= len(text)


@given(st.text(alphabet="ab 1.%-×“é\u200b\u202e[]", min_size=3, max_size=40), st.data())
def test_what_is_found_folds_to_the_quotation(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    found = find(text[start:end], Haystack(text))
    if found is not None:
        here = "".join(c for c in plain(text[found[0] : found[1]]) if c.isalnum())
        there = "".join(c for c in plain(text[start:end]) if c.isalnum())
        assert here == there


def test_fold_knows_dashes_accents_and_inequalities() -> None:
    assert plain("a—b − c ‘q’ Erdős ½ ﬁ x≠y 10¹²") == "a-b - c 'q' Erdos 1/2 fi x≠y 10^12"


def test_defuse_takes_out_what_misleads() -> None:
    assert defuse("As shown [3], see [1, 2] and [4-6].") == "As shown (3), see (1, 2) and (4-6)."
    assert defuse("a\u202eb\u200bc\x1b[31md") == "abc[31md"
    assert defuse("array x[i] and [CLS]") == "array x[i] and [CLS]"


def test_a_fraction_is_not_its_digits_run_together() -> None:
    assert find("in 34 of all runs", Haystack("It holds in 3/4 of all runs.")) is None
    assert find("in 3/4 of *all* runs", Haystack("It holds in 3/4 of all runs.")) is not None
