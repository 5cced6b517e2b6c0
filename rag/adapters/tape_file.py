"""A cassette as a file that people can read and review: YAML with parsed bodies and literal blocks.

    about: {case: revise-gain, stage: answer, model: ...}
    interactions:
    - request:
        method: POST path: /v1/chat/completions        # no host, no port: a recording does not depend on
        where the server was body: {model: ..., messages: [{role: user, content: |- ...}]}
      response:
        status: 200
        headers: {content-type: text/event-stream}
        stream:                           # a streamed reply: runs of events that differ in the text only
        - {frame: {choices: [{delta: {content: null}}], ...}, text: The whole text., cuts: 4 6 5}

Nothing is lost but the spaces of JSON, the time stamp that some servers put on each event of a stream (the
first is kept for all), a stream's comments (signs of life), and every header that is not on the list.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from rag import whole_file
from rag.errors import TapeError

KEPT_HEADERS = ("content-type", "openai-processing-ms", "openai-version")
"""Everything else (keys, cookies, organisation, addresses, lengths, limits) never reaches a file."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Interaction:
    """One request and its response; bodies as sent and received."""

    method: str
    path: str
    request: bytes
    status: int
    headers: Mapping[str, str]
    response: bytes


@dataclass(frozen=True, slots=True)
class TapeFile:
    """What a file holds: ``about`` says what the answers cannot (model, versions, seconds, date)."""

    interactions: tuple[Interaction, ...] = ()
    about: Json = field(default_factory=dict)


def write(path: Path, tape: TapeFile) -> None:
    """Write the file whole or not at all."""
    text = yaml.dump(_tree(tape), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    path.parent.mkdir(parents=True, exist_ok=True)
    whole_file.write(path, text)


def read(path: Path) -> TapeFile:
    """Read a file.

    Raises:
        TapeError: it is missing, or not what ``write`` writes.
    """
    try:
        tree = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        rows = tree["interactions"]
        return TapeFile(tuple(_interaction(row["request"], row["response"]) for row in rows), tree["about"])
    except FileNotFoundError:
        raise TapeError(f"There is no recording {path}.", "Record it: rag eval record.") from None
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise TapeError(f"The recording {path} cannot be read: {error!r}.", "Record it again.") from error


def _tree(tape: TapeFile) -> Json:
    return {"about": tape.about, "interactions": [_row(one) for one in tape.interactions]}


def _row(one: Interaction) -> Json:
    kept = {name: value for name, value in one.headers.items() if name.lower() in KEPT_HEADERS}
    return {
        "request": {"method": one.method, "path": one.path, **_body(one.request)},
        "response": {"status": one.status, "headers": kept, **_body(one.response)},
    }


def _interaction(request: Json, response: Json) -> Interaction:
    return Interaction(
        request["method"],
        request["path"],
        _bytes(request),
        response["status"],
        response["headers"],
        _bytes(response),
    )


def _body(raw: bytes) -> Json:
    text = raw.decode("utf-8")
    if not text:
        return {}
    try:
        return {"body": json.loads(text)}
    except ValueError:
        events = _events(text)
        return {"text": text} if events is None else {"stream": _runs(events)}


def _bytes(part: Json) -> bytes:
    if "stream" in part:
        return "".join(f"data: {_line(event)}\n\n" for event in _unrolled(part["stream"])).encode()
    if "body" in part:
        return json.dumps(part["body"], ensure_ascii=False).encode()
    return str(part.get("text", "")).encode()


def _line(event: Any) -> str:
    return event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)


def _events(text: str) -> list[Any] | None:
    """The events of a stream of ``data:`` lines of JSON and [DONE]; None for any other text.

    Comments (":" and anything) are left out: llama.cpp sends them while it reads a long prompt, as a sign
    of life.
    """
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line and not line.startswith(":")]
    if not lines or not all(line.startswith("data:") for line in lines):
        return None
    try:
        return [_event(line.removeprefix("data:").strip()) for line in lines]
    except ValueError:
        return None


def _event(data: str) -> Any:
    return data if data == "[DONE]" else json.loads(data)


def _runs(events: list[Any]) -> list[Json]:
    """Join neighbours that differ in nothing but their piece of text (and the time stamp)."""
    runs: list[Json] = []
    for event in events:
        frame, piece = _split(event)
        if piece is not None and runs and runs[-1].get("frame") == _stamped(frame, runs[-1].get("frame")):
            runs[-1]["text"] += piece
            runs[-1]["cuts"] += f" {len(piece)}"
        elif piece is not None:
            runs.append({"frame": frame, "text": piece, "cuts": str(len(piece))})
        else:
            runs.append({"event": event})
    return runs


def _unrolled(runs: list[Json]) -> list[Any]:
    events: list[Any] = []
    for run in runs:
        if "event" in run:
            events.append(run["event"])
            continue
        place = 0
        for cut in map(int, str(run["cuts"]).split()):
            event = copy.deepcopy(run["frame"])
            event["choices"][0]["delta"]["content"] = run["text"][place : place + cut]
            events.append(event)
            place += cut
    return events


def _split(event: Any) -> tuple[Any, str | None]:
    """The event without its piece of text, and the piece; (event, None) if it is of another form."""
    try:
        piece = event["choices"][0]["delta"]["content"]
    except (KeyError, IndexError, TypeError):
        return event, None
    if not isinstance(piece, str) or len(event["choices"]) != 1:
        return event, None
    frame = copy.deepcopy(event)
    frame["choices"][0]["delta"]["content"] = None
    return frame, piece


def _stamped(frame: Any, like: Any) -> Any:
    return (
        {**frame, "created": like["created"]} if like and "created" in frame and "created" in like else frame
    )


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes text of several lines as a literal block."""


def _text(dumper: Any, value: str) -> Any:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
