"""Has a model write the answer: sentences with citations, each yielded as soon as it is complete.

    writing = Writing(model, prompts, read_json, max_tokens=700)
    for draft in writing.drafts("What does ReVISE verify?", packed.prompt(), refs=[1, 2]): ...
    writing.declined, writing.plain

First JSON (by schema where the server can do that), asked again once with the error if the reply is none, and
for a model that cannot do it at all plain sentences with [n] marks. Nothing is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rag.chain.reply import JsonReader, Reply, unmarked
from rag.ports import ChatModel, ChatRequest, Message
from rag.prompts import Prompt, Prompts
from rag.records import Claim, Draft, PromptInfo
from rag.text.sentences import split

_MOST_REPEATS = 2  # of sentences already written, before the model is taken to be in a loop
_LOOP = re.compile(r"(.{8,120}?)\1{4,}$", re.DOTALL)
_LOOP_WINDOW = 700
_SHOWN_AGAIN = 1500  # characters of a failed reply that the model sees again
_LATE_MARK = re.compile(r"([.!?])\s*((?:\[\s*\d[\d\s,;]*\][ \t]*)+)")
_DECLINED = re.compile(r"\bNOT STATED\b")


class Writing:
    """One answer being written by ``model``, in one go or several; not to be used for a second one.

    Attributes:
        declined: the model says that the papers do not state the answer.
        plain: the model could not write JSON, its sentences were read from plain text.
        prompt: the prompt that the answer was written by.
    """

    def __init__(self, model: ChatModel, prompts: Prompts, read: JsonReader, max_tokens: int) -> None:
        self._model, self._prompts, self._read = model, prompts, read
        self._max_tokens = max_tokens
        self._written: set[str] = set()
        self._repeats = 0
        self.declined = self.plain = False
        self.prompt: PromptInfo | None = None

    def drafts(self, question: str, evidence: str, refs: Sequence[int]) -> Iterator[Draft]:
        """Yield the sentences of the answer.

        Args:
            evidence: the block of papers, which have the numbers ``refs``.

        Raises:
            ProviderError: the model cannot be had.
        """
        prompt = self._load("answer")
        messages = prompt.messages(evidence=evidence, question=question)
        reply = Reply(self._read)
        yield from self._structured(messages, reply, refs)
        if reply.error:
            again = self._prompts.load("repair").messages(error=reply.error)
            said = Message("assistant", reply.text[:_SHOWN_AGAIN] or "(nothing)")
            reply = Reply(self._read)
            yield from self._structured((*messages, said, *again), reply, refs)
        if reply.error and reply.error.startswith("no valid JSON"):
            self.plain = True
            yield from self._plainly(self._load("answer-plain"), question, evidence)
        elif reply.error or reply.answerable is False:
            self.declined = not self._written

    def _load(self, name: str) -> Prompt:
        prompt = self._prompts.load(name)
        self.prompt = prompt.info
        return prompt

    def _structured(
        self, messages: tuple[Message, ...], reply: Reply, refs: Sequence[int]
    ) -> Iterator[Draft]:
        for piece in self._pieces(messages, reply_schema(refs)):
            if piece is None:
                reply.restart()
                continue
            yield from self._new(reply.feed(piece))
            if self._loops(reply.text):
                break
        yield from self._new(reply.finish())

    def _plainly(self, prompt: Prompt, question: str, evidence: str) -> Iterator[Draft]:
        text, given = "", 0
        for piece in self._pieces(prompt.messages(evidence=evidence, question=question), None):
            text = "" if piece is None else text + piece
            sentences = plain_sentences(text)[:-1]
            yield from self._new(iter(sentences[given:]))
            given = len(sentences)
            if self._loops(text):
                return
        self.declined = bool(_DECLINED.search(text)) and not self._written
        if not self.declined:
            yield from self._new(iter(plain_sentences(text)[given:]))

    def _pieces(
        self, messages: tuple[Message, ...], schema: Mapping[str, object] | None
    ) -> Iterator[str | None]:
        """The text of one reply; None when it begins anew."""
        request = ChatRequest(messages, self._max_tokens, schema=schema)
        for delta in self._model.stream(request):
            if delta.restart:
                yield None
            if delta.text:
                yield delta.text

    def _new(self, drafts: Iterator[Draft]) -> Iterator[Draft]:
        """Leave out what was written before (by a stream that broke, or by a model in a loop)."""
        for draft in drafts:
            name = draft.text.casefold()
            if name in self._written:
                self._repeats += 1
                continue
            self._written.add(name)
            yield draft

    def _loops(self, text: str) -> bool:
        return self._repeats > _MOST_REPEATS or bool(_LOOP.search(text[-_LOOP_WINDOW:]))


def reply_schema(refs: Sequence[int]) -> Mapping[str, object]:
    """JSON schema of a reply that names only papers of ``refs``; servers keep its order of fields."""
    citation = _object(ref={"type": "integer", "enum": list(refs)}, quote={"type": "string"})
    sentence = _object(citations={"type": "array", "items": citation}, text={"type": "string"})
    return _object(answerable={"type": "boolean"}, sentences={"type": "array", "items": sentence})


def _object(**properties: object) -> dict[str, object]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def plain_sentences(text: str) -> list[Draft]:
    """Read sentences that carry [n] marks; lines count as sentences, list bullets are dropped."""
    drafts = []
    for line in _LATE_MARK.sub(r" \2\1 ", text).splitlines():
        for span in split(re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", line)):
            bare, refs = unmarked(span.text)
            bare = re.sub(r"\s+([.!?,;])", r"\1", bare)
            if any(char.isalnum() for char in bare):
                drafts.append(Draft(bare, tuple(Claim(ref) for ref in dict.fromkeys(refs))))
    return drafts
