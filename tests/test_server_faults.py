"""Servers that are down, silent or restart, and several who want to write: one clear line, no loss."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from chroma_servers import Running, following, running, seen, shared
from index_pile import counts, ingest, paper, write
from typer.testing import CliRunner

from rag import places
from rag.adapters.chroma_lease import Lease, machine
from rag.adapters.chroma_server import ChromaServer
from rag.adapters.embed_fake import FakeEmbedder
from rag.cli import app
from rag.errors import ProviderError, UsageError
from rag.index.lock import Held


@pytest.fixture
def client(running_server: Running) -> Iterator[Any]:
    with closing(ChromaServer(running_server.url)) as server:
        yield server._client


DEAD = 2**22 + 1  # larger than any process id


class Killing(FakeEmbedder):
    """Kills the server when the first vectors of the second batch are wanted."""

    def __init__(self, server: Running) -> None:
        super().__init__(64)
        self._server, self.asked, self.texts = server, 0, 0

    def embed(self, texts: Any) -> Any:
        self.asked += 1
        self.texts += len(texts)
        if self.asked == 9:
            self._server.kill()
        return super().embed(texts)


def leave_lock_of_a_dead_process(server: ChromaServer) -> None:
    """The lock that an ingest could not release: whoever runs it again is another process."""
    lock = server._client.get_collection(f"{server._collection}.lock", embedding_function=None)
    lock.modify(metadata={**(lock.metadata or {}), "pid": DEAD})


def test_a_server_that_restarts_in_the_middle_of_an_ingest(tmp_path: Path) -> None:
    old, new = [paper(n) for n in range(30)], [paper(n) for n in range(10, 330)]
    file = tmp_path / "pile"
    with (
        running(tmp_path / "data") as server,
        closing(ChromaServer(server.url)) as pile,
        closing(ChromaServer(server.url, collection="whole")) as whole,
    ):
        ingest(tmp_path / "whole", write(file, new), parts=shared(whole))
        ingest(tmp_path / "ana", write(file, old), parts=shared(pile))
        write(file, new)
        embedder = Killing(server)
        with pytest.raises(ProviderError, match=r"cannot be reached .*; what was published is unchanged"):
            ingest(tmp_path / "ana", file, parts=shared(pile, embedder=embedder))
        assert embedder.asked >= 9
        server.start()
        leave_lock_of_a_dead_process(pile)
        with following(tmp_path / "bo", pile) as reader:
            assert reader.count_papers() == 30
        assert counts(ingest(tmp_path / "ana", file, parts=shared(pile, embedder=embedder))) == (
            300,
            0,
            20,
            10,
        )
        assert embedder.texts == 300  # what was embedded before was kept
        assert seen(tmp_path / "bo", pile) == seen(tmp_path / "bo whole", whole)


@pytest.mark.parametrize(
    "words", [["ask", "What?"], ["ingest", str(places.SAMPLE)], ["papers"], ["index", "verify"]]
)
def test_a_server_that_is_down(words: list[str]) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    done = CliRunner().invoke(app, [*words, "--chroma-url", url], env={"RAG_EMBEDDER": "fake"})
    assert done.exit_code == 4, done.output
    assert done.stderr.splitlines()[-1].startswith(f"Error: The Chroma server at {url} cannot be reached")


def test_a_server_that_is_silent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = ChromaServer(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
        with pytest.raises(ProviderError, match=r"did not answer within 0\.2 s"):
            server.state()


class Guarded(BaseHTTPRequestHandler):
    """A proxy that lets in who has the key, as far as the sign of life."""

    def do_GET(self) -> None:
        allowed = self.headers["x-chroma-token"] == "secret"
        self.send_response(200 if allowed else 401)
        self.end_headers()
        self.wfile.write(b'{"nanosecond heartbeat": 1}' if allowed else b"no")

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("key", "remedy"), [(None, "Set RAG_CHROMA_API_KEY."), ("old", "Correct RAG_CHROMA_API_KEY.")]
)
def test_a_proxy_that_wants_a_key(key: str | None, remedy: str) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{proxy.server_port}"
        ChromaServer(url, api_key="secret")._require_chroma(url)
        with pytest.raises(ProviderError) as caught:
            ChromaServer(url, api_key=key).state()
        proxy.shutdown()
    assert str(caught.value) == f"{url} wants another key (401). {remedy}"


def test_an_error_page_of_a_proxy_does_not_end_the_lock(client: Any) -> None:
    lease = Lease(client, f"lock{uuid.uuid4().hex[:8]}", "here", lasts=0.6)
    renew, calls = lease._renew, 0

    def stumbling() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise Exception("<html>502 Bad Gateway</html>")
        renew()

    lease._renew = stumbling  # type: ignore[method-assign]
    with lease.held(1):
        deadline = time.monotonic() + 20
        while calls < 6 and time.monotonic() < deadline:
            time.sleep(0.05)
        lease.check()
    assert calls >= 6


def test_a_server_of_another_kind(running_server: Running) -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer

    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(ProviderError, match="is no Chroma server"):
            ChromaServer(f"http://127.0.0.1:{other.server_port}").state()
        other.shutdown()
    with pytest.raises(UsageError, match=r"has a path. Give host and port only"):
        ChromaServer(running_server.url + "/api/v2")


WRITER = """
import sys, time
from rag.adapters.chroma_server import ChromaServer
with ChromaServer(sys.argv[1], collection=sys.argv[2], lasts=30).writing(0, None):
    print("writing", flush=True)
    time.sleep(60)
