"""How papers are cut: whole when they fit, overlapping windows of sentences when not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.passages import Splitter, joined
from rag.records import Paper, Source

SENTENCES = ["Alpha runs fast.", "Beta sleeps well.", "Gamma sings.", "Delta waits here.", "Epsilon ends."]


def splitter(window: int) -> Splitter:
    return Splitter(lambda text: len(text.split()), window)


def paper(abstract: str, title: str | None = None) -> Paper:
    return Paper(key="k", abstract=abstract, source=Source("f", 1), title=title)


def texts(window: int, abstract: str, title: str | None = None) -> list[str]:
    return [each.passage.text for each in splitter(window).prepare(paper(abstract, title))]


def test_what_fits_is_one_passage() -> None:
    (only,) = splitter(5).prepare(paper("  Alpha runs fast. ", "The title"))
    assert only.embedded == "The title. Alpha runs fast."
    assert (only.passage.text, only.passage.start, only.passage.end) == ("Alpha runs fast.", 2, 18)


def test_windows_overlap_by_a_sentence_and_the_last_reaches_back() -> None:
    assert texts(7, " ".join(SENTENCES)) == [
        "Alpha runs fast. Beta sleeps well.",
        "Beta sleeps well. Gamma sings.",
        "Gamma sings. Delta waits here. Epsilon ends.",
    ]


def test_every_window_is_embedded_with_the_title() -> None:
    prepared = splitter(9).prepare(paper(" ".join(SENTENCES), "Two words?"))
    assert [each.embedded for each in prepared] == [
        "Two words? Alpha runs fast. Beta sleeps well.",
        "Two words? Beta sleeps well. Gamma sings.",
        "Two words? Gamma sings. Delta waits here. Epsilon ends.",
    ]


def test_a_sentence_longer_than_the_window_is_cut_between_words() -> None:
    assert texts(3, "one two three four five six seven") == ["one two three", "four five six", "seven"]


def test_a_title_that_would_fill_the_window_is_left_out() -> None:
    (only,) = splitter(8).prepare(paper("Alpha runs fast.", "a title of six long words"))
    assert only.embedded == "Alpha runs fast."


def test_a_paper_of_a_title_alone() -> None:
    (only,) = splitter(8).prepare(paper("", "Just a title"))
    assert (only.embedded, only.passage.text, only.passage.start, only.passage.end) == (
        "Just a title",
        "",
        0,
        0,
    )


@pytest.mark.parametrize(
    "change",
    [{"key": "other"}, {"title": "T"}, {"year": 1999}, {"venue": "V"}, {"url": "u"}, {"authors": ("A",)}],
)
def test_an_id_stands_for_text_and_metadata(change: dict[str, object]) -> None:
    before = splitter(99).prepare(paper("Alpha runs fast."))
    after = splitter(99).prepare(replace(paper("Alpha runs fast."), **change))  # type: ignore[arg-type]
    assert before[0].passage.id != after[0].passage.id
    assert before == splitter(99).prepare(paper("Alpha runs fast."))


@given(
    st.lists(st.text(alphabet="ab .!?\n", min_size=1, max_size=60), max_size=8).map(" ".join),
    st.sampled_from([None, "Title", "Why?"]),
    st.integers(3, 12),
)
def test_passages_fit_cover_and_are_where_they_say(abstract: str, title: str | None, window: int) -> None:
    prepared = splitter(window).prepare(paper(abstract, title))
    covered = set[int]()
    for each in prepared:
        assert each.passage.text == abstract[each.passage.start : each.passage.end]
        assert len(each.embedded.split()) <= window
        covered |= set(range(each.passage.start, each.passage.end))
    assert all(abstract[at].isspace() for at in set(range(len(abstract))) - covered)
    assert len({each.passage.id for each in prepared}) == len(prepared) >= 1


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [("", "T", "T"), ("A", "", "A"), ("A", "T", "A. T"), ("A?", "T", "A? T"), ("A.", "T", "A. T")],
)
def test_joining(title: str, text: str, expected: str) -> None:
    assert joined(title, text) == expected
