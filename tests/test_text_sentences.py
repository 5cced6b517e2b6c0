"""Sentences: what ends one, what does not, and that nothing is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.text.sentences import split


def texts(text: str) -> list[str]:
    return [span.text for span in split(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We use Llama 3.1 405B. It is fast.", ["We use Llama 3.1 405B.", "It is fast."]),
        ("We help LLMs. However, costs grow.", ["We help LLMs.", "However, costs grow."]),
        ("Tasks, e.g. Sudoku, i.e. puzzles, vs. Chess.", ["Tasks, e.g. Sudoku, i.e. puzzles, vs. Chess."]),
        ("See Fig. 2 and Eq. 3 for it. Then stop.", ["See Fig. 2 and Eq. 3 for it.", "Then stop."]),
        (
            "As Smith et al. showed. As did Lee et al. The end.",
            ["As Smith et al. showed.", "As did Lee et al.", "The end."],
        ),
        ("It gains 7.66x. 16 tasks remain.", ["It gains 7.66x.", "16 tasks remain."]),
        ("The answer is no. We go. See no. 5.", ["The answer is no.", "We go.", "See no. 5."]),
        (
            "J. Smith of the U.S. Army. In the U.S. The end.",
            ["J. Smith of the U.S. Army.", "In the U.S.", "The end."],
        ),
        ("Long (see below. It is) text. End.", ["Long (see below. It is) text.", "End."]),
        ('He said "stop." Then left.', ['He said "stop."', "Then left."]),
        ("See https://a.org/x.y. Code is out.", ["See https://a.org/x.y.", "Code is out."]),
        ("Good performance.We show more.", ["Good performance.", "We show more."]),
        ("Runs on Node.Js and x.Py files.", ["Runs on Node.Js and x.Py files."]),
        ("It works. μCODE is new. iPhone too.", ["It works.", "μCODE is new.", "iPhone too."]),
        ("1. We do this. 2. We do that.", ["1. We do this.", "2. We do that."]),
        ("One para\n\nAnother para. Done", ["One para", "Another para.", "Done"]),
        ("Points:\n- one thing\n- another", ["Points:", "- one thing", "- another"]),
        ("Really?! Yes… No.", ["Really?!", "Yes…", "No."]),
        ("better than i.i.d. data scaling. End.", ["better than i.i.d. data scaling.", "End."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_split(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@given(st.text(alphabet="Ab c.!?()[]\n\"'1…é\u200b。", max_size=80))
def test_spans_cover_everything_but_space(text: str) -> None:
    spans = split(text)
    assert all(text[s.start : s.end] == s.text and s.text.strip() == s.text for s in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    covered = {i for s in spans for i in range(s.start, s.end)}
    assert all(i in covered or char.isspace() for i, char in enumerate(text))
