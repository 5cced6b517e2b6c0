"""Records model calls to a cassette and plays them back, by vcrpy under rules of our own.

    with recording(path, about) as session: ...      # goes to the network, writes the file when all went well
    with replaying(path) as session: ...             # never goes to the network

Requests match on method, path and the SHA-256 of their canonical JSON body: with a changed prompt an old
answer can not be found. One cassette may be open in a process at a time, since vcrpy patches httpx for the
whole of it.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from vcr.cassette import Cassette, CassetteContextDecorator  # type: ignore[import-untyped]
from vcr.errors import CannotOverwriteExistingCassetteException, UnhandledHTTPRequestError  # type: ignore[import-untyped]
from vcr.filters import decode_response  # type: ignore[import-untyped]
from vcr.patch import PATCHER_NAMES  # type: ignore[import-untyped]
from vcr.persisters.filesystem import CassetteNotFoundError  # type: ignore[import-untyped]
from vcr.record_mode import RecordMode  # type: ignore[import-untyped]
from vcr.request import Request  # type: ignore[import-untyped]

from rag.adapters import tape_file
from rag.adapters.tape_file import Interaction, TapeFile
from rag.errors import TapeError

REFUSED = frozenset({408, 409, 429, *range(500, 600)})
"""Passing troubles: replayed, they would make every run wait and fail again."""
MISSES = (CannotOverwriteExistingCassetteException, UnhandledHTTPRequestError)
OTHER_CLIENTS = tuple(name for name in PATCHER_NAMES if name != "httpx")
_ONE_AT_A_TIME = threading.Lock()


class Session:
    """What happened while a cassette was open: bodies asked for in vain, and what was recorded.

    ``about`` is what the file says (or, while recording, will say) of how it was made. ``declined`` is set
    by who asks: the program declined the question by itself, so that the rest is rightly never asked for.
    """

    def __init__(self, cassette: _Cassette, about: dict[str, Any]) -> None:
        self._cassette = cassette
        self.about = about
        self.declined = False

    @property
    def missed(self) -> list[dict[str, Any]]:
        """JSON bodies of the requests that no recorded one matched."""
        return [json.loads(_raw(request) or b"{}") for request in self._cassette.missed]

    @property
    def requests(self) -> list[dict[str, Any]]:
        """JSON bodies of the requests of the cassette, in order."""
        return [json.loads(_raw(request) or b"{}") for request in self._cassette.requests]


@contextmanager
def replaying(path: Path) -> Iterator[Session]:
    """Answer every request from the file.

    Raises:
        TapeError: the file is missing; a request is not in it (told as such, whatever the vendor made of it
        on
            the way up); or something recorded was not asked for.
    """
    if not path.is_file():
        raise TapeError(f"There is no recording {path}.", "Record it: rag eval record --only missing.")
    about = tape_file.read(path).about
    with _opened(path, RecordMode.NONE, about) as cassette:
        session = Session(cassette, about)
        try:
            yield session
        except Exception as error:
            if cassette.missed or _is_miss(error):
                raise _stale(path) from error
            raise
        if cassette.missed:
            raise _stale(path)
        if not (cassette.all_played or session.declined):
            unplayed = len(cassette) - len(cassette.play_counts)
            raise TapeError(f"{path}: {unplayed} recorded responses were not asked for.", "Record it again.")


@contextmanager
def recording(path: Path, about: Mapping[str, Any]) -> Iterator[Session]:
    """Let requests through and write them down, replacing the file when the block ends well.

    Identical requests are all kept, in order. ``about`` is stored with the seconds that the block took. A
    block that asked nothing leaves a file without interactions: that nothing is asked is what will be
    replayed.
    """
    meta = dict(about)
    with _opened(path, RecordMode.ALL, meta) as cassette:
        start = time.perf_counter()
        yield Session(cassette, meta)
        meta["seconds"] = round(time.perf_counter() - start, 2)
    if not len(cassette):  # vcrpy writes nothing then
        tape_file.write(path, TapeFile((), meta))


@contextmanager
def _opened(path: Path, mode: RecordMode, about: dict[str, Any]) -> Iterator[_Cassette]:
    if not _ONE_AT_A_TIME.acquire(blocking=False):
        raise TapeError(f"{path}: another recording is open.", "Open one at a time; use processes for more.")
    try:
        context = CassetteContextDecorator.from_args(
            _Cassette,
            path=str(path),
            persister=_Persister(about, fresh=mode == RecordMode.ALL),
            record_mode=mode,
            match_on=(_same,),
            before_record_response=_worth_keeping,
            skip_patchers=OTHER_CLIENTS,
            allow_playback_repeats=False,  # True would drop repeated requests while recording
            record_on_exception=False,
        )
        with context as cassette:
            yield cassette
    finally:
        _ONE_AT_A_TIME.release()


class _Cassette(Cassette):  # type: ignore[misc]
    """A cassette that remembers what it was asked in vain, however deep the error gets buried."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.missed: list[Request] = []

    def can_play_response_for(self, request: Request) -> bool:
        found = bool(super().can_play_response_for(request))
        if not found and self.record_mode == RecordMode.NONE:
            self.missed.append(request)
        return found


