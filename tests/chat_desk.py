"""A conversation for tests: over the bundled papers, shown on strings, with a model that does as told."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag import wiring
from rag.adapters.fake_model import FakeChat
from rag.adapters.partial_json import read
from rag.chain.setup import Note, Writer
from rag.chat.conversation import Conversation
from rag.chat.desk import Desk
from rag.chat.entries import Dials
from rag.chat.face import Pipe
from rag.chat.opening import Opening
from rag.chat.store import Store
from rag.errors import ProviderError
from rag.ports import ChatRequest, Delta
from rag.prompts import Prompts
from rag.settings import Settings, load


@dataclass
class Moody:
    """The product's fake model; ``mood`` is called before each request and may raise."""

    mood: Callable[[int], None] = lambda count: None
    asked: int = 0
    pieces: Callable[[int], None] = lambda piece: None
    name: str = "moody"
    context_window: int = 8192

    def stream(self, request: ChatRequest) -> Iterator[Delta]:
        self.asked += 1
        self.mood(self.asked)
        for number, delta in enumerate(FakeChat().stream(request)):
            self.pieces(number)
            yield delta


def refuse(_: int) -> None:
    raise ProviderError("The server at http://127.0.0.1:9 refuses.", "Is it running?")


@dataclass
class Talk:
    """A desk with what it printed; ``say`` takes a line and returns what came out."""

    desk: Desk
    out: io.StringIO
    err: io.StringIO
    opened: list[str]
    model: Moody = field(default_factory=Moody)

    def say(self, line: str) -> str:
        self.out.seek(0)
        self.out.truncate()
        self.err.seek(0)
        self.err.truncate()
        self.after = self.desk.take(line)
        return self.out.getvalue() + self.err.getvalue()


@contextmanager
def talking(
    index: Path,
    folder: Path | None = None,
    *,
    dials: Dials | None = None,
    model: Moody | None = None,
    settings: Settings | None = None,
    opened: Opening | None = None,
) -> Iterator[Talk]:
    """Open a conversation over the index; sessions in ``folder``, or in memory.

    ``opened`` is a pile that several conversations share, so that tests need not wait for each.
    """
    settings = settings or load({"index": index}, environ={}, files=())
    moody = model or Moody()
    out, err, visited = io.StringIO(), io.StringIO(), list[str]()

    def writers(dials: Dials, fresh: bool, note: Note) -> Writer | None:
        return Writer(moody, Prompts(), read, (1.0, 2.0)) if dials.mode == "model" else None

    def browse(url: str) -> bool:
        visited.append(url)
        return True

    opening = opened or Opening(lambda note: wiring.open_pile(settings, note))
    with Store(folder) as store:
        start = replace(dials or Dials(), index=str(index))
        talk = Conversation(store, opening, writers, start, options=wiring.dials(settings))
        library = lambda: wiring.open_library(settings, lambda text: None)  # noqa: E731
        yield Talk(Desk(talk, Pipe(out, err), browse, library), out, err, visited, moody)
        talk.close()
        if opened is None:
            opening.close()
