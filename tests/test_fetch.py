"""Fetching from services that page, are busy, break off, know nothing; and the file that grows meanwhile."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import filelock
import paper_services
import pytest
from paper_services import Request, Server, arxiv_id, serving

from rag import __version__, corpus
from rag.adapters.polite_http import PoliteHttp, retry_after
from rag.errors import EnvironmentFault, ProviderError, UsageError
from rag.fetch import ArXiv, OpenReview, Report, SemanticScholar, fetch, semantic_scholar
from rag.fetch import arxiv as arxiv_module
from rag.fetch.openreview import Account
from rag.fetch.source import Source
from rag.records import Paper

ROOT = Path(__file__).parents[1]


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def polite(clock: Clock) -> Iterator[Any]:
    """Make services that wait on ``clock``."""
    made: list[PoliteHttp] = []

    def make(server: Server | str, who: str = "arXiv", pause: float = 3.0, **options: Any) -> PoliteHttp:
        url = server if isinstance(server, str) else server.url
        made.append(PoliteHttp(who, url, pause=pause, sleep=clock.sleep, clock=clock, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def papers(file: Path) -> list[Paper]:
    found = list(corpus.read(file))
    assert all(isinstance(each, Paper) for each in found), found
    return [each for each in found if isinstance(each, Paper)]


def left(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


# What the services give


def test_arxiv_query_is_paged_and_paced(tmp_path: Path, polite: Any, clock: Clock) -> None:
    out = tmp_path / "out.jsonl"
    told: list[tuple[int, int]] = []
    with serving(paper_services.arxiv(450)) as server:
        source = ArXiv(polite(server), query="test-time training")
        report = fetch(source, out, progress=lambda done, total: told.append((done, total)))
    assert report == Report(str(out), records=450, fetched=450, kept=0)
    assert server.asked("start") == ["0", "200", "400"]
    assert server.asked("max_results") == ["200", "200", "200"]
    assert set(server.asked("search_query")) == {"all:test-time AND all:training"}
    assert {request.headers["user-agent"] for request in server.requests} == {f"citerag/{__version__}"}
    assert clock.slept == [3.0, 3.0]
    assert told == [(0, 0), (200, 450), (400, 450)]
    first = papers(out)[0]
    assert (first.title, first.authors, first.year) == ("Method 0", ("Ann Lee", "Bo Åkesson"), 2024)
    assert (first.arxiv_id, first.doi) == ("2501.00000v2", "10.1234/0")
    assert first.abstract == paper_services.abstract(0)
    assert left(tmp_path) == [".out.jsonl.fetch", "out.jsonl"]


def test_arxiv_query_ends_at_the_number_wanted(tmp_path: Path, polite: Any) -> None:
    with serving(paper_services.arxiv(450)) as server:
        source = ArXiv(polite(server), query="ti:method", most=250, newest=True)
        assert fetch(source, tmp_path / "out.jsonl").records == 250
    assert server.asked("max_results") == ["200", "50"]
    assert set(server.asked("sortBy")) == {"submittedDate"}


def test_arxiv_identifiers_in_parts_and_those_that_are_missing(tmp_path: Path, polite: Any) -> None:
    ids = [*map(arxiv_id, range(149)), "2501.00003v1", "2512.99999", arxiv_id(5)]
    with serving(paper_services.arxiv(149)) as server:
        report = fetch(ArXiv(polite(server), ids=ids), tmp_path / "out.jsonl")
    assert (report.records, report.missing) == (149, ("2512.99999",))
    assert [len((asked or "").split(",")) for asked in server.asked("id_list")] == [100, 51]


def test_arxiv_explains_what_it_refuses(tmp_path: Path, polite: Any) -> None:
    with (
        serving(paper_services.arxiv(1, error="incorrect id format for 99")) as server,
        pytest.raises(UsageError, match=r"arXiv refused: incorrect id format for 99\."),
    ):
        fetch(ArXiv(polite(server), query="ti:("), tmp_path / "out.jsonl")


def test_arxiv_empty_page_in_the_middle_is_not_the_end(tmp_path: Path, polite: Any) -> None:
    whole, out = paper_services.arxiv(300), tmp_path / "out.jsonl"
    empty = 3

    def answer(request: Request) -> tuple[int, bytes]:
        nonlocal empty
        status, body = whole(request)
        if request.params["start"] == "200" and empty:
            empty -= 1
            body = body[: body.index(b"  <entry>")] + b"</feed>"
        return status, body

    with serving(answer) as server:
        with pytest.raises(ProviderError, match=r"empty page 3 times at result 200 of 300"):
            fetch(ArXiv(polite(server), query="x"), out)
        report = fetch(ArXiv(polite(server), query="x"), out)
    assert (report.records, report.kept) == (300, 200)
    assert server.asked("start") == ["0", "200", "200", "200", "200"]


def test_openreview_goes_on_after_the_last_note(tmp_path: Path, polite: Any) -> None:
    out, venue = tmp_path / "icml.jsonl", "ICML.cc/2025/Conference"
    with serving(paper_services.openreview({venue: 2300})) as new, serving(paper_services.challenge) as old:
        report = fetch(OpenReview(polite(new), polite(old), venue), out)
    assert (report.records, old.requests) == (2300, [])
    assert new.asked("after") == [None, "id00999", "id01999"]
    found = papers(out)
    assert (len(found), found[7].title, found[7].authors) == (2300, "Method 7", ("Ann Lee", "Bo Åkesson"))
    assert found[7].url == "https://openreview.net/forum?id=id00007"
    assert (found[7].venue, found[7].year) == ("ICML", 2025)


@pytest.mark.parametrize("new_api", [True, False])
def test_openreview_with_a_full_last_page(new_api: bool, tmp_path: Path, polite: Any) -> None:
    full, none = paper_services.openreview({"V": 2000}, new_api=new_api), paper_services.openreview({})
    with serving(full if new_api else none) as new, serving(none if new_api else full) as old:
        assert fetch(OpenReview(polite(new), polite(old), "V"), tmp_path / "out.jsonl").records == 2000


def test_openreview_older_venues_are_in_the_old_api(tmp_path: Path, polite: Any) -> None:
    venue = "NeurIPS.cc/2022/Conference"
    with (
        serving(paper_services.openreview({})) as new,
        serving(paper_services.openreview({venue: 1001}, new_api=False)) as old,
    ):
        report = fetch(OpenReview(polite(new), polite(old), venue), tmp_path / "out.jsonl")
    assert report.records == 1001
    assert (len(new.requests), old.asked("offset")) == (1, ["0", "1000"])
    assert papers(tmp_path / "out.jsonl")[1000].title == "Method 1000"


def test_openreview_submissions_where_nothing_is_marked_accepted(tmp_path: Path, polite: Any) -> None:
    venue = "ICLR.cc/2019/Conference"
    blind = paper_services.openreview({}, new_api=False, invitations={f"{venue}/-/Blind_Submission": 4})
    with serving(paper_services.openreview({})) as new, serving(blind) as old:
        source = OpenReview(polite(new), polite(old), venue, everything=True)
        assert fetch(source, tmp_path / "out.jsonl").records == 4
    assert new.asked("invitation") == [f"{venue}/-/Submission"]


def test_openreview_unknown_venue(tmp_path: Path, polite: Any) -> None:
    with (
        serving(paper_services.openreview({})) as new,
        serving(paper_services.openreview({}, new_api=False)) as old,
        pytest.raises(UsageError, match=r"no papers of the venue 'ICML'.*group\?id=") as caught,
    ):
        fetch(OpenReview(polite(new), polite(old), "ICML"), tmp_path / "out.jsonl")
    assert "--all" in caught.value.remedy
    assert left(tmp_path) == []


def test_openreview_login(tmp_path: Path, polite: Any) -> None:
    account = Account("ann@example.org", "secret")
    with serving(paper_services.openreview({"V": 1})) as server:
        source = OpenReview(polite(server), polite(server), "V", account=account)
        assert fetch(source, tmp_path / "out.jsonl").records == 1
    assert [request.headers.get("authorization") for request in server.requests] == [None, "Bearer t0k3n"]
    assert "secret" not in repr(account)


def test_openreview_that_wants_a_login_says_how(tmp_path: Path, polite: Any) -> None:
    with serving(paper_services.challenge) as server, pytest.raises(ProviderError) as caught:
        fetch(OpenReview(polite(server), polite(server), "V"), tmp_path / "out.jsonl")
    assert "(HTTP 403): Challenge verification is required" in caught.value.message
    assert "OPENREVIEW_USERNAME" in caught.value.remedy
    wrong = Account("ann@example.org", "wrong")
    with (
        serving(paper_services.openreview({"V": 1})) as server,
        pytest.raises(ProviderError, match=r"did not log in ann@example\.org: Invalid username or password"),
    ):
        fetch(OpenReview(polite(server), polite(server), "V", account=wrong), tmp_path / "out.jsonl")


def test_semantic_scholar_batches_and_unknown_papers(tmp_path: Path, polite: Any) -> None:
    known = {f"CorpusId:{n}": n for n in range(1, 600)}
    ids = [f"CorpusId:{n}" for n in range(1, 602)]
    with serving(paper_services.semantic_scholar(known)) as server:
        service = polite(server, headers={"x-api-key": "k3y"})
        report = fetch(SemanticScholar(service, ids), tmp_path / "out.jsonl")
    assert (report.records, report.missing) == (599, ("CorpusId:600", "CorpusId:601"))
    assert [len(request.body["ids"]) for request in server.requests] == [500, 101]
    assert server.requests[0].headers["x-api-key"] == "k3y"
    paper = papers(tmp_path / "out.jsonl")[0]
    assert (paper.arxiv_id, paper.doi, paper.year) == ("2501.00001", "10.1234/1", 2025)


def test_semantic_scholar_that_knows_none(tmp_path: Path, polite: Any) -> None:
    with (
        serving(paper_services.semantic_scholar({})) as server,
        pytest.raises(UsageError, match="none of these 2 papers"),
    ):
        fetch(SemanticScholar(polite(server), ["CorpusId:1", "CorpusId:2"]), tmp_path / "out.jsonl")


@pytest.mark.parametrize("body", [b"<html>gateway</html>", b"{}", b"[]", b"[1, 2", b"\xff\xfe"])
def test_nonsense_is_one_line(body: bytes, tmp_path: Path, polite: Any) -> None:
    with serving(lambda _: (200, body)) as server:
        service = polite(server)
        for source in (
            ArXiv(service, query="x"),
            OpenReview(service, service, "V"),
            SemanticScholar(service, ["CorpusId:1"]),
        ):
            with pytest.raises(ProviderError) as caught:
                fetch(source, tmp_path / "out.jsonl", again=True)
            assert source.who in caught.value.message
            assert "\n" not in str(caught.value)


# Busy, gone, redirected


def test_busy_services_are_asked_again_when_they_say(tmp_path: Path, polite: Any, clock: Clock) -> None:
    notes: list[str] = []
    with serving(paper_services.arxiv(450)) as server:
        server.faults = [None, (503, {}), (429, {"Retry-After": "7"}), None, (502, {"Retry-After": "soon"})]
        report = fetch(ArXiv(polite(server, note=notes.append), query="x"), tmp_path / "out.jsonl")
    assert (report.records, len(papers(tmp_path / "out.jsonl"))) == (450, 450)
    assert server.asked("start") == ["0", "200", "200", "200", "400", "400"]
    assert clock.slept == [3.0, 3.0, 7.0, 3.0, 3.0]
    assert notes[1] == "arXiv is busy (HTTP 429); asking again in 7 s."


def test_a_host_without_an_address_is_not_waited_for(
    polite: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(ProviderError, match="its name is not known here, is there a network"):
        polite("http://arxiv.invalid/api").ask("query")
    assert clock.slept == []


def test_backoff_doubles_up_to_the_last_try(polite: Any, clock: Clock) -> None:
    with serving(paper_services.arxiv(1)) as server:
        server.faults = [(503, {})] * 7
        with pytest.raises(ProviderError, match=r"failed: HTTP 503\. Run the same command again later"):
            polite(server, retries=6).ask("query")
    assert clock.slept == [3.0, 6.0, 12.0, 24.0, 48.0, 60.0]
    assert len(server.requests) == 7


def test_a_long_wait_is_left_to_the_user_and_nothing_is_lost(
    tmp_path: Path, polite: Any, clock: Clock
) -> None:
    out = tmp_path / "out.jsonl"
    with serving(paper_services.arxiv(300)) as server:
        server.faults = [None, (429, {"Retry-After": "3600"})]
        with pytest.raises(ProviderError, match="come back in 60 minutes") as caught:
            fetch(ArXiv(polite(server, hint="Get a key."), query="x"), out)
        assert caught.value.remedy.endswith("Get a key.")
        assert clock.slept == [3.0]
        assert not out.exists()
        report = fetch(ArXiv(polite(server), query="x"), out)
    assert (report.records, report.fetched, report.kept) == (300, 100, 200)
    assert server.asked("start") == ["0", "200", "200"]


def test_a_service_that_is_not_there(polite: Any) -> None:
    with serving(paper_services.arxiv(1)) as server:
        gone = server.url
    with pytest.raises(ProviderError, match=r"arXiv \(127\.0\.0\.1:\d+\) failed: ConnectError"):
        polite(gone, retries=1).ask("query")


def test_a_key_does_not_follow_a_redirection(polite: Any) -> None:
    with serving(paper_services.arxiv(1)) as other, serving(paper_services.arxiv(1)) as server:
        moved = (301, {"Location": f"{other.url}/query?id_list=2501.00000"})
        server.faults = [moved, moved]
        assert polite(server, headers={"x-api-key": "k3y"}).ask("query").status == 301
        assert other.requests == []
        assert polite(server).ask("query").status == 200


def test_retry_after_as_seconds_and_as_a_date() -> None:
    assert retry_after("120") == 120.0
    assert retry_after(formatdate(0)) == 0.0
    soon = retry_after(formatdate(time.time() + 10_000, usegmt=True))
    assert soon is not None
    assert 9_000 < soon <= 10_000
    assert retry_after("") is None


# The file


KILLED = """
import sys
from pathlib import Path
from rag.adapters.polite_http import PoliteHttp
from rag.fetch import ArXiv, fetch
fetch(ArXiv(PoliteHttp("arXiv", sys.argv[1], pause=0), query="x"), Path(sys.argv[2]))
"""


def test_a_killed_fetch_goes_on(tmp_path: Path, polite: Any) -> None:
    out, whole = tmp_path / "out.jsonl", paper_services.arxiv(700)
    victim: list[int] = []

    def answer(request: Request) -> tuple[int, bytes]:
        if request.params["start"] == "400" and victim:
            os.kill(victim.pop(), signal.SIGKILL)
        return whole(request)

    with serving(answer) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", "input()\n" + KILLED, server.url, str(out)],
            stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        victim.append(process.pid)
        process.communicate(b"\n")
        assert process.returncode == -signal.SIGKILL
        assert not out.exists()
        # Torn in the middle of a line, as a kill between writing records and noting them leaves it.
        with (tmp_path / ".out.jsonl.part").open("ab") as part:
            part.write(b'{"id": "2501.00')
        report = fetch(ArXiv(polite(server), query="x"), out)
    assert (report.records, report.kept) == (700, 400)
    assert server.asked("start") == ["0", "200", "400", "400", "600"]
    assert [line["id"] for line in lines(out)] == [arxiv_id(n) for n in range(700)]


def test_killed_between_the_last_two_steps(tmp_path: Path, polite: Any) -> None:
    out, state = tmp_path / "out.jsonl", tmp_path / ".out.jsonl.fetch"
    with serving(paper_services.arxiv(3)) as server:
        fetch(ArXiv(polite(server), query="x"), out)
        state.write_text(json.dumps({**json.loads(state.read_text()), "done": None}))
        assert fetch(ArXiv(polite(server), query="x"), out).records == 3
    assert len(server.requests) == 1


def test_a_record_that_comes_twice_is_written_once(tmp_path: Path, polite: Any) -> None:
    whole = paper_services.arxiv(400)

    def shifted(request: Request) -> tuple[int, bytes]:
        """A paper that is added between two pages moves the others down by one."""
        start = max(0, int(request.params["start"]) - 1)
        return whole(Request(request.path, {**request.params, "start": str(start)}, {}, None))

    with serving(shifted) as server:
        fetch(ArXiv(polite(server), query="x"), tmp_path / "out.jsonl")
    found = [line["id"] for line in lines(tmp_path / "out.jsonl")]
    assert found == [arxiv_id(n) for n in range(399)]


def test_the_same_request_within_a_day_asks_nobody(tmp_path: Path, polite: Any) -> None:
    out = tmp_path / "out.jsonl"
    now = 1_000_000.0
    with serving(paper_services.arxiv(3)) as server:
        source = ArXiv(polite(server), query="x")
        fetch(source, out, now=lambda: now)
        assert fetch(source, out, now=lambda: now + 3600) == Report(str(out), 3, fetched=0, kept=3)
        assert len(server.requests) == 1
        assert fetch(source, out, now=lambda: now + 3600, again=True).fetched == 3
        assert fetch(source, out, now=lambda: now + 3 * 86400).fetched == 3
    assert len(server.requests) == 3


def test_files_of_others_are_left_alone(tmp_path: Path, polite: Any) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    with serving(paper_services.arxiv(3)) as server:
        for again in (False, True):
            with pytest.raises(UsageError, match=r"was not fetched.*--out"):
                fetch(ArXiv(polite(server), query="x"), out, again=again)
        assert server.requests == []
        assert (out.read_text(), left(tmp_path)) == ("mine", ["out.jsonl"])
        out.unlink()
        fetch(ArXiv(polite(server), query="x"), out)
        with pytest.raises(UsageError, match=r"another request.*--again"):
            fetch(ArXiv(polite(server), query="y"), out)
        fetch(ArXiv(polite(server), query="y"), out, again=True)
        with out.open("a") as file:
            file.write("{}\n")
        with pytest.raises(UsageError, match="was changed since"):
            fetch(ArXiv(polite(server), query="y"), out, again=True)


def test_a_refused_second_request_leaves_the_first_file(tmp_path: Path, polite: Any) -> None:
    out = tmp_path / "out.jsonl"
    with serving(paper_services.semantic_scholar({"CorpusId:1": 1})) as server:
        service = polite(server)
        fetch(SemanticScholar(service, ["CorpusId:1"]), out)
        with pytest.raises(UsageError, match="none of these"):
            fetch(SemanticScholar(service, ["CorpusId:2"]), out, again=True)
        assert len(lines(out)) == 1
        assert fetch(SemanticScholar(service, ["CorpusId:1"]), out).fetched == 0


def test_places_that_cannot_be_written(tmp_path: Path, polite: Any) -> None:
    with serving(paper_services.arxiv(3)) as server:
        source: Source = ArXiv(polite(server), query="x")
        with pytest.raises(UsageError, match=r"There is no folder .*nowhere"):
            fetch(source, tmp_path / "nowhere" / "out.jsonl")
        with pytest.raises(EnvironmentFault, match=r"cannot be written: File name too long"):
            fetch(source, tmp_path / ("x" * 250))
        with (
            filelock.FileLock(tmp_path / ".out.jsonl.lock"),
            pytest.raises(EnvironmentFault, match="being fetched by another process"),
        ):
            fetch(source, tmp_path / "out.jsonl")
        assert server.requests == []


# Words


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("2502.14565", "2502.14565"),
        ("arXiv:2502.14565v2", "2502.14565v2"),
        ("https://arxiv.org/pdf/2502.14565v2.pdf", "2502.14565v2"),
        ("hep-th/9901001", "hep-th/9901001"),
        ("math.GT/0309136v1", "math.GT/0309136v1"),
        ("2502", None),
        ("10.1234/2502.14565", None),
    ],
)
def test_arxiv_identifiers(word: str, found: str | None) -> None:
    assert arxiv_module.identifier(word) == found


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("chain of thought", "all:chain AND all:of AND all:thought"),
        ('"chain of thought" distillation', 'all:"chain of thought" AND all:distillation'),
        ("au:del_maestro AND ti:checkerboard", "au:del_maestro AND ti:checkerboard"),
        ("cat:cs.CL", "cat:cs.CL"),
        ("BERT OR GPT", "BERT OR GPT"),
    ],
)
def test_arxiv_queries(words: str, query: str) -> None:
    assert arxiv_module.as_query(words) == query


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("https://doi.org/10.18653/v1/N18-3011", "DOI:10.18653/v1/N18-3011"),
        ("arxiv:2106.15928v3", "ARXIV:2106.15928"),
        ("pmid:19872477", "PMID:19872477"),
        ("corpusid:215416146", "CorpusId:215416146"),
        ("649def34f8be52c8b66281af98ae884c09aef38b", "649def34f8be52c8b66281af98ae884c09aef38b"),
        (
            "https://www.semanticscholar.org/paper/A-Title/649def34f8be52c8b66281af98ae884c09aef38b",
            "649def34f8be52c8b66281af98ae884c09aef38b",
        ),
        ("https://aclanthology.org/N18-3011", "URL:https://aclanthology.org/N18-3011"),
    ],
)
def test_semantic_scholar_identifiers(word: str, found: str) -> None:
    assert semantic_scholar.identifier(word) == found


def test_what_is_no_identifier() -> None:
    with pytest.raises(UsageError, match="'attention' is no identifier"):
        semantic_scholar.identifier("attention")