"""


def test_two_writers(running_server: Running, tmp_path: Path) -> None:
    name = f"two-{uuid.uuid4().hex[:8]}"
    file = write(tmp_path / "pile", [paper(1)])
    program = [sys.executable, "-c", WRITER, running_server.url, name]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "writing\n"
        waited: list[Any] = []
        parts = shared(ChromaServer(running_server.url, collection=name))
        with pytest.raises(
            Held, match=f"is being written by process {other.pid} on .* since .* Wait until it is done"
        ):
            ingest(tmp_path / "ana", file, parts=parts, timeout=0.5, on_wait=waited.append)
        assert [holder.pid for holder in waited] == [other.pid]
        other.kill()
        other.wait()
        # On the same machine nobody has to wait for the lock of a dead process to end.
        assert counts(ingest(tmp_path / "ana", file, parts=parts, timeout=0)) == (1, 0, 0, 0)


def test_only_one_of_many_gets_the_lock(client: Any) -> None:
    name = f"many-{uuid.uuid4().hex[:8]}"
    inside: list[int] = []
    most: list[int] = []

    def write() -> None:
        with Lease(client, name, "here").held(30):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.01)
            inside.pop()

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8
    assert not [each.name for each in client.list_collections() if each.name.startswith(name)]


def test_a_lock_whose_time_is_over_is_taken_and_the_old_writer_knows(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"late-{uuid.uuid4().hex[:8]}"
    stopped = Lease(client, name, "The server", lasts=0.2)
    monkeypatch.setattr(Lease, "_renew", lambda self: None)  # the process stands still
    with stopped.held(0):
        with Lease(client, name, "The server").held(10) as next_one:
            next_one.check()
            with pytest.raises(Held, match=r"lock was lost: The server did not hear .* for 0\.2 s"):
                stopped.check()
        with Lease(client, name, "The server").held(0) as other:
            monkeypatch.undo()
            stopped._renew_until(threading.Event())  # its lock is gone for good
            other.check()


def test_a_living_writer_keeps_its_lock(client: Any) -> None:
    name = f"long-{uuid.uuid4().hex[:8]}"
    with Lease(client, name, "The server", lasts=0.5).held(0) as lease:
        time.sleep(1.2)
        lease.check()
        with pytest.raises(Held):
            Lease(client, name, "The server").held(0).__enter__()


def test_a_lock_of_another_machine_is_not_judged_by_our_processes(client: Any) -> None:
    name = f"far-{uuid.uuid4().hex[:8]}"
    with Lease(client, name, "The server").held(0) as lease:
        lease._held_lock().modify(metadata={**lease._claim(), "machine": "another", "pid": DEAD})
        with pytest.raises(Held, match=f"process {DEAD}"):
            Lease(client, name, "The server").held(0).__enter__()
        lease._held_lock().modify(metadata={**lease._claim(), "machine": machine(), "pid": DEAD})
        with Lease(client, name, "The server").held(0):
            assert os.getpid() != DEAD
