"""Runs: rows, errors, processes, suites, result files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from chain_fakes import ScriptedModel, paper, pile_of
from evals_fakes import PAPERS, UNANSWERABLE

from rag.adapters import partial_json
from rag.chain.setup import Options, Writer
from rag.errors import EnvironmentFault, IndexMissing, TapeError, UsageError
from rag.evals import files, results, run, suites
from rag.evals.cases import Case, parse
from rag.evals.gate import judge
from rag.evals.pipeline import Pipeline
from rag.evals.rows import Row, Tools, ask
from rag.evals.suites import Gate, Suite
from rag.prompts import Prompts
from rag.wiring import evals as wiring_evals
from rag.wiring import runs as wiring_runs


def case(name: str, question: str = "How much does Gatekeeper raise accuracy on GSM-Long?") -> Case:
    record = {
        "id": name,
        "question": question,
        "kind": "named",
        "split": "tune",
        "answerable": True,
        "papers": ["lee2025gate"],
        "facts": [{"text": "7.4 %", "number": {"value": 7.4, "unit": "%", "tolerance": 0.05}}],
    }
    return parse(record)


@contextmanager
def opened(broken: str = "") -> Iterator[tuple[Pipeline, Tools]]:
    """An extractive pipeline over three papers; the case named ``broken`` meets a bug."""

    def shown(_: object) -> str:
        return ""

    def tape(one: Case, sample: int) -> object:
        del sample
        if one.id == broken:
            raise ZeroDivisionError("a bug")
        if one.id == "unrecorded":
            raise TapeError("not on the tape")
        return contextmanager(lambda: iter([None]))()

    made = Pipeline(pile_of(*PAPERS.values()), Options(), PAPERS, tape=tape)  # type: ignore[arg-type]
    yield made, replace(wiring_evals.tools(), shown=shown)


def test_a_question_becomes_a_scored_row() -> None:
    (row,) = run.run([(case("gain"), 1)], opened)
    assert row.error is None
    assert (row.scores["right"], row.scores["mrr@10"], row.scores["quote_validity"]) == (1.0, 1.0, 1.0)
    assert row.gold["facts"] == [{"text": "7.4 %", "vital": True, "stated": True}]
    assert row.retrieved[0]["key"] == "lee2025gate"


def test_a_bug_in_one_question_is_its_row_and_costs_no_other() -> None:
    tasks = [(case("one"), 1), (case("bad"), 1), (case("unrecorded"), 1), (case("two"), 1)]
    rows = run.run(tasks, partial(opened, "bad"))
    assert [row.error and row.error["type"] for row in rows] == [None, "ZeroDivisionError", "TapeError", None]
    assert rows[1].scores == {}
    assert results.summary(rows, 100)["right"].n == 2
    assert results.summary(rows, 100)["right"].total == 4


def test_two_processes_give_the_rows_of_one_in_the_same_order() -> None:
    tasks = [(case(f"q{i}"), 1) for i in range(6)]
    seen: list[str] = []
    here, there = (
        run.run(tasks, opened),
        run.run(tasks, opened, jobs=2, on_row=lambda row: seen.append(row.case)),
    )
    assert [row.case for row in there] == [row.case for row in here] == seen
    timed = {"latency_s"}
    for a, b in zip(here, there, strict=True):
        assert {k: v for k, v in a.scores.items() if k not in timed} == {
            k: v for k, v in b.scores.items() if k not in timed
        }


@contextmanager
def not_opened(how: str) -> Iterator[tuple[Pipeline, Tools]]:
    """A pipeline that does not get as far as that."""
    if how == "missing":
        raise IndexMissing("There is no index in ./typo.", "Name another.")
    if how == "killed":
        os._exit(1)
    raise ZeroDivisionError("a bug")
    yield


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_cannot_be_opened_ends_the_run_with_its_reason(jobs: int) -> None:
    with pytest.raises(IndexMissing) as caught:
        run.run([(case("one"), 1), (case("two"), 1)], partial(not_opened, "missing"), jobs)
    assert str(caught.value) == "There is no index in ./typo. Name another."


def test_a_process_that_fails_or_dies_ends_the_run() -> None:
    tasks = [(case("one"), 1), (case("two"), 1)]
    with pytest.raises(RuntimeError, match="ZeroDivisionError: a bug"):
        run.run(tasks, partial(not_opened, "bug"), 2)
    with pytest.raises(EnvironmentFault, match=r"ended by itself.* -j 1"):
        run.run(tasks, partial(not_opened, "killed"), 2)


@pytest.mark.parametrize(
    ("names", "code"),
    [
        ([], None),
        (["UsageError"], 2),
        (["UsageError", "ProviderError"], 4),
        (["IndexMismatch"], 4),
        (["ZeroDivisionError"], 4),
        (["ProviderError", "TapeError"], 3),
    ],
)
def test_errors_of_answers_have_the_exit_code_of_a_question(names: list[str], code: int | None) -> None:
    sound = Row("q", 1, "", "fact", (), "test", "p", True)
    rows = [replace(sound, error={"type": name, "message": ""}) for name in names]
    assert wiring_runs.error_code(results.Result("s", (sound, *rows))) == code


class TestFiles:
    def test_a_file_and_its_folders_are_written_whole(self, tmp_path: Path) -> None:
        file = tmp_path / "a" / "b.txt"
        files.check(file)
        assert not file.exists()
        files.write(file, "é")
        files.append(file, "\n")
        assert file.read_bytes() == b"\xc3\xa9\n"
        assert [path.name for path in file.parent.iterdir()] == ["b.txt"]

    def test_a_name_that_cannot_be_a_files(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for path in (
            tmp_path,
            tmp_path / "file" / "x",
            tmp_path / "file" / "x" / "y",
            tmp_path / ("n" * 300),
        ):
            for do in (files.check, partial(files.write, text="")):
                with pytest.raises(UsageError, match=r"cannot be written: .* Name another file"):
                    do(path)
        with pytest.raises(UsageError, match="cannot be written"):
            files.append(tmp_path, "")

    def test_a_link_is_followed_and_a_full_disk_told(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("real")
        (tmp_path / "real").touch()
        files.write(tmp_path / "link", "x")
        assert (tmp_path / "real").read_text("utf-8") == "x"
        full = tmp_path / "full"
        full.symlink_to("/dev/full")
        for do in (files.write, files.append):
            with pytest.raises(EnvironmentFault, match=r"full cannot be written: No space.* Make room"):
                do(full, "x")

    def test_a_folder_that_may_not_be_written_to(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(self: Path) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "touch", refuse)  # root may write everywhere
        with pytest.raises(EnvironmentFault, match=r"Permission denied\. Check the permissions"):
            files.check(tmp_path / "x")

    def test_what_cannot_be_read(self, tmp_path: Path) -> None:
        (tmp_path / "latin").write_bytes(b"\xe9")
        for name, words in (("absent", "No such file"), ("", "Is a directory"), ("latin", "not a UTF-8")):
            with pytest.raises(UsageError, match=words):
                files.read(tmp_path / name)


def test_a_follow_up_is_searched_as_it_is_meant() -> None:
    turn = {"question": "What is Gatekeeper?", "answer": "It filters passages.", "papers": ["lee2025gate"]}
    record = {
        "id": "then",
        "question": "How much does it raise accuracy?",
        "kind": "followup",
        "split": "tune",
        "answerable": True,
        "papers": ["lee2025gate"],
        "history": [turn],
    }
    with opened() as (pipeline, tools):
        row = ask(parse(record), 1, pipeline, tools)
    assert row.answer is not None
    assert "Gatekeeper" in row.answer["question"]
    assert row.gold["history"] == [turn | {"papers": ("lee2025gate",)}]


def test_unanswerable_and_pile_questions_have_no_retrieval_scores() -> None:
    with opened() as (pipeline, tools):
        row = ask(UNANSWERABLE, 1, pipeline, tools)
    assert "mrr@10" not in row.scores
    assert {"right", "false_answer"} <= set(row.scores)


def test_results_survive_their_file(tmp_path: Path) -> None:
    rows = tuple(run.run([(case("gain"), 1), (case("bad"), 1)], partial(opened, "bad")))
    made = results.Result(
        "s", rows, created="2025-01-01", dials={"top": 8}, digests={"gold": "g"}, versions={"a": "1"}
    )
    made.save(tmp_path / "out" / "r.json")
    again = results.load(tmp_path / "out" / "r.json")
    assert again.rows[0].scores == rows[0].scores
    assert again.errors[0].error == rows[1].error
    assert (again.dials, again.versions, again.suite) == (made.dials, made.versions, "s")
    written = json.loads((tmp_path / "out" / "r.json").read_text("utf-8"))
    assert written["errors"] == 1
    assert written["summary"]["right"]["n"] == 1


def test_what_is_not_a_result_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no result"):
        results.load(tmp_path / "absent.json")
    (tmp_path / "x.json").write_text('{"format": 99}', "utf-8")
    with pytest.raises(UsageError, match="format 99"):
        results.load(tmp_path / "x.json")


def test_samples_of_a_case_count_as_one() -> None:
    def row(sample: int, right: float) -> Row:
        return Row("q", sample, "", "fact", (), "test", "p", True, scores={"right": right})

    assert results.values([row(1, 1.0), row(2, 0.0), row(3, 0.0)], "right") == {"q": pytest.approx(1 / 3)}


def test_coverage_counts_those_that_were_declined() -> None:
    def row(name: str, right: float, status: str, confidence: float) -> Row:
        answer = {"status": status, "confidence": confidence}
        return Row(name, 1, "", "fact", (), "test", name, True, scores={"right": right}, answer=answer)

    rows = [
        row("a", 1, "answered", 0.9),
        row("b", 0, "answered", 0.5),
        row("c", 0, "abstained", 0.1),
        row("d", 1, "abstained", 0.1),
    ]
    found = results.abstention(rows)
    assert found["coverage"] == 0.5
    assert found["coverage_at_5%_risk"] == 0.25
    assert found["curve"] == [[0.9, 0.25, 0.0], [0.5, 0.5, 0.5]]


class TestSuites:
    def write(self, folder: Path, text: str) -> Path:
        file = folder / "mine.toml"
        file.write_text(text, "utf-8")
        return file

    def test_the_suites_of_the_repository_are_read(self) -> None:
        folder = Path(__file__).parents[1] / "eval" / "suites"
        for file in folder.glob("*.toml"):
            assert suites.load(file.stem, folder).name == file.stem

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("gould = []", "unknown field 'gould', the nearest known one is 'gold'"),
            (
                "[gate]\nmetrics = ['recal@5']",
                "unknown metric 'recal@5', the nearest known one is 'recall@5'",
            ),
            ("[select]\nkind = ['fact']", "unknown selector 'kind'"),
            ("gold = 'x'", "gold is not a list"),
            ("repeat_every = -1", "not a whole number"),
            ("[gate]\nalpha = 2.0", "alpha is not between"),
            ("name = ", "Invalid"),
        ],
    )
    def test_faults_are_named(self, tmp_path: Path, text: str, words: str) -> None:
        with pytest.raises(UsageError, match=r"mine\.toml") as caught:
            suites.load(str(self.write(tmp_path, text)), tmp_path)
        assert words in str(caught.value)

    def test_an_unknown_suite_names_the_known_ones(self, tmp_path: Path) -> None:
        self.write(tmp_path, "")
        with pytest.raises(UsageError, match="mine"):
            suites.load("yours", tmp_path)

    def test_selection_thins_each_kind_and_only_narrows(self, tmp_path: Path) -> None:
        cases = [case(f"q{i}") for i in range(9)] + [replace(case("far"), kind="far")]
        thin = Suite("s", tmp_path, (), select={"every": 4})
        assert [one.id for one in suites.chosen(thin, cases)] == ["q0", "q4", "q8", "far"]
        assert [one.id for one in suites.narrowed(suites.chosen(thin, cases), only=["q4"])] == ["q4"]
        assert [one.id for one in suites.narrowed(suites.chosen(thin, cases), tags=["far"])] == ["far"]
        with pytest.raises(UsageError, match="is left"):
            suites.narrowed(cases, only=["nothing"])

    def test_every_third_question_is_asked_three_times(self, tmp_path: Path) -> None:
        cases = [case(f"q{i}") for i in range(4)]
        tasks = suites.samples(Suite("s", tmp_path, (), repeat_every=3), cases)
        assert [(one.id, n) for one, n in tasks] == [
            ("q0", 1), ("q0", 2), ("q0", 3), ("q1", 1), ("q2", 1), ("q3", 1), ("q3", 2), ("q3", 3),
        ]  # fmt: skip


class TestAcceptingEverything:
    """A model that makes things up beside what is true: with the check off, the gate names what is lost."""

    PILE = tuple(
        paper(
            f"sys{i}",
            f"Sorter{i} orders records by age. It cuts sorting time by {i + 11}%.",
            title=f"Sorter{i}",
        )
        for i in range(12)
    )

    def rows(self, verify: Literal["lexical", "off"]) -> list[Row]:
        def writer() -> Writer:
            return Writer(ScriptedModel([json.dumps(self.reply(asked[-1]))]), Prompts(), partial_json.read)

        asked: list[int] = []
        made = Pipeline(pile_of(*self.PILE), Options(verify=verify), {p.key: p for p in self.PILE}, writer)
        rows = []
        for number, one in enumerate(self.PILE):
            asked.append(number)
            question = f"By how much does Sorter{number} cut sorting time?"
            record = {
                "id": one.key,
                "question": question,
                "kind": "named",
                "split": "test",
                "answerable": True,
            }
            rows.append(ask(parse({**record, "papers": [one.key]}), 1, made, wiring_evals.tools()))
        return rows

    def reply(self, number: int) -> dict[str, object]:
        quote = f"It cuts sorting time by {number + 11}%."
        true = {
            "citations": [{"ref": 1, "quote": quote}],
            "text": f"Sorter{number} cuts sorting time by {number + 11}%.",
        }
        false = {
            "citations": [{"ref": 1, "quote": "won a prize in Lisbon"}],
            "text": "The jury in Lisbon gave it 97 medals.",
        }
        return {"answerable": True, "sentences": [true, false]}

    def test_the_gate_names_the_citations(self) -> None:
        checked, accepted = self.rows("lexical"), self.rows("off")
        assert [row.error for row in checked + accepted] == [None] * 24
        assert {row.scores["citation_precision"] for row in checked} == {1.0}
        gated = Gate(("citation_precision", "citation_recall", "paper_recall"))
        reasons = judge(accepted, gated, checked, 1000).reasons
        assert [reason.split(" got worse")[0] for reason in reasons] == [
            "citation_precision",
            "citation_recall",
        ]
