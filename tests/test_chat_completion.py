"""What Tab offers, and how little is read for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from rag.chat.completion import Words
from rag.records import Filters, Paper, Source

PAPERS = {f"k{n:05}": Paper(f"k{n:05}", "Text.", Source("f", n), title=f"Title {n}") for n in range(20_000)}


class Counting:
    """A store that counts how often it is asked, and how many papers it gave."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def keys(self, filters: Filters) -> frozenset[str]:
        self.asked["keys"] += 1
        return frozenset(PAPERS)

    def paper(self, key: str) -> Paper | None:
        self.asked["singly"] += 1
        return PAPERS.get(key)

    def papers_of(self, keys: Iterable[str]) -> dict[str, Paper]:
        found = {key: PAPERS[key] for key in keys}
        self.asked["papers"] += len(found)
        return found

    def papers(self) -> Iterator[Paper]:
        self.asked["all"] += 1
        yield from list(PAPERS.values())[:3]


class Pile(SimpleNamespace):
    """A pile as far as completion looks at it."""

    @staticmethod
    def of(store: Counting, fingerprint: str, papers: int) -> Any:
        return Pile(store=store, info=SimpleNamespace(fingerprint=fingerprint, papers=papers))


def offered(words: Words, text: str) -> list[tuple[str, str]]:
    found = words.get_completions(Document(text, len(text)), CompleteEvent())
    return [(one.text, one.display_meta_text) for one in found]


def test_keys_are_read_once_and_only_those_offered() -> None:
    store = Counting()
    words = Words(lambda: Pile.of(store, "a", len(PAPERS)), dict)
    for typed in ("", "k", "k0", "k00", "k", ""):
        shown = offered(words, f"/use {typed}")
        assert shown[0] == ("k00000", "Title 0")
        assert len(shown) == 100
    assert offered(words, "/use k00001 k1234") == [(f"k1234{n}", f"Title 1234{n}") for n in range(10)]
    assert offered(words, "/use x") == []
    assert store.asked == {"keys": 1, "papers": 110}


def test_another_state_of_the_pile_is_read_anew() -> None:
    store, state = Counting(), ["a"]
    words = Words(lambda: Pile.of(store, state[0], 3), dict)
    assert offered(words, "k0000")[0] == ("k00000", "Title 0")
    offered(words, "/use k12345")
    offered(words, "k0000")
    assert store.asked == {"all": 1, "keys": 1, "papers": 1}
    state[0] = "b"
    offered(words, "k0000")
    offered(words, "/use k12345")
    assert store.asked == {"all": 2, "keys": 2, "papers": 2}


def test_nothing_is_offered_before_the_pile_is_open() -> None:
    words = Words(lambda: None, dict)
    assert offered(words, "/use ") == offered(words, "What is k0") == []
