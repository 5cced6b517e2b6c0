"""A long conversation: sixty turns with resumes, interrupts, filters, a provider that fails every tenth call.

Everything that was shown has to be in the store at the end, and memory has to stay flat: what is counted are
Python's objects, since bytes depend on the machine.
"""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from chat_desk import Moody, Talk, refuse, talking

from rag import wiring
from rag.chat.entries import Dials
from rag.chat.export import as_json
from rag.chat.opening import Opening
from rag.settings import load

TURNS = 60
QUESTIONS = (
    "By how much did SpecPrefill improve time-to-first-token?",
    "And how much does throughput go up?",
    "What does PILAF do?",
    "Is that hard to implement?",
    "How does ReVISE verify its own reasoning?",
    "What about VinePPO?",
    "What is the capital of Mongolia?",
    "How does AnyEdit compare with the second one?",
    "Which papers are about code?",
    "What do they have in common?",
    "How many papers are from 2025?",
)
WRITTEN = QUESTIONS[0]  # reaches the model: what the evidence declines cannot be stopped in mid-sentence
FAILS_EVERY = 10
STOPS_EVERY = 12
RESUMES_EVERY = 15
WARM_UP = 20
GROWTH = 0.01  # by which the objects may become more from turn 20 to turn 60: caches fill up


@pytest.fixture
def pile(sample_index: Path) -> Iterator[Opening]:
    settings = load({"index": sample_index}, environ={}, files=())
    opening = Opening(lambda note: wiring.open_pile(settings, note))
    yield opening
    opening.close()


class Hour:
    """What was done, and what was seen."""

    def __init__(self, model: Moody) -> None:
        self.model = model
        self.seen: list[str] = []
        self.endings: Counter[str] = Counter()

    def turn(self, talk: Talk, number: int) -> None:
        stops = number % STOPS_EVERY == 5
        question = WRITTEN if stops else QUESTIONS[number % len(QUESTIONS)]
        if number % 7 == 3:
            talk.say(("/filter year>=2024 venue=ICML", "/use 1", "/filter off", "/use off")[number // 7 % 4])
        talk.say(("/mode model", "/mode extractive")[number % 3 == 0])
        self.model.pieces = pressed if stops else untouched
        shown = talk.say(question)
        self.model.pieces = untouched
        self.seen.append(talk.out.getvalue())
        ending = "stopped" if "Stopped" in shown else "failed" if talk.after.failed else "answered"
        self.endings[ending] += 1
        if talk.after.draft:
            assert talk.after.draft == question

    def mood(self, count: int) -> None:
        if count % FAILS_EVERY == 0:
            refuse(count)


def untouched(_: int) -> None:
    """Nobody presses anything."""


def pressed(piece: int) -> None:
    if piece > 3:
        raise KeyboardInterrupt


def test_sixty_turns(sample_index: Path, pile: Opening, tmp_path: Path) -> None:
    model = Moody(name="moody")
    hour = Hour(model)
    model.mood = hour.mood
    sizes = []
    with ExitStack() as stack:
        talk = stack.enter_context(talking(sample_index, tmp_path, model=model, dials=Dials(), opened=pile))
        for number in range(TURNS):
            if number and number % RESUMES_EVERY == 0:
                session = talk.desk.talk.session
                assert session is not None
                stack.close()
                talk = stack.enter_context(talking(sample_index, tmp_path, model=model, opened=pile))
                assert "Going on with" in talk.say(f"/resume {session.name}")
            hour.turn(talk, number)
            gc.collect()
            sizes.append(len(gc.get_objects()))
        assert len(talk.desk.talk.store.rows()) == 1
        kept = talk.desk.talk.store.read(1)
        numbers = {paper.key: ref for ref, paper in talk.desk.talk.numbers.papers.items()}

    assert hour.endings["failed"] >= 2
    assert hour.endings["stopped"] >= 2
    assert len(kept.entries) == TURNS
    statuses = Counter(entry.status for entry in kept.entries)
    assert statuses["failed"] == hour.endings["failed"]
    assert statuses["stopped"] == hour.endings["stopped"]
    assert statuses["writing"] == 0
    for entry, shown in zip(kept.entries, hour.seen, strict=True):
        for sentence in entry.answer.sentences if entry.answer else ():
            assert " ".join(sentence.text.split())[:-1] in " ".join(shown.split())
            assert all(numbers[citation.key] == citation.ref for citation in sentence.citations)
    assert len(json.dumps(as_json(kept.name, kept.entries, kept.papers))) > 10_000
    assert sizes[-1] < (1 + GROWTH) * sizes[WARM_UP], sizes
