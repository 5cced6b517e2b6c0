"""Phrases as counts of papers need them: every inflection, and nothing that only shares a stem."""

from __future__ import annotations

import pytest

from rag.text.phrases import Phrase


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("model editing", "Model editing is hard."),
        ("edited model", "We are editing models."),
        ("fine-tuning", "It was fine tuned."),
        ("query", "All queries were run."),
        ("stop", "They stopped, and we were stopping."),
        ("T cells", "T-cell therapy"),
        ("vitamin D", "They took vitamin D."),
        ("US", "in the US market"),
        ("C++", "written in C++."),
        ("R&D", "money for R&D"),
        (".NET", "It runs on .NET."),
        ("C", "written in C"),
        ("naïve Bayes", "a Naive Bayes classifier"),
        ("state of the art", "the state of the art"),
    ],
)
def test_it_is_there(phrase: str, text: str) -> None:
    assert Phrase(phrase).is_in(text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("model editing", "Editing a model"),
        ("organ", "the organization"),
        ("generation", "in general"),
        ("T cells", "Stem cells divide."),
        ("T cells", "it isn't t cells"),
        ("vitamin D", "We study vitamin C."),
        ("US", "It helps us."),
        ("C++", "written in C, or vitamin C"),
        ("R&D", "R and D"),
        (".NET", "a neural net"),
        ("LoRA", ""),
    ],
)
def test_it_is_not_there(phrase: str, text: str) -> None:
    assert not Phrase(phrase).is_in(text)


def test_exact_allows_no_inflection() -> None:
    assert Phrase("edit", exact=True).is_in("an edit")
    assert not Phrase("edit", exact=True).is_in("editing")


@pytest.mark.parametrize("empty", ["", "of the", "?!", "   "])
def test_of_mere_grammar_nothing_is_looked_for(empty: str) -> None:
    assert not Phrase(empty)
    assert not Phrase(empty).is_in("of the people")
