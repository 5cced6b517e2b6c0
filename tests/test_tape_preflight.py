"""Recording a suite, and finding out without a call that its recordings are stale; against a local server."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from chain_fakes import pile_of
from evals_fakes import PAPERS
from evals_server import Script, serving

from rag.adapters import partial_json
from rag.adapters.openai_api import OpenAIChat
from rag.adapters.tape import recording, replaying
from rag.chain.setup import Options, Writer
from rag.errors import ProviderError
from rag.evals import manifest, preflight
from rag.evals.cases import Case, parse
from rag.evals.pipeline import Pipeline
from rag.evals.preflight import Now
from rag.evals.record import Book, prune, record
from rag.evals.rows import ask
from rag.prompts import Prompts
from rag.wiring import evals as wiring_evals

ROOT = Path(__file__).parents[1]
SETTINGS = {"mode": "model", "model": "tiny", "top": 8, "max_tokens": 300}
REPLY = {
    "answerable": True,
    "sentences": [
        {
            "citations": [
                {"ref": 1, "quote": "On GSM-Long it raises accuracy by 7.4% and halves memory use."}
            ],
            "text": "Gatekeeper raises accuracy on GSM-Long by 7.4%.",
        }
    ],
}
QUESTIONS = {
    "gain": "How much does Gatekeeper raise accuracy on GSM-Long?",
    "memory": "What does Gatekeeper do to memory use on GSM-Long?",
    "hours": "How long does the training of Gatekeeper take on one machine?",
}
FAR = "Which colour is the Mongolian parliament?"


def case(name: str, question: str) -> Case:
    base = {"kind": "named", "split": "test", "answerable": True, "papers": ["lee2025gate"]}
    return parse({"id": name, "question": question, **base})


@dataclass
class Desk:
    """A folder of cassettes, prompts that can be edited, and a server that answers."""

    folder: Path
    prompts: Path
    script: Script

    def now(self, **changes: object) -> Now:
        prompts = Prompts(self.prompts)
        texts = {name: manifest.sent_text(prompts.load(name)) for name in prompts.names()}
        wanted = [(case(name, question), 1) for name, question in QUESTIONS.items()]
        return replace(Now(wanted, texts, SETTINGS, "corpus-1"), **changes)  # type: ignore[arg-type]

    def pipeline(self) -> Pipeline:
        return Pipeline(pile_of(*PAPERS.values()), Options(max_tokens=300), PAPERS, partial(self.writer, 0))

    def writer(self, retries: int) -> Writer:
        model = OpenAIChat(
            "tiny", base_url=self.script.url, api_key="sk-0123456789abcdefghij", max_retries=retries
        )
        return Writer(model, Prompts(self.prompts), partial_json.read)

    def book(self, now: Now) -> Book:
        return Book(
            self.folder, manifest.load(self.folder), recording, now, Prompts(self.prompts), {"openai": "2"}
        )

    def record(self, now: Now | None = None) -> list[str | None]:
        now = now or self.now()
        return [done.error for done in record(now.wanted, self.pipeline(), self.book(now))]

    def stale(self, now: Now | None = None) -> set[str]:
        found = preflight.check(self.folder, manifest.load(self.folder), now or self.now())
        return {f"{one.name}: {one.why}" for one in found}

    def screen(self) -> str:
        now, kept = self.now(), manifest.load(self.folder)
        found = preflight.check(self.folder, kept, now)
        return preflight.screen(found, kept, now, "model", wiring_evals.messages_in(self.folder))

    def edit(self, name: str, old: str, new: str) -> None:
        file = self.prompts / f"{name}.md"
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new), "utf-8")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    shutil.copytree(ROOT / "prompts", tmp_path / "prompts")
    with serving(Script(reply=lambda _: json.dumps(REPLY))) as script:
        yield Desk(tmp_path / "cassettes", tmp_path / "prompts", script)


def test_what_was_just_recorded_is_fresh_and_replays(desk: Desk) -> None:
    assert desk.record() == [None, None, None]
    assert desk.stale() == set()
    asked = len(desk.script.asked)
    tape = lambda one, sample: replaying(desk.folder / manifest.file_name(one.id, sample))  # noqa: E731
    answer, _ = replace(desk.pipeline(), tape=tape).ask(case("gain", QUESTIONS["gain"]))
    assert answer.sentences[0].text == REPLY["sentences"][0]["text"]  # type: ignore[index]
    assert answer.timings.generate_s == manifest.load(desk.folder).entries["answer/gain.yaml"].seconds
    assert len(desk.script.asked) == asked


def test_one_changed_word_names_the_prompt_the_number_and_the_message(desk: Desk) -> None:
    desk.record()
    desk.edit("answer", "Use only the papers given.", "Use solely the papers given.")
    assert desk.stale() == {f"answer/{name}.yaml: prompt answer" for name in QUESTIONS}
    screen = desk.screen()
    assert "prompts/answer.md has changed: 3 answers" in screen
    assert "-You answer questions from abstracts of research papers. Use only" in screen
    assert "+You answer questions from abstracts of research papers. Use solely" in screen
    assert "rag eval record model --only changed" in screen
    assert "To record again: 3 answers, about" in screen
    assert "price unknown" in screen


def test_a_changed_user_message_is_shown_as_it_was_sent(desk: Desk) -> None:
    desk.record()
    desk.edit("answer", "Question: $question", "The question: $question")
    assert f"-Question: {QUESTIONS['gain']}" in desk.screen()
    assert f"+The question: {QUESTIONS['gain']}" in desk.screen()


def test_remarks_above_a_prompt_and_prompts_that_were_not_used_do_not_matter(desk: Desk) -> None:
    desk.record()
    desk.edit("answer", "The answer in model mode.", "A remark that nobody sends.")
    desk.edit("answer-plain", "Write one to four", "Write one to five")
    assert desk.stale() == set()


def test_everything_else_that_shapes_a_request_is_noticed(desk: Desk) -> None:
    desk.record()
    one = "answer/gain.yaml"
    assert desk.stale(desk.now(corpus="corpus-2")) == {f"answer/{name}.yaml: corpus" for name in QUESTIONS}
    assert f"{one}: settings" in desk.stale(desk.now(settings={**SETTINGS, "top": 9}))
    other = [(case("gain", "How much, really?"), 1), *list(desk.now().wanted)[1:]]
    assert desk.stale(desk.now(wanted=other)) == {f"{one}: question"}
    assert desk.stale(desk.now(wanted=[*desk.now().wanted, (case("new", "New?"), 1)])) == {
        "answer/new.yaml: missing"
    }


def test_settings_are_named_with_both_values(desk: Desk) -> None:
    desk.record(desk.now(settings={**SETTINGS, "top": 5}))
    assert "settings have changed (top: 5 -> 8): 3 answers" in desk.screen()


def test_an_edited_file_is_not_a_recording(desk: Desk) -> None:
    desk.record()
    file = desk.folder / "answer" / "gain.yaml"
    file.write_text(file.read_text("utf-8").replace("7.4%", "9.4%"), "utf-8")
    assert desk.stale() == {"answer/gain.yaml: altered"}


def test_orphans_fail_and_can_be_pruned(desk: Desk) -> None:
    desk.record()
    fewer = desk.now(wanted=list(desk.now().wanted)[:2])
    assert desk.stale(fewer) == {"answer/hours.yaml: orphan"}
    assert prune(desk.book(fewer)) == ["answer/hours.yaml"]
    assert desk.stale(fewer) == set()


@pytest.mark.parametrize(
    "secret", ["sk-abcdefghijklmnop1234", "Authorization: x", "set-cookie: a=b", "Bearer abcdef123"]
)
def test_secrets_are_found(desk: Desk, secret: str) -> None:
    desk.record()
    file = desk.folder / "answer" / "gain.yaml"
    file.write_text(f"{file.read_text('utf-8')}\n{secret}\n", "utf-8")
    assert "answer/gain.yaml: secret" in desk.stale()


def test_no_secret_of_the_client_is_recorded(desk: Desk) -> None:
    desk.record()
    text = "".join(path.read_text("utf-8") for path in desk.folder.rglob("*") if path.is_file())
    assert "sk-0123456789" not in text
    assert preflight.SECRETS.search(text) is None


def test_recording_goes_on_where_it_stopped(desk: Desk) -> None:
    steps = record(desk.now().wanted, desk.pipeline(), desk.book(desk.now()))
    assert next(steps).error is None
    steps.close()  # killed here: what is on disk is what a new process finds
    assert desk.stale() == {"answer/memory.yaml: missing", "answer/hours.yaml: missing"}
    found = preflight.check(desk.folder, manifest.load(desk.folder), desk.now())
    todo = [task for task in desk.now().wanted if manifest.file_name(task[0].id, 1) in preflight.again(found)]
    before = len(desk.script.asked)
    assert [done.error for done in record(todo, desk.pipeline(), desk.book(desk.now()))] == [None, None]
    assert len(desk.script.asked) == before + 2
    assert desk.stale() == set()


def test_a_failed_question_costs_no_other_and_a_dead_server_stops(desk: Desk) -> None:
    desk.script.statuses = [500]
    errors = desk.record()
    assert errors[0] is not None
    assert errors[1:] == [None, None]
    assert desk.stale() == {"answer/gain.yaml: missing"}
    desk.script.statuses = [500, 500, 500]
    with pytest.raises(ProviderError, match="3 questions in a row failed"):
        desk.record()


def test_a_question_that_is_declined_without_a_call_is_recorded_as_such(desk: Desk) -> None:
    now = desk.now(wanted=[(case("far", FAR), 1)])
    desk.record(now)
    assert desk.script.asked == []
    assert desk.stale(now) == set()
    assert manifest.load(desk.folder).entries["answer/far.yaml"].prompts == {}
    with replaying(desk.folder / "answer" / "far.yaml") as session:
        assert session.requests == []


def test_three_samples_differ_in_seed_and_warmth_only(desk: Desk) -> None:
    one = case("gain", QUESTIONS["gain"])
    desk.record(desk.now(wanted=[(one, 1), (one, 2), (one, 3)]))
    first, second, third = desk.script.asked
    assert (first["temperature"], second["temperature"], third["temperature"]) == (0.0, 0.7, 0.7)
    assert "seed" not in first
    assert second["seed"] != third["seed"]
    assert {path.name for path in (desk.folder / "answer").iterdir()} == {
        "gain.yaml",
        "gain.2.yaml",
        "gain.3.yaml",
    }


def test_a_stale_tape_is_a_row_of_its_own_and_no_score(desk: Desk) -> None:
    desk.record()
    desk.edit("answer", "Use only the papers given.", "Use solely the papers given.")
    tape = lambda one, sample: replaying(desk.folder / manifest.file_name(one.id, sample))  # noqa: E731
    row = ask(case("gain", QUESTIONS["gain"]), 1, replace(desk.pipeline(), tape=tape), wiring_evals.tools())
    assert row.error is not None
    assert row.error["type"] == "TapeError"
    assert row.scores == {}


def test_the_first_recording_says_that_it_knows_no_cost(desk: Desk) -> None:
    assert "not recorded yet: 3 answers" in desk.screen()
    assert "only the first recording will show" in desk.screen()
    assert "--only missing" in desk.screen()


def test_a_preflight_loads_nothing_heavy() -> None:
    """The real suite, in a process of its own: no vendor is imported, so it is quick and calls nobody."""
    code = (
        "import sys; from rag.wiring import runs as w\n"
        "w.stale(w.planned(w.Ask('model')))\n"
        "heavy = {'openai', 'chromadb', 'llama_index', 'numpy', 'onnxruntime', 'vcr', 'httpx'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "[]"


def test_all_recordings_of_the_repository_fit_their_budget() -> None:
    assert preflight.size(ROOT / "cassettes") <= preflight.BUDGET
