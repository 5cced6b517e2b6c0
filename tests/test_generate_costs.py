"""Prices, the meter, the response cache and the fake model."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from rag.adapters.fake_model import FakeChat
from rag.adapters.partial_json import read
from rag.adapters.prices import price
from rag.adapters.response_cache import CachedChat, digest
from rag.chain.evidence import Chosen, pack
from rag.chain.generate import Writing
from rag.chain.meter import Meter, cost, expected
from rag.errors import ProviderError, UsageError
from rag.ports import ChatModel, ChatRequest, Delta, Message
from rag.prompts import Prompts
from rag.records import Usage
from tests.chain_fakes import ScriptedModel, hit, paper

REQUEST = ChatRequest((Message("user", "Why? " * 100),), max_tokens=50)


def reply_of(model: ChatModel, request: ChatRequest = REQUEST) -> tuple[str, Delta]:
    deltas = list(model.stream(request))
    return "".join(delta.text for delta in deltas), deltas[-1]


def test_prices_of_settings_come_first_and_unknown_is_not_free() -> None:
    assert price("gpt-4o-mini", {}) == (0.15, 0.60)
    assert price("gpt-4o-mini-2024-07-18", {}) == (0.15, 0.60)
    assert price("gpt-4o-mini", {"gpt-4o-mini": (1.0, 2.0)}) == (1.0, 2.0)
    assert price("house-model", {"house-model": (0.0, 0.0)}) == (0.0, 0.0)
    assert price("house-model", {}) is None


def test_cost_is_per_million_tokens() -> None:
    assert cost(Usage(2_000_000, 500_000), (0.10, 0.40)) == pytest.approx(0.40)
    assert cost(Usage(1, 1), None) is None


def test_the_meter_sums_up() -> None:
    meter = Meter(ScriptedModel(["yes"]), price=(1.0, 10.0))
    assert meter.usage == Usage(0, 0, 0.0)
    reply_of(meter)
    reply_of(meter)
    assert meter.usage == Usage(200, 20, pytest.approx(0.0004))
    assert (meter.requests, meter.cached) == (2, False)


def test_the_meter_without_a_price_knows_no_cost() -> None:
    meter = Meter(ScriptedModel(["yes"]))
    reply_of(meter)
    assert meter.usage == Usage(100, 10, None)


def test_max_cost_stops_before_spending() -> None:
    model = ScriptedModel(["yes"])
    most = cost(expected(REQUEST), (1.0, 10.0))
    assert most is not None
    meter = Meter(model, price=(1.0, 10.0), max_cost=most)
    reply_of(meter)
    with pytest.raises(UsageError, match="more than --max-cost"):
        reply_of(meter)
    assert len(model.requests) == 1


def test_max_cost_needs_a_price() -> None:
    with pytest.raises(UsageError, match="price of 'scripted' is unknown"):
        Meter(ScriptedModel([]), None, max_cost=1.0)


def test_an_identical_request_is_served_from_the_cache(tmp_path: Path) -> None:
    model = ScriptedModel(["Größe 7.66×"])
    first, _ = reply_of(CachedChat(model, tmp_path))
    again, last = reply_of(CachedChat(model, tmp_path))
    assert first == again == "Größe 7.66×"
    assert len(model.requests) == 1
    assert (last.cached, last.usage, last.finish_reason) == (True, Usage(100, 10, 0.0), "stop")


def test_a_cached_reply_costs_nothing_whatever_the_price(tmp_path: Path) -> None:
    model = ScriptedModel(["yes"])
    reply_of(CachedChat(model, tmp_path))
    for known in ((1.0, 1.0), None):
        meter = Meter(CachedChat(model, tmp_path), known)
        reply_of(meter)
        assert meter.usage.cost_usd == 0.0
        assert meter.cached


@pytest.mark.parametrize(
    "other",
    [
        ChatRequest(REQUEST.messages, max_tokens=51),
        ChatRequest(REQUEST.messages, 50, temperature=0.5),
        ChatRequest(REQUEST.messages, 50, seed=1),
        ChatRequest(REQUEST.messages, 50, schema={"type": "object"}),
        ChatRequest((Message("system", REQUEST.messages[0].content),), 50),
    ],
)
def test_any_difference_is_another_request(other: ChatRequest) -> None:
    assert digest("s", "m", other) != digest("s", "m", REQUEST)
    assert len({digest("s", "m", REQUEST), digest("t", "m", REQUEST), digest("s", "n", REQUEST)}) == 3


def test_fresh_asks_anew_and_keeps_the_new_reply(tmp_path: Path) -> None:
    model = ScriptedModel(["old", "new"])
    reply_of(CachedChat(model, tmp_path))
    assert reply_of(CachedChat(model, tmp_path, fresh=True))[0] == "new"
    assert reply_of(CachedChat(model, tmp_path))[0] == "new"


def test_only_whole_replies_are_kept(tmp_path: Path) -> None:
    unfinished = [Delta("Hal"), Delta(usage=Usage(1, 1))]
    restarted = [
        Delta("Hal"),
        Delta(restart=True),
        Delta("Whole"),
        Delta(usage=Usage(1, 1), finish_reason="stop"),
    ]
    model = ScriptedModel([unfinished, restarted, ProviderError("gone")])
    reply_of(CachedChat(model, tmp_path))
    assert list(tmp_path.iterdir()) == []
    reply_of(CachedChat(model, tmp_path))
    assert reply_of(CachedChat(model, tmp_path))[0] == "Whole"


def test_kept_files_are_private_and_hold_no_request(tmp_path: Path) -> None:
    reply_of(CachedChat(ScriptedModel(["yes"]), tmp_path / "replies", scope="http://h/v1"))
    (file,) = (tmp_path / "replies").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert set(json.loads(file.read_text())) == {
        "text",
        "finish_reason",
        "prompt_tokens",
        "completion_tokens",
    }


def test_a_damaged_file_is_asked_for_again(tmp_path: Path) -> None:
    model = ScriptedModel(["yes", "again"])
    reply_of(CachedChat(model, tmp_path))
    next(tmp_path.iterdir()).write_text('{"text": ')
    assert reply_of(CachedChat(model, tmp_path))[0] == "again"


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    requests = [ChatRequest((Message("user", str(n)),), 5) for n in range(4)]
    model = ScriptedModel(["x" * 500])
    for age, request in zip((40, 30, 20), requests, strict=False):
        reply_of(CachedChat(model, tmp_path), request)
        path = tmp_path / f"{digest('', model.name, request)}.json"
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    reply_of(CachedChat(model, tmp_path), requests[0])  # used again, so the second is now the oldest
    reply_of(CachedChat(model, tmp_path, max_bytes=1900), requests[3])
    kept = {path.stem for path in tmp_path.glob("*.json")}
    assert kept == {digest("", model.name, requests[n]) for n in (0, 2, 3)}


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_saving(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert reply_of(CachedChat(ScriptedModel(["yes"]), tmp_path / "file" / "sub"))[0] == "yes"


def test_a_disk_that_fills_up_costs_nothing_but_the_saving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert reply_of(CachedChat(ScriptedModel(["yes"]), tmp_path))[0] == "yes"
    assert list(tmp_path.iterdir()) == []


def test_another_process_may_shrink_the_folder_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, gone = tmp_path / "old.json", tmp_path / "gone.json"
    old.write_text("x" * 5000)
    found = Path.glob
    monkeypatch.setattr(Path, "glob", lambda folder, pattern: [gone, *found(folder, pattern)])
    assert reply_of(CachedChat(ScriptedModel(["yes"]), tmp_path, max_bytes=1000))[0] == "yes"
    assert (old.exists(), len(list(tmp_path.iterdir()))) == (False, 1)


def fake_drafts(question: str, prompts: Prompts | None = None) -> list[tuple[str, tuple[int, ...]]]:
    papers = [paper("a", "Cats sleep all day. Dogs run."), paper("b", "Birds sing at dawn. Fish swim.")]
    packed = pack(Chosen(tuple(hit(p) for p in papers)), 4000)
    writing = Writing(FakeChat(), prompts or Prompts(), read, max_tokens=50)
    drafts = writing.drafts(question, packed.prompt(), refs=[1, 2])
    return [(draft.text, tuple(claim.ref for claim in draft.claims)) for draft in drafts]


def test_the_fake_model_answers_from_the_numbered_papers() -> None:
    assert fake_drafts("When do birds sing?") == [("Birds sing at dawn.", (2,))]
    assert fake_drafts("Do dogs run and cats sleep?") == [("Cats sleep all day.", (1,)), ("Dogs run.", (1,))]
    assert fake_drafts("What of Mongolia?") == []


def test_the_fake_model_writes_plain_text_when_no_json_is_asked_for() -> None:
    request = ChatRequest(
        (Message("user", '<paper number="4">\nDogs run.\n</paper>\n\nQuestion: Do dogs run?'),), 9
    )
    text, last = reply_of(FakeChat(), request)
    assert text == "Dogs run [4]."
    assert last.usage is not None
    assert last.usage.prompt_tokens > 10
