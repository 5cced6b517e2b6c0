"""What every test may rely on: a home of its own, no settings from outside, no network but this machine."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rag import places, wiring
from rag.settings import load

if TYPE_CHECKING:
    from chroma_servers import Running

# In the background of a shell SIGINT is ignored, by whatever the tests start as well: no Ctrl-C would arrive.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home; nothing of the developer's settings, indexes or keys is seen."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("RAG_", "OPENAI_", "OPENREVIEW_", "S2_", "SEMANTIC_SCHOLAR_")):
            monkeypatch.delenv(name)
    # pytest-xdist's workers have a size of their own here, which would hide that of a test's terminal.
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    return home


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections to other machines fail; 127.0.0.1 is allowed, for servers that a test starts."""
    connect, lookup = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in LOOPBACK:
            raise AssertionError(f"a test tried to connect to {address}")
        connect(self, address)

    def guarded_lookup(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host not in LOOPBACK:
            raise AssertionError(f"a test tried to look up {host}")
        return lookup(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_lookup)


@pytest.fixture
def shared() -> Path:
    """The folder with the original seed abstracts, which the repository does not carry."""
    folder = Path(__file__).parents[1].parent / "shared"
    if not (folder / "seeds").is_dir():
        pytest.skip("the original abstracts (../shared/seeds) are not here")
    return folder


@pytest.fixture(scope="session")
def sample_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled papers, indexed once for all tests; not to be written to."""
    folder = tmp_path_factory.mktemp("sample") / "index"
    settings = load({"index": folder}, environ={}, files=())
    assert wiring.ingest(settings, [places.SAMPLE], lambda remark: None).added == 38
    return folder


@pytest.fixture(scope="session")
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Chroma server for all tests that do not stop it; each takes a collection of its own."""
    from chroma_servers import running

    with running(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the repository, where the suites have their files."""
    monkeypatch.chdir(ROOT)
