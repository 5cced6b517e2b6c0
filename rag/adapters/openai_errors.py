"""Turns what the openai SDK raises into one line that names the server and what to do about it.

    401  ->  "api.openai.com refused the key (401). Check OPENAI_API_KEY."
    404  ->  "127.0.0.1:8089 has no model 'qwen'. It offers qwen2.5-coder, llama3."

No line ever holds a key, not even one that the server repeats in its message.
"""

from __future__ import annotations

import difflib
import email.utils
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import openai

from rag.errors import ProviderError, RagError

LONGEST_WAIT = 60.0
_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
# Not "billing" or "credit" alone: an ordinary limit of requests may end in an advertisement for more.
_NO_CREDIT = re.compile(
    r"insufficient[ _](?:quota|credits?|balance|funds)|exceeded your current quota"
    r"|billing_(?:hard_limit|not_active)|(?:no|out of|not enough|requires? more) credits?"
    r"|credit balance is too low|payment required",
    re.I,
)
_MERE_RATE = re.compile(r"rate_limit_exceeded|(?:try|retry)(?: again)? in \d", re.I)
_WRONG_KEY = re.compile(
    r"api[ _-]?key|unauthori[sz]ed|authenticat|credentials|\btoken\b|permission_denied", re.I
)
_NO_MODEL = re.compile(r"model[^.]{0,80}(not (exist|found|valid|available)|does not exist|unknown)", re.I)
_NO_MODEL_CODES = re.compile(r"model_not_found|invalid[ _]model|unknown[ _]model", re.I)
_TOO_LONG = re.compile(
    r"context[ _](length|window|size)|exceed_context|maximum context|prompt is too long|too many tokens", re.I
)
_DROPPED = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError, httpx.CloseError)


class NotAReply(Exception):
    """The server answered 200 with something that is no chat completion."""


@dataclass(frozen=True, slots=True)
class Server:
    """What error lines need to know of the server."""

    base_url: str
    model: str
    timeout: float
    key_name: str = "OPENAI_API_KEY"
    api_key: str | None = field(default=None, repr=False)

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc.rpartition("@")[2] or self.base_url

    def clean(self, text: str) -> str:
        """A server's message as one short line without the key."""
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        if self.api_key:
            line = line.replace(self.api_key, "***")
        line = re.sub(r"\b(sk|key|gsk|xai)-[\w*-]{6,}", "***", line)
        return line if len(line) <= 200 else line[:199] + "…"


def complaint(error: BaseException) -> str | None:
    """The text of a refusal that may name a parameter the server does not take; None for other errors."""
    if isinstance(error, openai.APIStatusError) and error.status_code in (400, 415, 422, 501):
        return f"{error.message} {error.param or ''} {error.body or ''}"
    return None


def wait_before_retry(error: BaseException, attempt: int) -> float | None:
    """Seconds to wait before trying again, or None when that is no use. ``attempt`` counts from 0.

    A server that names its time is obeyed up to ``LONGEST_WAIT``; beyond that, the user decides.
    """
    if isinstance(error, openai.APIStatusError):
        if error.status_code not in _AGAIN or (error.status_code == 429 and _is_broke(error)):
            return None
        asked = _retry_after(error.response.headers)
        if asked is not None:
            return asked if asked <= LONGEST_WAIT else None
        return _backoff(attempt)
    dropped = _transport(error)
    if isinstance(dropped, _DROPPED):
        return _backoff(attempt)
    if type(error) is openai.APIError and not _TOO_LONG.search(
        _said(error)
    ):  # an error event inside the stream
        return _backoff(attempt)
    return None


def translate(error: BaseException, server: Server, offered: Callable[[], Sequence[str] | None]) -> RagError:
    """Return our own error for one of the SDK's.

    Args:
        offered: asks the server for its models; None when it does not say.
    """
    for cause in _causes(error):
        if isinstance(cause, RagError):  # a transport of our own (recorded responses) knows better
            return cause
    if isinstance(error, NotAReply):
        return ProviderError(
            f"{server.host} {error}.", f"Check the base URL {server.base_url}; most end in /v1."
        )
    if isinstance(error, openai.APIStatusError):
        return _status(error, server, offered)
    return _connection(error, server)


def _status(
    error: openai.APIStatusError, server: Server, offered: Callable[[], Sequence[str] | None]
) -> ProviderError:
    code, said, host = error.status_code, server.clean(_message(error)), server.host
    whole = _said(error)
    unknown = bool(_NO_MODEL.search(whole) or _NO_MODEL_CODES.search(whole))
    if code == 401 or (code == 403 and not unknown):
        return _forbidden(code, said, whole, server)
    if _TOO_LONG.search(whole) or code == 413:
        return _too_long(server)
    if code == 404 or unknown:
        return _unknown_model(server, code, offered())
    if code == 429:
        return _limit(error, server, said)
    if code >= 500:
        return ProviderError(
            f"{host} failed ({code}): {said}", "Try again later, or look into the server's log."
        )
    return ProviderError(f"{host} refused the request ({code}): {said}", "Check model and base_url.")


