"""A web service asked politely: at its own pace, under our name, and again when it says that it is busy.

    arxiv = PoliteHttp("arXiv", "https://export.arxiv.org/api", pause=3.0)
    arxiv.ask("query", {"id_list": "2502.14565"}).body

Why not the clients that exist (tried against a server that is busy): ``semanticscholar`` 0.12 takes a 503 for
an answer and reports every paper of that batch as unknown; ``arxiv`` 4.0 keeps its pace but does not mind
Retry-After, has no timeout, and names only itself as the caller; ``openreview-py`` 2.9 is thorough and
asks for ten packages, two of them compiled. What all three services need is this file.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import httpx

from rag import __version__
from rag.errors import ProviderError
from rag.ports import Reply

USER_AGENT = f"citerag/{__version__}"
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
# Whoever is told to come back later than this is better served by running the command again.
PATIENCE = 300.0
LONGEST_BACKOFF = 60.0


class PoliteHttp:
    """One service; implements ``rag.ports.Service``.

    Args:
        who: its name in messages.
        base_url: what paths are relative to.
        pause: seconds from one request to the next.
        timeout: seconds to wait for a sign of life.
        retries: further tries of one request.
        headers: sent with every request, to this service only.
        note: told what is waited for.
        hint: what may help when it stays busy.
    """

    def __init__(
        self,
        who: str,
        base_url: str,
        *,
        pause: float,
        timeout: float = 60.0,
        retries: int = 4,
        headers: Mapping[str, str] | None = None,
        note: Callable[[str], None] = lambda _: None,
        hint: str = "",
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._who, self._base, self._pause, self._retries = who, base_url.rstrip("/"), pause, retries
        self._note, self._hint, self._sleep, self._clock = note, hint, sleep, clock
        self._next = clock()
        self._client = httpx.Client(
            headers={"User-Agent": USER_AGENT, **(headers or {})},
            timeout=timeout,
            # A redirection to another host would carry a key of ours along.
            follow_redirects=not headers,
        )

    def close(self) -> None:
        self._client.close()

    def ask(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """See ``rag.ports.Service``."""
        reason, advised = "", None
        for attempt in range(self._retries + 1):
            if attempt:
                self._wait(attempt, reason, advised)
            self._keep_pace()
            try:
                response = self._send(path, params, body, headers)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                reason, advised = f"{type(error).__name__}: {error}", None
                if _is_unknown(error):
                    raise self._failed(f"its name is not known here, is there a network? ({error})") from None
                continue
            if response.status_code not in BUSY:
                return Reply(response.status_code, response.content)
            reason = f"HTTP {response.status_code}"
            advised = retry_after(response.headers.get("Retry-After", ""))
        raise self._failed(reason)

    def _send(
        self, path: str, params: Mapping[str, str] | None, body: object, headers: Mapping[str, str] | None
    ) -> httpx.Response:
        method, content = ("GET", None) if body is None else ("POST", body)
        return self._client.request(
            method, f"{self._base}/{path}", params=params, json=content, headers=headers
        )

    def _keep_pace(self) -> None:
        early = self._next - self._clock()
        if early > 0:
            self._sleep(early)
        self._next = self._clock() + self._pause

    def _wait(self, attempt: int, reason: str, advised: float | None) -> None:
        backoff = min(LONGEST_BACKOFF, max(self._pause, 1.0) * 2 ** (attempt - 1))
        wait = backoff if advised is None else max(advised, self._pause)
        if wait > PATIENCE:
            raise self._failed(f"{reason}, come back in {wait / 60:.0f} minutes")
        state = "is busy" if reason.startswith("HTTP ") else "cannot be reached"
        self._note(f"{self._who} {state} ({reason}); asking again in {wait:.0f} s.")
        self._sleep(wait)

    def _failed(self, reason: str) -> ProviderError:
        host = urlsplit(self._base).netloc or self._base
        remedy = "Run the same command again later: it goes on where it stopped."
        return ProviderError(f"{self._who} ({host}) failed: {reason}.", f"{remedy} {self._hint}".rstrip())


def _is_unknown(error: BaseException | None) -> bool:
    """Whether a request failed because the host has no address, which no waiting mends."""
    while error is not None:
        if isinstance(error, socket.gaierror):
            return True
        error = error.__cause__ or error.__context__
    return False


def retry_after(value: str) -> float | None:
    """Return the seconds that a Retry-After header asks for, given as seconds or as a date.

    >>> retry_after("120"), retry_after("soon")
    (120.0, None)
    """
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
