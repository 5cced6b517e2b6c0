"""The pile, opened in the background while a person types.

opening = Opening(lambda note: wiring.open_pile(settings, note))
opening.start()
...                      # the prompt is there
opening.pile()           # waits for what is left; opened anew when the index has changed meanwhile
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

from rag.chain.setup import Note, Pile

Opener = Callable[[Note], AbstractContextManager[Pile]]
_POLL = 0.05  # seconds; a wait without an end could not be interrupted everywhere


class Opening:
    """Opens once, in a thread of its own; ``state`` is the last remark on the way, if any."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._stack = ExitStack()
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._pile: Pile | None = None
        self._error: BaseException | None = None
        self._told: Callable[[], None] | None = None
        self.state = ""

    @property
    def ready(self) -> bool:
        """Whether the pile is open (or cannot be opened), so that nobody has to wait."""
        return self._done.is_set()

    def start(self, told: Callable[[], None] | None = None) -> None:
        """Begin, unless that was done before; ``told`` is called from the thread when it is ready."""
        if self._thread is None:
            self._told = told
            self._thread = threading.Thread(target=self._open, name="opening", daemon=True)
            self._thread.start()

    def peek(self) -> Pile | None:
        """The pile if it is open by now."""
        return self._pile

    def pile(self, note: Note) -> Pile:
        """Return the pile, waiting for it if need be.

        Raises:
            RagError: it cannot be opened; the next call tries again.
            KeyboardInterrupt: the wait was interrupted; opening goes on.
        """
        self.start()
        while not self._done.wait(_POLL):
            pass
        if self._error is not None:
            error, self._error, self._thread = self._error, None, None
            self._done.clear()
            raise error
        if self._pile is None:
            raise RuntimeError("opened without a pile")
        if self._pile.store.fingerprint() != self._pile.info.fingerprint:
            self._reopen(note)
        return self._pile

    def close(self) -> None:
        """Close the pile; one that is still being opened is left to the end of the process."""
        if self._done.is_set():
            self._stack.close()

    def _open(self) -> None:
        try:
            self._pile = self._stack.enter_context(self._opener(self._remark))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._error = error
        self.state = ""
        self._done.set()
        if self._told:
            self._told()

    def _reopen(self, note: Note) -> None:
        with ExitStack() as stack:
            pile = stack.enter_context(self._opener(note))
            self._stack.close()
            self._stack = stack.pop_all()
        self._pile = pile
        note(f"The index has changed: {pile.info.papers:,} papers now.")

    def _remark(self, text: str) -> None:
        self.state = text