class _Persister:
    """Between vcrpy's dictionaries and our file."""

    def __init__(self, about: dict[str, Any], fresh: bool) -> None:
        self._about, self._fresh = about, fresh

    def load_cassette(self, path: str, serializer: object) -> tuple[list[Request], list[dict[str, Any]]]:
        del serializer
        if self._fresh:
            raise CassetteNotFoundError
        kept = tape_file.read(Path(path)).interactions
        return [_request(one) for one in kept], [_response(one) for one in kept]

    def save_cassette(self, path: str, cassette_dict: Mapping[str, Any], serializer: object) -> None:
        del serializer
        pairs = zip(cassette_dict["requests"], cassette_dict["responses"], strict=True)
        tape_file.write(Path(path), TapeFile(tuple(_interaction(*pair) for pair in pairs), self._about))


def _worth_keeping(response: dict[str, Any]) -> dict[str, Any] | None:
    if response["status"]["code"] in REFUSED:
        return None
    decoded: dict[str, Any] = decode_response(response)  # gzip would be unreadable in the file
    return decoded


def _same(one: Request, other: Request) -> bool:
    return (one.method, one.path, _digest(one)) == (other.method, other.path, _digest(other))


def _digest(request: Request) -> str:
    """SHA-256 of the canonical body, remembered on the request: it is compared with every recorded one."""
    known: str | None = getattr(request, "tape_digest", None)
    if known is None:
        known = body_digest(_raw(request))
        request.tape_digest = known
    return known


def body_digest(raw: bytes) -> str:
    """Return the SHA-256 of a JSON body whatever the order of its keys and its spaces."""
    with suppress(ValueError):  # what is not JSON is compared to the byte
        raw = json.dumps(json.loads(raw), sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(raw).hexdigest()


def _raw(request: Request) -> bytes:
    body: bytes | None = request.body_bytes
    return body or b""


def _request(one: Interaction) -> Request:
    return Request(one.method, f"http://tape{one.path}", one.request, {})


def _response(one: Interaction) -> dict[str, Any]:
    return {
        "status": {"code": one.status, "message": ""},
        "headers": {name: [value] for name, value in one.headers.items()},
        "body": {"string": one.response},
    }


def _interaction(request: Request, response: Mapping[str, Any]) -> Interaction:
    headers = {name: values[0] for name, values in response["headers"].items()}
    body = response["body"]["string"] or b""
    return Interaction(request.method, request.path, _raw(request), response["status"]["code"], headers, body)


def _is_miss(error: BaseException | None) -> bool:
    """Whether a miss lies at the bottom: the SDK reports it as "Connection error."."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, MISSES):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _stale(path: Path) -> TapeError:
    return TapeError(
        f"{path} holds no response to this request.", "Record it again: rag eval record --only changed."
    )
