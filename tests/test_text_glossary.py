"""Terms of the field and words near in meaning: told from everyday words, and the lists are sound."""

from __future__ import annotations

import pytest

from rag.text import glossary, thesaurus
from rag.text.stem import stem
from rag.text.tokens import content
from rag.text.words import listed


def lines(name: str) -> list[str]:
    return listed({"glossary": glossary.FILE, "thesaurus": thesaurus.FILE}[name])


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Does anyone use state space models?", ["state space", "space", "space models"]),
        ("position embeddings", ["position", "position embeddings", "embeddings"]),
        ("Federated learning across hospitals", ["Federated", "Federated learning", "learning"]),
        ("how do I bake a cake in an old oven", []),
        ("does the doctor see what the nurse wrote down", []),
        ("the state of space", ["space"]),
        ("a large model of the data", []),
        ("", []),
    ],
)
def test_terms_are_told_from_everyday_words(question: str, found: list[str]) -> None:
    assert [term.text for term in glossary.terms(question)] == found


def test_terms_of_some_words_alone() -> None:
    text = "state space models"
    first, *others = content(text)
    assert [t.text for t in glossary.terms(text, [first])] == []
    assert [t.text for t in glossary.terms(text, others)] == ["space", "space models"]
    assert [t.text for t in glossary.terms(text, [first, others[-1]])] == []  # not side by side


@pytest.mark.parametrize(
    ("text", "joined"),
    [("state-space", 1), ("state space", 1), ("state, space", 0), ("state (space", 0), ("state", 0)],
)
def test_words_side_by_side(text: str, joined: int) -> None:
    assert len(glossary.side_by_side(content(text), text)) == joined


@pytest.mark.parametrize(
    ("word", "other"),
    [("picture", "image"), ("fabricated", "hallucination"), ("phone", "mobile"), ("opponents", "rival")],
)
def test_words_near_in_meaning(word: str, other: str) -> None:
    assert thesaurus.meanings(stem(word)) & thesaurus.meanings(stem(other))


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("encoder", "decoder"), ("teacher", "student"), ("increase", "decrease"), ("cheap", "expensive"),
        ("online", "offline"), ("static", "dynamic"), ("attack", "defense"), ("bake", "cake"),
        ("exploration", "exploitation"), ("labeled", "unlabeled"), ("precision", "recall"),
    ],
)  # fmt: skip
def test_opposites_are_never_near(word: str, other: str) -> None:
    assert not thesaurus.meanings(stem(word)) & thesaurus.meanings(stem(other))


def test_the_lists_are_sound() -> None:
    terms = lines("glossary")
    assert len(terms) == len(set(terms)) > 1500
    assert {len(term.split()) for term in terms} == {1, 2}
    meanings = [line.split() for line in lines("thesaurus")]
    assert len(meanings) > 500
    assert all(len({stem(word) for word in words}) > 1 for words in meanings)
    assert all(word.islower() or word[0].isdigit() for words in meanings for word in words)
