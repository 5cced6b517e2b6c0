"""OpenReview: the papers of a venue, from API v2 or, for older venues, v1; notes are written as they come.

    OpenReview(v2, v1, "ICML.cc/2025/Conference").page(None)

Accepted papers carry the venue's id in ``content.venueid``; in the old API some venues have only their list
of submissions. Notes come 1000 at a time, in v2 sorted by id and from a given one on (``after``), as the
service's own client reads them, so that a note that is added meanwhile shifts nothing. Both APIs may want a
login for this, which gives a token for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rag.errors import ProviderError
from rag.fetch.source import Page, Record, message, parsed, refusal
from rag.ports import Reply, Service

BASE_URL = "https://api2.openreview.net"
BASE_URL_V1 = "https://api.openreview.net"
PAUSE = 1.0
_PAGE = 1000
_LOGIN = "Set OPENREVIEW_USERNAME and OPENREVIEW_PASSWORD to those of an account at openreview.net."


@dataclass(frozen=True, slots=True)
class Account:
    """An account at openreview.net."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Plan:
    """One way to ask for a venue."""

    name: str
    new_api: bool
    params: Mapping[str, str]


class OpenReview:
    """The papers of ``venue``.

    Args:
        v2, v1: the two APIs.
        everything: also what was submitted and not accepted, as far as it is public.
        account: who logs in; None asks without.
    """

    who = "OpenReview"

    def __init__(
        self,
        v2: Service,
        v1: Service,
        venue: str,
        *,
        everything: bool = False,
        account: Account | None = None,
    ) -> None:
        self._apis = {True: _Api(v2, account), False: _Api(v1, account)}
        self._venue = venue
        self._everything = everything
        self._plans = _plans(venue, everything)

    @property
    def request(self) -> Mapping[str, object]:
        return {"service": "openreview", "venue": self._venue, "everything": self._everything}

    def page(self, cursor: str | None) -> Page:
        if cursor:
            name, after = cursor.split(" ", 1)
            return self._ask(next(plan for plan in self._plans if plan.name == name), after)
        for plan in self._plans:
            page = self._ask(plan, "")
            if page.records:
                return page
        return Page((), None, 0)

    def identifier(self, record: Record) -> str:
        return str(record.get("id"))

    def nothing(self) -> tuple[str, str]:
        more = "" if self._everything else ", or add --all for papers that were not accepted"
        return (
            f"OpenReview shows no papers of the venue {self._venue!r}.",
            f"Take its id from the address of its page (openreview.net/group?id=...){more}.",
        )

    def _ask(self, plan: _Plan, after: str) -> Page:
        params = {**plan.params, "limit": str(_PAGE)}
        if plan.new_api:
            params |= {"sort": "id", **({"after": after} if after else {"count": "true"})}
        else:
            params |= {"offset": after or "0"}
        reply = self._apis[plan.new_api].ask(params)
        if reply.status in (400, 404) and not after:
            return Page((), None)  # this API has no such venue or invitation
        notes, total = _notes(reply)
        if len(notes) < _PAGE:
            return Page(tuple(notes), None, total)
        following = notes[-1].get("id") if plan.new_api else int(after or 0) + len(notes)
        return Page(tuple(notes), f"{plan.name} {following}", total)


class _Api:
    """One of the two APIs, logged in to when it is first asked."""

    def __init__(self, service: Service, account: Account | None) -> None:
        self._service = service
        self._account = account
        self._headers: Mapping[str, str] | None = None

    def ask(self, params: Mapping[str, str]) -> Reply:
        if self._headers is None:
            self._headers = self._logged_in(self._account) if self._account else {}
        reply = self._service.ask("notes", params, headers=self._headers)
        if reply.status in (401, 403):
            raise refusal("OpenReview", reply, "" if self._account else _LOGIN)
        return reply

    def _logged_in(self, account: Account) -> Mapping[str, str]:
        reply = self._service.ask("login", body={"id": account.username, "password": account.password})
        value = parsed("OpenReview", reply) if reply.status == 200 else None
        token = value.get("token") if isinstance(value, Mapping) else None
        if not isinstance(token, str):
            reason = "it wants a second factor" if reply.status == 200 else message(reply.body)
            raise ProviderError(f"OpenReview did not log in {account.username}: {reason}.", _LOGIN)
        return {"Authorization": f"Bearer {token}"}


def _plans(venue: str, everything: bool) -> tuple[_Plan, ...]:
    submitted = (
        _Plan("v1-blind", False, {"invitation": f"{venue}/-/Blind_Submission"}),
        _Plan("v1-open", False, {"invitation": f"{venue}/-/Submission"}),
    )
    if everything:
        return (_Plan("v2-all", True, {"invitation": f"{venue}/-/Submission"}), *submitted)
    accepted = {"content.venueid": venue}
    return (_Plan("v2", True, accepted), _Plan("v1", False, accepted), *submitted)


def _notes(reply: Reply) -> tuple[list[Record], int | None]:
    value = parsed("OpenReview", reply)
    notes = value.get("notes") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(notes, list):
        raise ProviderError("OpenReview answered without notes.", "Check the address in the settings.")
    count = value.get("count")
    return [note for note in notes if isinstance(note, Mapping)], count if isinstance(count, int) else None
