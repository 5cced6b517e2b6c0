"""What a server can do, learnt from its refusals and remembered, so that each lesson is paid for once.

"OpenAI-compatible" servers differ: one takes a JSON schema, another only ``json_object``, a third neither;
newer models of OpenAI want ``max_completion_tokens`` and refuse a temperature. The first request asks for
everything; ``lowered`` turns a refusal that names a parameter into a smaller request, until it is taken.

    >>> Capability().lowered("'response_format' of type 'json_schema' is not supported").json
    'json_object'

The memory is a small JSON file, ``servers.json`` in the data folder: address and model, never a key.
"""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from rag import whole_file

JsonLevel = Literal["json_schema", "json_object", "none"]

_DAYS_REMEMBERED = 30  # a server may learn something with its next version
_LOWER: dict[JsonLevel, JsonLevel] = {"json_schema": "json_object", "json_object": "none"}
_JSON = re.compile(
    r"response_format|json_schema|json_object|json mode|grammar|guided|structured output", re.I
)
_USAGE = re.compile(r"stream_options|include_usage", re.I)
_LIMIT = re.compile(r"max_completion_tokens", re.I)
_TEMPERATURE = re.compile(r"\btemperature\b", re.I)
_SEED = re.compile(r"\bseed\b", re.I)


@dataclass(frozen=True, slots=True)
class Capability:
    """Which optional parts of a request the server takes."""

    json: JsonLevel = "json_schema"
    usage: bool = True
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True

    def lowered(self, complaint: str) -> Capability | None:
        """Return what is left after a refusal with this text; None when it names nothing to leave out."""
        if _USAGE.search(complaint) and self.usage:
            return replace(self, usage=False)
        if _JSON.search(complaint) and self.json != "none":
            return replace(self, json=_LOWER[self.json])
        if _LIMIT.search(complaint) and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        if _TEMPERATURE.search(complaint) and self.temperature:
            return replace(self, temperature=False)
        if _SEED.search(complaint) and self.seed:
            return replace(self, seed=False)
        return None


class Memory:
    """Capabilities by server and model in a JSON file; without a path, for this process only.

    A file that cannot be read or written costs a repeated lesson, nothing else.
    """

    def __init__(self, path: Path | None, now: float | None = None) -> None:
        self._path = path
        self._today = int((time.time() if now is None else now) // 86400)
        self._known: dict[str, Capability] = {}

    def recall(self, base_url: str, model: str) -> Capability:
        """What is known of this server and model; everything, when nothing is."""
        name = _name(base_url, model)
        if name not in self._known:
            self._known[name] = self._stored(name)
        return self._known[name]

    def learn(self, base_url: str, model: str, capability: Capability) -> None:
        """Remember, replacing what was known."""
        name = _name(base_url, model)
        self._known[name] = capability
        if self._path is not None:
            entries = {k: v for k, v in _read(self._path).items() if self._fresh(v)}
            entries[name] = {**asdict(capability), "day": self._today}
            _write(self._path, entries)

    def _stored(self, name: str) -> Capability:
        entry = _read(self._path).get(name) if self._path else None
        if not isinstance(entry, dict) or not self._fresh(entry):
            return Capability()
        fields = {key: value for key, value in entry.items() if key != "day"}
        try:
            return Capability(**fields)
        except TypeError:  # written by another version
            return Capability()

    def _fresh(self, entry: object) -> bool:
        day = entry.get("day") if isinstance(entry, dict) else None
        return isinstance(day, int) and self._today - day < _DAYS_REMEMBERED


def address(base_url: str) -> str:
    """``base_url`` without what could be secret: user, password, query."""
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def _name(base_url: str, model: str) -> str:
    return f"{address(base_url)} {model}"


def _read(path: Path) -> dict[str, object]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _write(path: Path, entries: dict[str, object]) -> None:
    with suppress(OSError):  # a full or read-only disk: see the class
        path.parent.mkdir(parents=True, exist_ok=True)
        whole_file.write(path, json.dumps(entries, indent=1, sort_keys=True), private=True)
