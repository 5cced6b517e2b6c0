"""A model that needs no server: it answers with the sentences that share most words with the question.

    model = FakeChat()          # chosen like a real one: --model fake
    model.stream(request)       # the same request gives the same reply, in small pieces

For tests, for trying the program offline, and for seeing every part of model mode work without a model.
It reads the prompt that a real model would get, so that a broken prompt breaks it too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from rag.ports import ChatRequest, Delta
from rag.records import Usage
from rag.text.sentences import split
from rag.text.size import tokens_in

NAME = "fake"
_PAPER = re.compile(r'<paper number="(\d+)">\n(.*?)\n</paper>', re.DOTALL)
_QUESTION = re.compile(r"^(?:Question|Statement):\s*(.+)$", re.MULTILINE)
_WORD = re.compile(r"[^\W_]{3,}")
_PIECE = 24
_MOST = 2


class FakeChat:
    """Implements ``ports.ChatModel``."""

    def __init__(self, context_window: int = 8192) -> None:
        self._window = context_window

    @property
    def name(self) -> str:
        return NAME

    @property
    def context_window(self) -> int:
        return self._window

    def stream(self, request: ChatRequest) -> Iterator[Delta]:
        """Yield the reply to ``request``."""
        prompt = request.messages[-1].content
        reply = _reply(prompt, wants_json=request.schema is not None)
        for i in range(0, len(reply), _PIECE):
            yield Delta(reply[i : i + _PIECE])
        used = sum(tokens_in(message.content) for message in request.messages)
        yield Delta(usage=Usage(used, tokens_in(reply)), finish_reason="stop")


def _reply(prompt: str, wants_json: bool) -> str:
    asked = _QUESTION.findall(prompt)
    question = asked[-1].strip() if asked else prompt.strip().splitlines()[-1]
    papers = _PAPER.findall(prompt)
    if not papers:
        return question  # asked to reword a question: it stands as it is
    best = _best(question, [(int(ref), text) for ref, text in papers])
    if wants_json:
        sentences = [{"citations": [{"ref": ref, "quote": said}], "text": said} for ref, said in best]
        return json.dumps({"answerable": bool(best), "sentences": sentences}, ensure_ascii=False)
    return " ".join(f"{said.rstrip('.')} [{ref}]." for ref, said in best) or "NOT STATED"


def _best(question: str, papers: list[tuple[int, str]]) -> list[tuple[int, str]]:
    wanted = _words(question)
    scored = [
        (len(wanted & _words(span.text)), -ref, -span.start, span.text)
        for ref, text in papers
        for span in split(text.removeprefix("Title: "))
    ]
    best = sorted(scored, reverse=True)[:_MOST]
    return [(-ref, said) for score, ref, _, said in best if score]


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
