"""What Tab offers: commands, what they take, and in a question the names and keys of papers."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, takewhile

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from rag.chain.calling import system
from rag.chain.setup import Pile
from rag.chat.commands import COMMANDS
from rag.records import Filters, Paper
from rag.render import layout, safe

_MOST = 5000  # papers that are offered by name; more would be read for seconds
_KEYS = 100  # that are offered at once
_SHORTEST = 2
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "mode": ("extractive", "model"),
    "raw": ("on", "off"),
    "quotes": ("on", "off"),
    "filter": ("year>=", "venue=", "author=", "off"),
}


class Words(Completer):
    """``peek`` gives the pile once it is open; ``shown`` the papers of the conversation by number."""

    def __init__(self, peek: Callable[[], Pile | None], shown: Callable[[], Mapping[int, Paper]]) -> None:
        self._peek, self._shown = peek, shown
        self._fingerprint = ""
        self._names: dict[str, str] | None = None
        self._keys: list[str] = []
        self._titles: dict[str, str] = {}

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        text = document.text_before_cursor
        if not text.startswith("/"):
            yield from self._in_question(text)
            return
        name, space, argument = text[1:].partition(" ")
        if not space:
            yield from _commands(name)
        elif name == "use":
            yield from self._keys_from(argument.rsplit(" ", 1)[-1])
        elif name == "open":
            yield from self._numbers(argument)
        elif name in ("save", "cite"):
            path = Document(argument, len(argument))
            yield from PathCompleter(expanduser=True).get_completions(path, complete_event)
        else:
            yield from _starting(_CHOICES.get(name, ()), argument.rsplit(" ", 1)[-1])

    def _in_question(self, text: str) -> Iterable[Completion]:
        word = re.split(r"[\s(“\"]", text)[-1]
        if len(word) < _SHORTEST:
            return
        for name, title in self._known().items():
            if name.casefold().startswith(word.casefold()):
                yield Completion(name, -len(word), display_meta=title)

    def _keys_from(self, word: str) -> Iterable[Completion]:
        pile = self._pile()
        if pile is None:
            return
        self._keys = self._keys or sorted(pile.store.keys(Filters()))
        begun = takewhile(lambda key: key.startswith(word), self._keys[bisect_left(self._keys, word) :])
        offered = list(islice(begun, _KEYS))
        if new := [key for key in offered if key not in self._titles]:
            papers = pile.store.papers_of(new)
            self._titles |= {key: layout.heading(papers[key]) if key in papers else "" for key in new}
        for key in offered:
            yield Completion(key, -len(word), display_meta=self._titles[key])

    def _numbers(self, word: str) -> Iterable[Completion]:
        for ref, paper in sorted(self._shown().items()):
            if str(ref).startswith(word):
                yield Completion(str(ref), -len(word), display_meta=layout.heading(paper))

    def _known(self) -> dict[str, str]:
        """Names and keys of the papers with their titles."""
        pile = self._pile()
        if pile is None or pile.info.papers > _MOST:
            return {}
        if self._names is None:
            self._names = {
                safe.line(name): layout.heading(paper)
                for paper in pile.store.papers()
                for name in (system(paper), paper.key)
                if name
            }
        return self._names

    def _pile(self) -> Pile | None:
        """The pile; what was read of another state of it is forgotten."""
        pile = self._peek()
        if pile is not None and pile.info.fingerprint != self._fingerprint:
            self._fingerprint = pile.info.fingerprint
            self._names, self._keys, self._titles = None, [], {}
        return pile


def _commands(begun: str) -> Iterable[Completion]:
    for spec in COMMANDS:
        if spec.name.startswith(begun.lower()):
            yield Completion(spec.name, -len(begun), display=f"/{spec.name}", display_meta=spec.help)


def _starting(choices: Iterable[str], word: str) -> Iterable[Completion]:
    return (Completion(choice, -len(word)) for choice in choices if choice.startswith(word))
