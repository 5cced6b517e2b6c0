"""What Tab offers: commands, what they take, and in a question the names and keys of papers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from rag.chain.calling import system
from rag.chain.setup import Pile
from rag.chat.commands import COMMANDS
from rag.records import Filters, Paper
from rag.render import layout, safe

_MOST = 5000  # papers that are offered by name; more would be read for seconds
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
        self._names: dict[str, str] = {}
        self._fingerprint = ""

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        text = document.text_before_cursor
        if not text.startswith("/"):
            yield from self._in_question(text)
            return
        name, space, argument = text[1:].partition(" ")
        if not space:
            yield from _commands(name)
        elif name == "use":
            yield from self._keys(argument.rsplit(" ", 1)[-1])
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

    def _keys(self, word: str) -> Iterable[Completion]:
        pile = self._peek()
        for key in sorted(pile.store.keys(Filters())) if pile else ():
            if key.startswith(word):
                paper = pile.store.paper(key) if pile else None
                yield Completion(key, -len(word), display_meta=layout.heading(paper) if paper else "")

    def _numbers(self, word: str) -> Iterable[Completion]:
        for ref, paper in sorted(self._shown().items()):
            if str(ref).startswith(word):
                yield Completion(str(ref), -len(word), display_meta=layout.heading(paper))

    def _known(self) -> dict[str, str]:
        """Names and keys of the papers with their titles, read once per state of the index."""
        pile = self._peek()
        if pile is None or pile.info.papers > _MOST:
            return {}
        if self._fingerprint != pile.info.fingerprint:
            names: dict[str, str] = {}
            for paper in pile.store.papers():
                names |= {
                    safe.line(name): layout.heading(paper) for name in (system(paper), paper.key) if name
                }
            self._names, self._fingerprint = names, pile.info.fingerprint
        return self._names


def _commands(begun: str) -> Iterable[Completion]:
    for spec in COMMANDS:
        if spec.name.startswith(begun.lower()):
            yield Completion(spec.name, -len(begun), display=f"/{spec.name}", display_meta=spec.help)


def _starting(choices: Iterable[str], word: str) -> Iterable[Completion]:
    return (Completion(choice, -len(word)) for choice in choices if choice.startswith(word))
