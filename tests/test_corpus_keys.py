"""Keys: short, typable, the same for the same content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus import keys, systems


@pytest.mark.parametrize(
    ("title", "author", "year", "key"),
    [
        ("ReVISE: Learning to Refine", "Hyunseok Lee", 2025, "lee2025revise"),
        ("The Surprising Effectiveness of X", "Ekin Akyürek", 2025, "akyurek2025surprising"),
        ("SliM-LLM: Mixed Precision", "Huang, Wei", 2025, "huang2025slimllm"),
        ("Position: Machines Fail", "Søren Ørsted", 2024, "orsted2024machines"),
        ("Insulin in mice", "Smith JA", 1999, "smith1999insulin"),
        ("On Fish", "John Adams Jr.", 2001, "adams2001fish"),
    ],
)
def test_known_authors_and_year(title: str, author: str, year: int, key: str) -> None:
    assert keys.propose("Some abstract.", title, [author], year) == key


def test_unknown_authors_take_the_system_and_a_hash() -> None:
    abstract = "We propose Refine via Intrinsic Self-Verification (ReVISE), a framework. ReVISE works."
    key = keys.propose(abstract)
    assert key == f"revise-{keys.content_hash(abstract)[:4]}"
    assert keys.propose(abstract.upper().replace(" ", "  "))[-4:] == key[-4:]
    assert keys.propose("Fish swim in deep rivers all day.").startswith("fish-swim-deep-")


@pytest.mark.parametrize(
    ("abstract", "name"),
    [
        (
            "In this work, we present SpecPrefill, a training free framework. SpecPrefill is fast.",
            "SpecPrefill",
        ),
        ("We introduce μCODE, a simple approach.", "μCODE"),
        (
            "We propose Difficulty-Aware Knowledge Distillation (DA-KD). Knowledge Distillation (KD) is old.",
            "DA-KD",
        ),
        ("Our method (Projector Editor Networks for Model Editing - PENME) achieves much.", "PENME"),
        ("We present a study of finetuning GPT-4o on code.", None),
        ("We propose a new method for LLMs.", None),
    ],
)
def test_introduced_system(abstract: str, name: str | None) -> None:
    assert systems.introduced(abstract) == name


def test_collisions_get_a_letter() -> None:
    assert keys.distinct("lee2025revise", set()) == "lee2025revise"
    assert keys.distinct("lee2025revise", {"lee2025revise", "lee2025reviseb"}) == "lee2025revisec"
    full = {"k"} | {f"k{letter}" for letter in "bcdefghijklmnopqrstuvwxyz"}
    assert keys.distinct("k", full) == "kba"


class Counting(set[str]):
    """A set that counts how often it is asked."""

    asked = 0

    def __contains__(self, key: object) -> bool:
        self.asked += 1
        return super().__contains__(key)


def test_thousands_of_collisions_are_found_quickly_and_in_order() -> None:
    taken, found = Counting(), []
    for _ in range(3000):
        found.append(keys.distinct("k", taken))
        taken.add(found[-1])
    assert len(set(found)) == 3000
    assert found[:3] == ["k", "kb", "kc"]
    assert found[25:28] == ["kz", "kba", "kbb"]
    assert max(map(len, found)) == 4
    assert taken.asked < 3000 * 30


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=30), st.integers(1600, 2099) | st.none())
def test_keys_are_always_typable(abstract: str, title: str, author: str, year: int | None) -> None:
    key = keys.propose(abstract, title or None, [author] if author else [], year)
    assert key
    assert len(key) <= 48
    assert all(char.isascii() and (char.isalnum() or char == "-") for char in key)
