"""The prompt a person types into: history, several lines, completion, keys. All of prompt_toolkit is here.

    run(desk, history=folder / "chat-history", first="What is PILAF?", vi=False)

The prompt comes first; the papers are opened in the background once it is on the screen.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition, has_completions, is_done
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.bindings.named_commands import accept_line
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from rag.chat import commands
from rag.chat.completion import Words
from rag.chat.desk import Desk, Next
from rag.chat.face import is_capable
from rag.chat.plainly import LEAVING
from rag.render import safe

if sys.platform != "win32":
    import termios

_STYLE = Style.from_dict(
    {
        "prompt": "ansicyan bold",
        "bottom-toolbar": "noreverse dim",
        "completion-menu": "noinherit",
        "completion-menu.completion": "bg:default default",
        "completion-menu.completion.current": "reverse",
        "completion-menu.meta.completion": "bg:default dim",
        "completion-menu.meta.completion.current": "reverse dim",
    }
)
_SIGN = "› "


def run(desk: Desk, *, history: Path | None, first: str = "", vi: bool = False) -> None:
    """Talk until the person leaves."""
    asker = _Asker(desk, history, vi)
    draft = ""
    if first:
        asker.remember(first)
        draft = _taken(desk, first).draft
    while (line := asker.ask(draft)) is not None:
        after = _taken(desk, line)
        if after.leave:
            return
        draft = after.draft
        desk.face.text("\n")


def _taken(desk: Desk, line: str) -> Next:
    with unechoed():
        return desk.take(line)


class _Asker:
    """Asks for one line after the other."""

    def __init__(self, desk: Desk, history: Path | None, vi: bool) -> None:
        self._desk = desk
        self._rich = is_capable()
        self._begun = False
        self._session: PromptSession[str] = PromptSession(
            history=_history(history),
            multiline=True,
            editing_mode=EditingMode.VI if vi else EditingMode.EMACS,
            completer=Words(desk.talk.opening.peek, lambda: desk.talk.numbers.papers),
            complete_while_typing=Condition(_is_command),
            auto_suggest=AutoSuggestFromHistory() if self._rich else None,
            key_bindings=_keys(),
            enable_history_search=False,
            prompt_continuation=lambda width, *_: " " * width,
            style=_STYLE,
            color_depth=None if self._rich else ColorDepth.DEPTH_1_BIT,
            bottom_toolbar=self._toolbar if self._rich else None,
            reserve_space_for_menu=4,
            enable_suspend=True,
        )

    def remember(self, question: str) -> None:
        self._session.history.append_string(question)

    def ask(self, draft: str) -> str | None:
        """Return a line; None when the person leaves: Ctrl-D, or Ctrl-C twice with nothing typed."""
        pressed = False
        while True:
            try:
                line = self._session.prompt(self._sign(), default=draft, pre_run=self._start)
            except EOFError:
                return None
            except KeyboardInterrupt:
                if pressed and not self._typed:
                    return None
                pressed = not self._typed
                draft = ""
                if pressed:
                    self._desk.face.aside(LEAVING)
                continue
            if line.strip():
                return line
            draft, pressed = "", False

    @property
    def _typed(self) -> bool:
        return bool(self._session.default_buffer.text.strip())

    def _sign(self) -> StyleAndTextTuples:
        return [("class:prompt", _SIGN)]

    def _start(self) -> None:
        """Open the papers once the first prompt is drawn, so that the prompt does not wait for them."""
        if self._begun:
            return
        self._begun = True
        app = get_app()
        opening = self._desk.talk.opening

        def begin(_: object) -> None:
            app.after_render -= begin
            opening.start(app.invalidate)

        app.after_render += begin

    def _toolbar(self) -> StyleAndTextTuples:
        return [("", _fitted(self._facts(), get_app().output.get_size().columns))]

    def _facts(self) -> list[str]:
        """What is worth knowing before one asks, the more important first."""
        talk = self._desk.talk
        dials, pile = talk.dials, talk.opening.peek()
        writer = f"model {dials.model or ''}".strip() if dials.mode == "model" else "quotes, no model"
        papers = f"{pile.info.papers:,} papers" if pile else (talk.opening.state or "opening the papers …")
        facts = [commands.described(dials.filters), papers, writer]
        facts += ["raw" if dials.raw else "", talk.session.name if talk.session else "", "/help"]
        return [safe.line(fact) for fact in facts if fact]


def _fitted(facts: list[str], columns: int) -> str:
    """Join as many facts as fit the window."""
    text = ""
    for fact in facts:
        longer = f"{text} · {fact}" if text else fact
        if get_cwidth(longer) >= columns:
            break
        text = longer
    return text


def _is_command() -> bool:
    return get_app().current_buffer.text.startswith("/")


def _history(file: Path | None) -> History:
    """Earlier questions; they are nobody else's business, so only the owner may read them."""
    if file is None:
        return InMemoryHistory()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError:
        return InMemoryHistory()
    return _Kept(str(file))


class _Kept(FileHistory):
    """A history whose file may become unwritable without ending the chat."""

    def store_string(self, string: str) -> None:
        with suppress(OSError):
            super().store_string(string)


def _keys() -> KeyBindings:
    """Enter sends, Alt-Enter (or Escape, then Enter) begins a new line."""
    keys = KeyBindings()
    choosing = Condition(lambda: get_app().current_buffer.complete_state is not None) & has_completions

    @keys.add("enter", filter=choosing & ~is_done)
    def choose(event: KeyPressEvent) -> None:
        state = event.current_buffer.complete_state
        if state is not None and state.current_completion is not None:
            event.current_buffer.complete_state = None
        else:
            accept_line(event)

    @keys.add("enter", filter=~choosing & ~is_done)
    def send(event: KeyPressEvent) -> None:
        accept_line(event)

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    # What was typed while an answer was written arrives with line feeds.
    keys.add("c-j", filter=~is_done)(send)
    return keys


@contextmanager
def unechoed() -> Iterator[None]:
    """Keep keys pressed while an answer is written off the screen; they come with the next prompt."""
    if sys.platform == "win32":
        yield
        return
    try:
        before = termios.tcgetattr(sys.stdin)
    except (termios.error, ValueError, OSError):
        yield
        return
    silent = list(before)
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)
