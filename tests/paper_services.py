"""Small servers on 127.0.0.1 that answer as arXiv, OpenReview and Semantic Scholar do, busy moments included.

    with serving(arxiv(papers)) as server:
        server.faults = [None, (503, {}), (429, {"Retry-After": "7"})]     # what the next requests meet

``server.requests`` holds what arrived.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from xml.sax.saxutils import escape

Fault = tuple[int, Mapping[str, str]] | None


@dataclass(frozen=True)
class Request:
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: Any


Answer = Callable[[Request], tuple[int, bytes]]


@dataclass
class Server:
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def asked(self, name: str) -> list[str | None]:
        """The values of a parameter, request by request."""
        return [request.params.get(name) for request in self.requests]


@contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(
                parts.path.strip("/"),
                dict(parse_qsl(parts.query)),
                {name.lower(): value for name, value in self.headers.items()},
                json.loads(raw) if raw else None,
            )
            server.requests.append(request)
            fault = server.faults.pop(0) if server.faults else None
            status, headers = fault or (0, {})
            self.reply(*((status, b"busy") if fault else answer(request)), headers)

        do_POST = do_GET

        def reply(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


# arXiv: an Atom feed; errors are a feed with one entry.

_FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <link href="http://arxiv.org/api/query?x" rel="self" type="application/atom+xml"/>
  <title type="html">ArXiv Query</title>
  <id>http://arxiv.org/api/cHxbiOdZaP56ODnBPIenZhzg5f8</id>
  <updated>2025-07-30T00:00:00-04:00</updated>
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">{total}</opensearch:totalResults>
  <opensearch:startIndex xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">0</opensearch:startIndex>
{entries}</feed>
"""
_ENTRY = """  <entry>
    <id>http://arxiv.org/abs/{id}</id>
    <updated>2025-07-01T09:00:00Z</updated>
    <published>2024-11-20T13:50:02Z</published>
    <title>{title}</title>
    <summary>  {abstract}
</summary>
    <author>
      <name>Ann Lee</name>
      <arxiv:affiliation xmlns:arxiv="http://arxiv.org/schemas/atom">Somewhere</arxiv:affiliation>
    </author>
    <author><name>Bo Åkesson</name></author>
    <arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">9 pages</arxiv:comment>
    <arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">10.1234/{number}</arxiv:doi>
    <link href="http://arxiv.org/abs/{id}" rel="alternate" type="text/html"/>
    <category term="cs.CL" scheme="http://arxiv.org/schemas/atom"/>
    <category term="cs.LG" scheme="http://arxiv.org/schemas/atom"/>
  </entry>
"""
_ERROR = """  <entry>
    <id>http://arxiv.org/api/errors#{reason}</id>
    <title>Error</title>
    <summary>{reason}</summary>
  </entry>
"""


def abstract(number: int) -> str:
    return f"We study method {number} & find that it gains {number}.5% over a baseline while x < y holds."


def arxiv_id(number: int) -> str:
    return f"2501.{number:05}"


def arxiv(papers: int, *, error: str = "") -> Answer:
    """Papers 2501.00000v2, ... ; with ``error`` every request is refused with it."""

    def entry(number: int) -> str:
        return _ENTRY.format(
            id=f"{arxiv_id(number)}v2",
            number=number,
            title=f"Method\n  {number}",
            abstract=escape(abstract(number)),
        )

    def answer(request: Request) -> tuple[int, bytes]:
        if error:
            return 400, _FEED.format(total=1, entries=_ERROR.format(reason=error)).encode()
        if ids := request.params.get("id_list"):
            bare = [each.partition("v")[0] for each in ids.split(",")]
            numbers: Sequence[int] = [n for n in range(papers) if arxiv_id(n) in bare]
            total = len(numbers)
        else:
            start, size = int(request.params["start"]), int(request.params["max_results"])
            numbers, total = range(start, min(start + size, papers)), papers
        return 200, _FEED.format(total=total, entries="".join(map(entry, numbers))).encode()

    return answer


# OpenReview: notes of a venue, v2 after an id, v1 from an offset.


def note(number: int, venue: str, *, new_api: bool = True) -> dict[str, Any]:
    content: dict[str, Any] = {
        "title": f"Method {number}",
        "authors": ["Ann Lee", "Bo Åkesson"],
        "abstract": abstract(number),
        "venue": "ICML 2025 poster",
        "venueid": venue,
    }
    if new_api:
        content = {name: {"value": value} for name, value in content.items()}
    id_ = f"id{number:05}"
    return {"id": id_, "forum": id_, "cdate": 1738000000000, "invitations": [f"{venue}/-/Submission"]} | {
        "content": content
    }


def openreview(
    accepted: Mapping[str, int], *, new_api: bool = True, invitations: Mapping[str, int] | None = None
) -> Answer:
    """Venues with so many accepted papers, and invitations with so many submissions."""

    def answer(request: Request) -> tuple[int, bytes]:
        if request.path == "login":
            right = request.body == {"id": "ann@example.org", "password": "secret"}
            reply = {"token": "t0k3n", "user": {}} if right else {"message": "Invalid username or password"}
            return (200 if right else 400), json.dumps(reply).encode()
        params = request.params
        venue, invitation = params.get("content.venueid", ""), params.get("invitation", "")
        if invitation and invitation not in (invitations or {}):
            return 404, json.dumps({"name": "NotFoundError", "message": "Invitation not found"}).encode()
        count = (invitations or {})[invitation] if invitation else accepted.get(venue, 0)
        notes = [note(n, venue or "V", new_api=new_api) for n in range(count)]
        if after := params.get("after"):
            notes = [each for each in notes if each["id"] > after]
        notes = notes[int(params.get("offset", 0)) :][: int(params["limit"])]
        return 200, json.dumps({"notes": notes, "count": count}).encode()

    return answer


def challenge(_: Request) -> tuple[int, bytes]:
    """What OpenReview tells programs that are not logged in."""
    value = {"name": "ChallengeRequiredError", "message": "Challenge verification is required", "status": 403}
    return 403, json.dumps(value).encode()


# Semantic Scholar: a list in the order of the identifiers, null for those it does not know.


def semantic_scholar(known: Mapping[str, int]) -> Answer:
    def paper(number: int) -> dict[str, Any]:
        return {
            "paperId": f"{number:040x}",
            "corpusId": number,
            "externalIds": {"ArXiv": arxiv_id(number), "DOI": f"10.1234/{number}"},
            "url": f"https://www.semanticscholar.org/paper/{number:040x}",
            "title": f"Method {number}",
            "abstract": abstract(number),
            "venue": "ICML",
            "year": 2025,
            "authors": [{"authorId": "1", "name": "Ann Lee"}],
        }

    def answer(request: Request) -> tuple[int, bytes]:
        ids = request.body["ids"]
        if not any(id_ in known for id_ in ids):
            return 400, json.dumps({"error": "No valid paper ids given"}).encode()
        return 200, json.dumps([paper(known[id_]) if id_ in known else None for id_ in ids]).encode()

    return answer
