"""Replies to identical requests, kept on disk: a question asked twice is paid for once.

    model = CachedChat(OpenAIChat(...), folder, scope="http://127.0.0.1:8089/v1")

What counts as identical is everything that is sent (server, model, messages, limits, schema), by SHA-256; no
key is part of it or of the file. A reply is kept only when it came to its end. Each file is written whole or
not at all, readable by its owner only; the least recently used go when the folder outgrows ``max_bytes``.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from rag import whole_file
from rag.ports import ChatModel, ChatRequest, Delta
from rag.records import Usage

_FORMAT = 1


class CachedChat:
    """Implements ``ports.ChatModel`` around another one.

    Args:
        scope: what tells one server from another (its address).
        fresh: ask anew, and keep the new reply.
    """

    def __init__(
        self,
        model: ChatModel,
        folder: Path,
        scope: str = "",
        fresh: bool = False,
        max_bytes: int = 50_000_000,
    ) -> None:
        self._model, self._folder, self._scope = model, folder, scope
        self._fresh, self._max_bytes = fresh, max_bytes

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def context_window(self) -> int:
        return self._model.context_window

    def stream(self, request: ChatRequest) -> Iterator[Delta]:
        """Yield the kept reply, marked ``cached`` and costing nothing, or the model's."""
        path = self._folder / f"{digest(self._scope, self.name, request)}.json"
        kept = None if self._fresh else _read(path)
        if kept is not None:
            yield from kept
            return
        text, last = "", Delta()
        for delta in self._model.stream(request):
            text = ("" if delta.restart else text) + delta.text
            last = delta
            yield delta
        if last.finish_reason in ("stop", "length"):  # else it broke off or was filtered
            # A full or read-only disk costs the next question its saving, not this one its answer.
            with suppress(OSError):
                _write(path, text, last)
                _shrink(self._folder, self._max_bytes)


def digest(scope: str, model: str, request: ChatRequest) -> str:
    """Name of a request: SHA-256 of its canonical JSON."""
    body = json.dumps(
        [_FORMAT, scope, model, asdict(request)], sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path) -> tuple[Delta, Delta] | None:
    """The pieces of a kept reply; None when there is none (or a file that is damaged)."""
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
        os.utime(path)  # used now: the last to be dropped
        usage = Usage(entry["prompt_tokens"], entry["completion_tokens"], 0.0)
        text, reason = str(entry["text"]), str(entry["finish_reason"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Delta(text, cached=True), Delta(usage=usage, finish_reason=reason, cached=True)


def _write(path: Path, text: str, last: Delta) -> None:
    used = last.usage or Usage()
    entry = {
        "text": text,
        "finish_reason": last.finish_reason,
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    whole_file.write(path, json.dumps(entry), private=True)


def _shrink(folder: Path, max_bytes: int) -> None:
    files = []
    for path in folder.glob("*.json"):
        with suppress(FileNotFoundError):  # another process shrinks the folder as well
            files.append((path, path.stat()))
    excess = sum(stat.st_size for _, stat in files) - max_bytes
    for path, stat in sorted(files, key=lambda pair: pair[1].st_mtime):
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= stat.st_size
