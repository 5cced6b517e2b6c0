"""Settings -> a conversation; like ``rag.wiring`` it imports what is heavy inside its functions.

with desk(settings, save=True) as opened:
    opened.take("What is PILAF?")
"""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rag import places, wiring
from rag.errors import UsageError
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.chain.setup import Note, Writer
    from rag.chat.desk import Desk
    from rag.chat.entries import Dials
    from rag.chat.store import Row, Store
    from rag.render.layout import Line

HISTORY = "chat-history"


def store(settings: Settings, *, save: bool = True) -> Store:
    """Open the sessions; without ``save`` nothing is kept on disk."""
    from rag.chat.store import Store

    return Store(settings.data_dir if save else None)


@contextmanager
def desk(settings: Settings, *, save: bool, name: str | None = None) -> Iterator[Desk]:
    """Make a conversation that shows itself on stdout, over the index the settings mean."""
    from rag.chat.conversation import Conversation
    from rag.chat.desk import Desk
    from rag.chat.entries import Dials
    from rag.chat.face import face_for
    from rag.chat.opening import Opening

    folder = places.reading(settings).folder
    dials = Dials(settings.mode, settings.model, index=settings.chroma_url or str(folder))
    opening = Opening(lambda note: wiring.open_pile(settings, note, bar=False))
    with store(settings, save=save) as sessions:
        talk = Conversation(
            sessions, opening, writers(settings), dials, options=wiring.dials(settings), name=name
        )
        face = face_for(sys.stdout, sys.stderr)
        try:
            yield Desk(talk, face, webbrowser.open, lambda: wiring.open_library(settings, face.aside))
        finally:
            talk.close()
            opening.close()


def writers(settings: Settings) -> Callable[[Dials, bool, Note], Writer | None]:
    """Return what makes the writer of the moment; each model is connected to once."""

    told: list[Note] = []

    def remark(text: str) -> None:
        told[-1](text)

    @lru_cache(maxsize=4)
    def made(model: str | None, fresh: bool) -> Writer:
        return wiring.writer(replace(settings, mode="model", model=model), remark, fresh=fresh)

    def writer(dials: Dials, fresh: bool, note: Note) -> Writer | None:
        told[:] = [note]
        return made(dials.model, fresh) if dials.mode == "model" else None

    return writer


def talk(desk: Desk, settings: Settings, *, first: str, vi: bool | None, save: bool) -> bool:
    """Talk with whoever is there: a person at a terminal, or a pipe. Return whether all could be done."""
    if sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
        from rag.chat import plainly

        plainly.run(desk, first=first)
        return True
    if sys.stdin.isatty() and sys.stdout.isatty():
        from rag.chat import screen

        history = settings.data_dir / HISTORY if save else None
        screen.run(desk, history=history, first=first, vi=prefers_vi() if vi is None else vi)
        return True
    from rag.chat import pipe

    return pipe.run(desk, chain([first], () if sys.stdin.isatty() else sys.stdin), sys.stdout)


def prefers_vi() -> bool:
    """Whether the person has set vi keys for readline, in ~/.inputrc or the file INPUTRC names."""
    file = Path(os.environ.get("INPUTRC") or "~/.inputrc").expanduser()
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return any(line.split()[:3] == ["set", "editing-mode", "vi"] for line in text.splitlines())


def to_resume(sessions: Store, last: bool, name: str | None) -> int | None:
    """Return the session to go on with: the last one, or the one called ``name`` if there is one.

    Raises:
        UsageError: the last one is wanted, and there is none; or none can begin with that name.
    """
    if name is not None:
        named = sessions.named(name)
        if named is None:
            sessions.require_free(name)
        return named.id if named else None
    if not last:
        return None
    row = sessions.last()
    if row is None:
        raise UsageError("There is no conversation to go on with.", "Begin one: rag chat")
    return row.id


def listed(rows: Sequence[Row]) -> list[Line]:
    """Lay out sessions for a person."""
    from rag.chat import view

    return view.sessions(rows)


def tabbed(rows: Sequence[Row]) -> str:
    """Sessions for other programs, one a line."""
    from rag.chat import view

    return "".join(view.row(row) + "\n" for row in rows)


def shown(sessions: Store, session: int) -> list[Line]:
    """Lay out a whole conversation."""
    from rag.chat import view

    return view.conversation(sessions.read(session).entries)


def found(sessions: Store, words: str) -> list[Line]:
    """Lay out the turns that have the words."""
    from rag.chat import view

    return view.found(sessions.search(words))


def exported(sessions: Store, session: int, file: Path | None, form: str | None, *, over: bool) -> str:
    """Return a conversation as text, and write it to ``file`` if there is one; ``over`` one that is there.

    Raises:
        UsageError: the file's ending says another format than ``form``, or it cannot be written.
    """
    from rag.chat import export

    kept = sessions.read(session)
    kind = export.kind_of(file, form) if file else form or "md"
    text = export.export(kind, kept.name, kept.entries, kept.papers)
    if file is not None:
        export.write(file, text, over=over, or_else="write over that one with --force")
    return text