def _forbidden(code: int, said: str, whole: str, server: Server) -> ProviderError:
    """Tell a wrong key from what the right one may not do: a 403 may mean the country or the account."""
    if code == 403 and server.api_key and said and not _WRONG_KEY.search(whole):
        return ProviderError(
            f"{server.host} does not allow this (403): {said}",
            f"Ask there what {server.key_name} may do, or use another server.",
        )
    remedy = f"Check {server.key_name}." if server.api_key else f"Set {server.key_name}."
    return ProviderError(
        f"{server.host} {'refused' if server.api_key else 'wants'} the key ({code}).", remedy
    )


def _unknown_model(server: Server, code: int, offered: Sequence[str] | None) -> ProviderError:
    if offered is None and code == 404:
        return ProviderError(
            f"{server.base_url} offers no chat completions (404).", "Check the base URL; most end in /v1."
        )
    if not offered:
        return ProviderError(f"{server.host} has no model {server.model!r}.", "Set RAG_MODEL to one it has.")
    if server.model in offered and code == 403:
        return ProviderError(
            f"{server.host} has the model {server.model!r}, but not for this key (403).",
            f"Choose another, or ask there what {server.key_name} may use.",
        )
    if server.model in offered:
        return ProviderError(
            f"{server.host} lists the model {server.model!r} but does not chat with it ({code}).",
            "Choose a chat model.",
        )
    return ProviderError(
        f"{server.host} has no model {server.model!r}.", f"It offers {_nearest(server.model, offered)}."
    )


def _nearest(wanted: str, offered: Sequence[str], show: int = 5) -> str:
    ranked = sorted(offered, key=lambda name: (-difflib.SequenceMatcher(None, wanted, name).ratio(), name))
    more = f" and {len(ranked) - show} more" if len(ranked) > show else ""
    return ", ".join(ranked[:show]) + more


def _is_broke(error: openai.APIStatusError) -> bool:
    """Whether the account cannot pay, which waiting does not mend."""
    said = _said(error)
    return bool(_NO_CREDIT.search(said)) and not (_MERE_RATE.search(said) and "insufficient" not in said)


def _limit(error: openai.APIStatusError, server: Server, said: str) -> ProviderError:
    if _is_broke(error):
        return ProviderError(
            f"The account at {server.host} has no credit left (429).", "Top it up, or use another."
        )
    asked = _retry_after(error.response.headers)
    wait = f"Try again in {asked:.0f} s." if asked else "Wait a little and try again."
    return ProviderError(f"{server.host} is at its limit (429): {said}", wait)


def _too_long(server: Server) -> ProviderError:
    return ProviderError(
        f"The papers and the question are too long for {server.model} at {server.host}.",
        "Lower evidence_tokens (RAG_EVIDENCE_TOKENS) or --top, or set context_window to what the model has.",
    )


def _connection(error: BaseException, server: Server) -> ProviderError:
    cause = _transport(error)
    host = server.host
    if isinstance(error, openai.APITimeoutError) or isinstance(cause, httpx.TimeoutException):
        return ProviderError(
            f"{host} did not answer within {server.timeout:g} s.",
            "Raise timeout (RAG_TIMEOUT), or ask for less.",
        )
    if isinstance(cause, httpx.ConnectError):
        return ProviderError(
            f"No server answers at {host}: {server.clean(str(cause))}.",
            f"Start it, or check the base URL {server.base_url}.",
        )
    if isinstance(cause, _DROPPED):
        return ProviderError(f"The connection to {host} broke off in the middle of the reply.", "Try again.")
    return _broken_reply(error, cause, server)


def _broken_reply(error: BaseException, cause: BaseException, server: Server) -> ProviderError:
    host = server.host
    if isinstance(error, openai.APIError) and _TOO_LONG.search(_said(error)):
        return _too_long(server)
    if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        return ProviderError(f"{host} gave up on the reply: {server.clean(error.message)}", "Try again.")
    if isinstance(error, ValueError):
        return ProviderError(
            f"{host} sent a reply that is not JSON.", f"Check the base URL {server.base_url}."
        )
    return ProviderError(
        f"No connection to {host}: {server.clean(str(cause))}", "Check base_url and network."
    )


def _message(error: openai.APIError) -> str:
    body = error.body
    if isinstance(body, dict):
        for key in ("message", "error", "detail"):
            if isinstance(body.get(key), str):
                return str(body[key])
    return "no reason given" if re.search(r"<(!doctype|html)", error.message, re.I) else error.message


def _said(error: openai.APIError) -> str:
    return f"{error.message} {error.code or ''} {error.type or ''} {error.body or ''}"


def _causes(error: BaseException | None) -> list[BaseException]:
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain


def _transport(error: BaseException) -> BaseException:
    """The httpx error below the SDK's, or the error itself."""
    return next((cause for cause in _causes(error) if isinstance(cause, httpx.TransportError)), error)


def _backoff(attempt: int) -> float:
    return float(min(0.5 * 2**attempt, 8.0))


def _retry_after(headers: httpx.Headers) -> float | None:
    """Seconds of ``retry-after-ms`` or ``retry-after`` (a number or an HTTP date)."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return max(0.0, float(headers["retry-after"]))
    except KeyError:
        return None
    except ValueError:
        when = email.utils.parsedate_tz(headers.get("retry-after", ""))
        return max(0.0, email.utils.mktime_tz(when) - time.time()) if when else None
