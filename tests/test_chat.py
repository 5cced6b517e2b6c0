"""What a conversation does with questions and commands, over the bundled papers, without a terminal."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chat_desk import Talk, refuse, talking

from rag import places, wiring
from rag.chat import commands
from rag.chat.commands import described, filtered, parse
from rag.chat.entries import Dials
from rag.chat.opening import Opening
from rag.errors import UsageError
from rag.records import Filters
from rag.settings import load

PILAF = "What does PILAF do?"
PREFILL = "By how much did SpecPrefill improve time-to-first-token for Llama-3.1-405B?"


@pytest.fixture(scope="module")
def pile(sample_index: Path) -> Iterator[Opening]:
    settings = load({"index": sample_index}, environ={}, files=())
    opening = Opening(lambda note: wiring.open_pile(settings, note))
    yield opening
    opening.close()


@pytest.fixture
def talk(sample_index: Path, pile: Opening) -> Iterator[Talk]:
    with talking(sample_index, opened=pile) as opened:
        yield opened


@pytest.fixture
def by_model(sample_index: Path, pile: Opening) -> Iterator[Talk]:
    with talking(sample_index, dials=Dials("model", "moody"), opened=pile) as opened:
        yield opened


def test_an_answer_with_its_paper(talk: Talk) -> None:
    shown = talk.say(PREFILL)
    assert "7.66×" in shown
    assert "[1]." in shown
    assert "[1] Speculative Prefill" in shown
    assert "liu2025speculative" in shown


def test_a_follow_up_is_understood_and_said_so(talk: Talk) -> None:
    talk.say(PILAF)
    shown = talk.say("Is that easy to implement?")
    assert "Understood as: Is PILAF easy to implement? (“that” = PILAF [1])" in shown
    assert "easy to implement" in talk.out.getvalue()


def test_what_leaves_its_paper_unsaid_is_about_the_one_spoken_of(talk: Talk) -> None:
    talk.say("What is SpeCache?")
    said = talk.say("authors and venue?")
    assert "is by Shibo Jie" in said
    assert "appeared at ICML 2025" in said
    others = talk.say("anything else on this?")
    assert "“other than” = SpeCache [1]" in others
    assert "jie2025specache" not in others


@pytest.mark.parametrize(
    ("line", "reply"),
    [("hello", "/help"), ("thanks!", "welcome"), ("help", "/sources"), ("What can you do?", "/sources")],
)
def test_small_talk_asks_the_papers_nothing(line: str, reply: str, talk: Talk) -> None:
    said = talk.say(line)
    assert reply in said
    assert "Not answered" not in said
    assert talk.desk.talk.session is None


def test_quit_without_a_slash_leaves(talk: Talk) -> None:
    assert talk.desk.take("quit").leave


def test_raw_leaves_questions_alone(talk: Talk) -> None:
    talk.say(PILAF)
    assert "as typed" in talk.say("/raw")
    assert "Understood" not in talk.say("Is that easy to implement?")
    assert "made stand-alone" in talk.say("/raw off")


def test_numbers_stay(talk: Talk) -> None:
    talk.say(PREFILL)
    talk.say(PILAF)
    shown = talk.say(PREFILL)
    assert "[1] Speculative Prefill" in shown
    assert set(talk.desk.talk.numbers.papers) == {1, 2}
    assert "[2] PILAF" in talk.say("/sources")


def test_an_abstention_names_the_nearest_papers_with_numbers_that_open(talk: Talk) -> None:
    shown = talk.say("What is the capital of Mongolia?")
    assert "Not answered from these papers." in shown
    assert "[3]" in shown
    talk.say("/open 3")
    assert talk.opened[0].startswith("https://")


def test_declined_then_it_means_the_question_before(talk: Talk) -> None:
    talk.say("What is the capital of Mongolia?")
    assert "Understood as: What is the capital of Mongolia?" in talk.say("And how many people live in it?")


def test_quotes_and_cite(talk: Talk) -> None:
    assert "No papers were cited yet." in talk.say("/cite")
    assert "quotes nothing" in talk.say("/quotes")
    talk.say(PREFILL)
    assert "“Serving Llama-3.1-405B" in talk.say("/quotes")
    assert talk.say("/cite").count("@inproceedings{liu2025speculative,") == 1
    talk.say("What is the capital of Mongolia?")
    assert talk.say("/cite").count("@") == 1  # the nearest papers were not cited
    talk.say("/quotes on")
    assert "“" in talk.say(PILAF)


def test_filters(talk: Talk) -> None:
    assert "38 of 38" in talk.say("/filter year>=2024 venue=ICML")
    assert "No paper passes" in talk.say("/filter year=1999")
    assert "venue ICML; year 2024 or later" in talk.say("/filter")
    assert "author Ce Zhang" in talk.say("/filter venue= author=Ce Zhang")
    assert "1 of 38" in talk.say("/filter venue= year= author='Ce Zhang'")
    assert "Not answered" in talk.say(PILAF)
    assert "all papers (38 of 38" in talk.say("/filter off")
    said = talk.say(PILAF)
    assert "Not answered" not in said
    assert "feng2025pilaf" in said


def test_use_takes_keys_and_numbers(talk: Talk) -> None:
    talk.say(PREFILL)
    assert "only liu2025speculative (1 of 38" in talk.say("/use [1]")
    assert "Did you mean feng2025pilaf" in talk.say("/use feng2025pilav")
    assert "only feng2025pilaf, liu2025speculative (2 of 38" in talk.say("/use feng2025pilaf, 1")
    talk.say("/use off")
    assert talk.desk.talk.dials.filters == Filters()
    assert "There is no paper 7" in talk.say("/use 7")


def test_papers_are_listed_and_searched(talk: Talk) -> None:
    assert "38 of 38 papers; 8 more" in talk.say("/papers")
    shown = talk.say("/papers code translation")
    assert "1 of 38 papers" in shown
    assert "Function-to-Style" in shown


def test_undo_and_retry(talk: Talk) -> None:
    assert "Nothing was asked yet." in talk.say("/undo")
    assert "Nothing was asked yet." in talk.say("/retry")
    talk.say(PILAF)
    talk.say(PREFILL)
    assert PREFILL in talk.say("/undo")
    assert "Is PILAF easy" in talk.say("Is it easy to implement?")
    before = talk.out.getvalue()
    talk.say("/retry")
    assert talk.out.getvalue() == before
    assert talk.desk.talk.session is not None
    assert len(list(talk.desk.talk.session.entries())) == 2


def test_save(talk: Talk, tmp_path: Path) -> None:
    assert "Nothing was asked yet." in talk.say(f"/save {tmp_path}/a.md")
    talk.say(PREFILL)
    assert "which file" in talk.say("/save")
    assert "ending" in talk.say(f"/save {tmp_path}/a.docx")
    talk.say(f"/save {tmp_path}/a.md")
    talk.say(f"/save {tmp_path}/a.json")
    talk.say(f"/save {tmp_path}/a.bib")
    assert "7.66×" in (tmp_path / "a.md").read_text("utf-8")
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["turns"][0]["question"] == PREFILL
    assert "@inproceedings{liu2025speculative" in (tmp_path / "a.bib").read_text("utf-8")
    (tmp_path / "mine.md").write_text("mine")
    assert "exists already" in talk.say(f"/save {tmp_path}/mine.md")
    assert (tmp_path / "mine.md").read_text() == "mine"
    assert "Written" in talk.say(f"/save {tmp_path}/a.md")  # its own file may be brought up to date


@pytest.fixture
def awkward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, full of what cannot be written over or into."""
    (tmp_path / "file").touch()
    (tmp_path / "?.md").touch()
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    (tmp_path / "nowhere.md").symlink_to(tmp_path / "no.md")
    monkeypatch.chdir(tmp_path)
    shut(monkeypatch)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("~nosuchuser/notes.md", "The home folder of ~nosuchuser is not known. Write the whole path"),
        ("a" * 300 + ".md", "cannot be written: File name too long. Name another file."),
        ("a" * 300 + "/notes.md", "cannot be written: File name too long. Name another file."),
        ("no\0tes.md", "cannot be written: No file can have such a name. Name another file."),
        ("\ud800.md", "?.md exists already."),
        ("missing/notes.md", "cannot be written: No such file or directory. Name another file."),
        ("file/notes.md", "cannot be written: Not a directory. Name another file."),
        ("loop.md", "cannot be written: Its links lead in a circle. Name another file."),
        ("nowhere.md", "nowhere.md exists already."),
        ("shut/notes.md", "cannot be written: Permission denied. Name another file."),
        (".", "exists already."),
        ("/", "exists already."),
    ],
)
@pytest.mark.parametrize("command", ["save", "cite"])
def test_a_file_that_cannot_be_written_is_one_line(
    command: str, file: str, reason: str, talk: Talk, awkward: Path
) -> None:
    talk.say(PREFILL)
    before = sorted(awkward.iterdir())
    shown = talk.say(f"/{command} {file}")
    assert reason in shown
    assert len(shown.strip().splitlines()) == 1
    assert talk.after.failed
    assert sorted(awkward.iterdir()) == before
    assert "7.66×" in talk.say(PREFILL)


def shut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the folder "shut" one without search permission, which root has everywhere."""

    def refusing(call: Callable[..., object]) -> Callable[..., object]:
        def wrapped(path: object, *args: object, **options: object) -> object:
            if "shut" in Path(str(path)).parts:
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return call(path, *args, **options)

        return wrapped

    monkeypatch.setattr(os, "stat", refusing(os.stat))
    monkeypatch.setattr(os, "lstat", refusing(os.lstat))
    monkeypatch.setattr(os, "unlink", refusing(os.unlink))
    monkeypatch.setattr(io, "open", refusing(io.open))


def test_a_name_as_long_as_can_be_is_written(talk: Talk, tmp_path: Path) -> None:
    talk.say(PREFILL)
    file = tmp_path / ("a" * 252 + ".md")
    assert "Written" in talk.say(f"/save {file}")
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("command", ["/open", "/use"])
def test_numbers_of_any_length(command: str, talk: Talk) -> None:
    shown = talk.say(f"{command} {'1' * 5000}")
    assert "There is no paper 111" in shown
    assert len(shown) < 300


@pytest.mark.parametrize("line", ["What is \ud800 PILAF?", "/new \udc80", "/papers \udfff", "/\ud800"])
def test_bytes_that_are_no_text_do_not_end_the_chat(line: str, talk: Talk) -> None:
    talk.say(line)
    assert not talk.after.leave


def test_model_mode_and_its_cost(by_model: Talk) -> None:
    assert "nothing was spent" in by_model.say("/cost")
    by_model.say(PREFILL)
    by_model.say("By how much did it improve time-to-first-token?")
    shown = by_model.say("/cost")
    assert shown.startswith("2 answers by a model:")
    assert "$0.0" in shown
    session = by_model.desk.talk.session
    assert session is not None
    tokens = [e.answer.usage.prompt_tokens for e in session.entries() if e.answer]
    assert by_model.model.asked == 3  # the second question was reworded first, and that is paid for as well
    assert f"{sum(tokens):,} tokens sent" in shown


def test_switching_writers(talk: Talk) -> None:
    assert "no model writes" in talk.say("/mode")
    assert "A model writes: other." in talk.say("/model other")
    talk.say(PREFILL)
    assert talk.model.asked == 1
    assert "There is no mode 'fast'" in talk.say("/mode fast")
    talk.say("/mode extractive")
    talk.say(PREFILL)
    assert talk.model.asked == 1


def test_a_failing_provider_leaves_the_question_to_edit(by_model: Talk) -> None:
    by_model.say(PREFILL)
    by_model.model.mood = refuse
    assert "Error: The server at http://127.0.0.1:9 refuses. Is it running?" in by_model.say("Does it train?")
    assert (by_model.after.draft, by_model.after.failed) == ("Does it train?", True)
    by_model.model.mood = lambda count: None
    assert "[1]" in by_model.say("Does it need training?")
    session = by_model.desk.talk.session
    assert session is not None
    assert [entry.status for entry in session.entries()][1] == "failed"


def test_a_retry_that_fails_keeps_the_answer(by_model: Talk) -> None:
    by_model.say(PREFILL)
    by_model.model.mood = refuse
    by_model.say("/retry")
    assert "7.66" in by_model.say("/quotes")
    session = by_model.desk.talk.session
    assert session is not None
    assert [entry.status for entry in session.entries()] == ["answered", "failed"]


def test_ctrl_c_keeps_what_was_checked(by_model: Talk) -> None:
    def press(piece: int) -> None:
        if "[1]" in by_model.out.getvalue():  # the first sentence is on the screen, more are coming
            raise KeyboardInterrupt

    by_model.model.pieces = press
    shown = by_model.say("How does SpecPrefill improve TTFT and QPS?")
    assert "Stopped; what was checked is kept." in shown
    session = by_model.desk.talk.session
    assert session is not None
    (entry,) = session.entries()
    assert entry.status == "stopped"
    assert entry.answer is not None
    assert [s.text for s in entry.answer.sentences] == [entry.answer.sentences[0].text]
    assert entry.answer.sentences[0].text[:30] in shown
    assert not by_model.after.leave


def test_what_follows_a_stopped_answer_builds_on_the_question_as_understood(by_model: Talk) -> None:
    by_model.say(PREFILL)

    def press(piece: int) -> None:
        if "[1]" in by_model.out.getvalue():
            raise KeyboardInterrupt

    by_model.model.pieces = press
    shown = by_model.say("How does it improve TTFT and QPS?")
    assert "Understood as: How does SpecPrefill improve TTFT and QPS?" in shown
    assert "what was checked is kept" in shown
    by_model.model.pieces = lambda piece: None
    assert "How does SpecPrefill improve TTFT and QPS, and why?" in by_model.say("Why?")


def test_a_number_printed_long_ago_still_has_its_paper(talk: Talk) -> None:
    talk.say(PREFILL)
    for _ in range(5):
        talk.say(PILAF)
    assert "Understood as: Who wrote SpecPrefill?" in talk.say("Who wrote [1]?")
    assert "Understood" not in talk.say("What is the training cost of [9]?")


def test_ctrl_c_before_anything_was_written(by_model: Talk) -> None:
    def press(piece: int) -> None:
        raise KeyboardInterrupt

    by_model.model.pieces = press
    assert "Stopped." in by_model.say(PREFILL)
    assert by_model.after.draft == PREFILL
    by_model.model.pieces = lambda piece: None
    assert "7.66×" in by_model.say(PREFILL)


def test_resume_goes_on_with_numbers_subject_and_dials(
    sample_index: Path, tmp_path: Path, pile: Opening
) -> None:
    with talking(sample_index, tmp_path, opened=pile) as talk:
        talk.say(PREFILL)
        talk.say(PILAF)
        talk.say("/use feng2025pilaf liu2025speculative")
    with talking(sample_index, tmp_path, opened=pile) as talk:
        assert "2 questions" in talk.say("/sessions")
        name = talk.desk.talk.store.rows()[0].name
        shown = talk.say(f"/resume {name}")
        assert "7.66×" in shown
        assert "only feng2025pilaf, liu2025speculative" in shown
        assert "Understood as: Is PILAF easy to implement?" in talk.say("Is that easy to implement?")
        assert "[2] PILAF" in talk.out.getvalue()
        assert "That is this conversation." in talk.say(f"/resume {name}")
        assert "A new conversation" in talk.say("/new")
        assert "Understood" not in talk.say("Is that easy to implement?")
        assert "time-to-first-token" in talk.say("/sessions 7.66 prefill")
        assert "Nowhere." in talk.say("/sessions zebra")
        assert "no session" in talk.say("/resume zebra")


@pytest.mark.parametrize(("name", "reason"), [("thesis", "'thesis' already"), ("a/b", "cannot be the name")])
def test_a_new_conversation_wants_a_free_name(name: str, reason: str, talk: Talk) -> None:
    talk.desk.talk.store.begin("x", Dials(), "thesis").close()
    talk.say(PILAF)
    before = talk.desk.talk.session
    assert reason in talk.say(f"/new {name}")
    assert talk.after.failed
    assert talk.desk.talk.session is before  # the conversation goes on as it was
    talk.say("/new notes")
    talk.say(PILAF)
    assert talk.desk.talk.session is not None
    assert talk.desk.talk.session.name == "notes"


def test_resume_says_what_changed_and_vanished(tmp_path: Path) -> None:
    papers = [json.loads(line) for line in places.SAMPLE.read_text("utf-8").splitlines()]
    pile, index = tmp_path / "papers.jsonl", tmp_path / "index"
    pile.write_text("\n".join(map(json.dumps, papers[:6])), "utf-8")
    settings = load({"index": index, "embedder": "fake"}, environ={}, files=())
    wiring.ingest(settings, [pile], lambda text: None)
    keys = _keys(settings)
    with talking(index, tmp_path / "data", settings=settings) as talk:
        for name in ("ReVISE", "SpecPrefill"):
            talk.say(f"What is {name}?")
        cited = {paper.key for paper in talk.desk.talk.numbers.papers.values()}
        session = talk.desk.talk.store.rows()[0].name
    assert cited <= keys
    changed = next(p for p in papers if "ReVISE" in p["title"])
    changed["abstract"] = "Entirely rewritten. " + changed["abstract"]
    gone = [p for p in papers[:6] if "Speculative Prefill" not in p["title"]]
    pile.write_text("\n".join(map(json.dumps, gone)), "utf-8")
    wiring.ingest(settings, [pile], lambda text: None, prune=True)
    with talking(index, tmp_path / "data", settings=settings) as talk:
        shown = talk.say(f"/resume {session}")
    assert "(liu2025speculative) is no longer in the index" in shown
    assert "(lee2025revise) has changed since it was cited" in shown


def _keys(settings: object) -> set[str]:
    with wiring.open_library(settings, lambda text: None) as library:  # type: ignore[arg-type]
        return set(library.keys())


def test_a_pile_that_changes_in_the_middle(sample_index: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    shutil.copytree(sample_index, index)
    settings = load({"index": index}, environ={}, files=())
    with talking(index) as talk:
        talk.say(PILAF)
        wiring.remove(settings, ["feng2025pilaf"], lambda text: None)
        assert "The index has changed: 37 papers now." in talk.say(PREFILL)
        assert "7.66×" in talk.out.getvalue()


def test_an_index_that_is_not_there_is_an_error_each_time_and_no_end(tmp_path: Path) -> None:
    with talking(tmp_path / "none") as talk:
        assert "There is no index" in talk.say(PILAF)
        assert "There is no index" in talk.say(PILAF)
        assert not talk.after.leave


def test_unknown_commands_name_the_nearest(talk: Talk) -> None:
    assert "There is no command /surces. Did you mean /sources?" in talk.say("/surces")
    assert "/help lists the commands." in talk.say("/")
    assert "Did you mean /quotes or /quit?" in talk.say("/qu")
    assert talk.after.failed


def test_help_names_every_command(talk: Talk) -> None:
    shown = talk.say("/help")
    assert all(f"/{spec.name}" in shown for spec in commands.COMMANDS)


def test_open_and_browsers_that_do_not_start(talk: Talk) -> None:
    assert "There is no paper 1" in talk.say("/open 1")
    talk.say(PREFILL)
    assert talk.say("/open [1]").strip() == talk.opened[0]
    assert "There is no paper x" in talk.say("/open x")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("year>=2024", Filters(years=((2024, 9999),))),
        ("year=2020-2024", Filters(years=((2020, 2024),))),
        ("year<2020 venue=Nature Physics", Filters(("Nature Physics",), ((0, 2019),))),
        ('author="Yoon Kim"  venue:ICML', Filters(("ICML",), authors=("Yoon Kim",))),
        ("author=Kim author=Lee", Filters(authors=("Kim", "Lee"))),
        ("year>=2024 year=2019", Filters(years=((2024, 9999), (2019, 2019)))),
    ],
)
def test_filters_are_read_as_typed(typed: str, expected: Filters) -> None:
    assert filtered(typed, Filters()) == expected


@pytest.mark.parametrize("typed", ["2024", "yaer=2024", "year=next", "year>=", "venue"])
def test_filters_that_are_none(typed: str) -> None:
    if typed == "year>=":
        assert filtered(typed, Filters(years=((1, 2),))) == Filters()
    else:
        with pytest.raises(UsageError):
            filtered(typed, Filters())


def test_filters_are_told() -> None:
    spans = Filters(years=((2024, 2024), (0, 1999), (2000, 2001)), papers=("k",))
    assert described(spans) == "year 2024 or 1999 or earlier or 2000-2001; only k"


def test_commands_and_questions_are_told_apart() -> None:
    assert parse("What is 1/2?") is None
    assert parse("  /USE  a   b ") == commands.Command("use", "a b")
    assert parse("/exit") == commands.Command("quit")


def test_hostile_text_does_not_reach_the_terminal(talk: Talk) -> None:
    shown = (
        talk.say("What is \x1b[31mPILAF\x07\u202e?")
        + talk.say("/us\x1b[2Je")
        + talk.say("/open \x1b]0;x\x07")
    )
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_fifty_pasted_lines_are_one_question(talk: Talk) -> None:
    shown = talk.say(
        "By how much did SpecPrefill improve TTFT?\n" + "Some context that does not matter.\n" * 49
    )
    assert "[1]" in shown
    assert len(list(talk.desk.talk.session.entries())) == 1  # type: ignore[union-attr]
