"""Sessions as they are stored: nothing shown is lost, whatever ends the program."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from rag.chat import export
from rag.chat.changes import changes
from rag.chat.entries import Dials
from rag.chat.numbers import Numbers
from rag.chat.session import Session
from rag.chat.store import Store
from rag.errors import EnvironmentFault, UsageError
from rag.records import (
    Answer,
    Citation,
    Filters,
    IndexInfo,
    Paper,
    PromptInfo,
    Reference,
    Sentence,
    Source,
    Timings,
    Usage,
)
from rag.wiring.chat import to_resume

INFO = IndexInfo(2, 2, "fake", "f1")
TIDES = Paper(
    "ito2024", "Gauges drift. HARBOR mends them.", Source("p.txt", 1), "HARBOR: Tides", ("Mei Ito",)
)
KELP = Paper("berg2022", "KelpNet counts kelp.", Source("p.txt", 2), "Counting <Kelp> & [more]", year=2022)


def said(text: str, ref: int, paper: Paper) -> Sentence:
    start = paper.abstract.index(text)
    return Sentence(text, "verbatim", (Citation(ref, paper.key, text, start, start + len(text), 1.0),))


def answered(question: str, *sentences: Sentence, papers: dict[int, Paper], **more: object) -> Answer:
    references = tuple(Reference(ref, paper) for ref, paper in papers.items())
    return replace(
        Answer(question, "answered", "extractive", None, sentences, references, (), INFO),
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        yield opened


def hold(session: Session, question: str, answer: Answer) -> int:
    turn = session.ask(question)
    session.finish(turn, answer.status, answer)
    return turn


def test_an_answer_comes_back_as_it_was(store: Store) -> None:
    session = store.begin("What mends gauges?", Dials())
    full = answered(
        "What mends gauges?",
        said("HARBOR mends them.", 1, TIDES),
        papers={1: TIDES},
        mode="model",
        model="m",
        removed=(Sentence("Untrue.", "unsupported", ()),),
        usage=Usage(10, 5, 0.001),
        timings=Timings(0.1, 0.2, 0.3, 0.4),
        prompt=PromptInfo("answer", "abc"),
        read=2,
        confidence=0.7,
        dropped_quotes=1,
        invalid_refs=2,
        cached=True,
    )
    hold(session, "What mends gauges?", full)
    assert next(session.entries()).answer == full


def test_an_abstention_keeps_its_nearest_papers(store: Store) -> None:
    session = store.begin("Why?", Dials())
    nearest = (Reference(1, KELP), Reference(2, TIDES))
    none = Answer("Why?", "abstained", "extractive", None, (), (), nearest, INFO, reason="Nothing on it.")
    hold(session, "Why?", none)
    assert next(session.entries()).answer == none


def test_sentences_are_there_before_the_answer_is_complete(store: Store, tmp_path: Path) -> None:
    session = store.begin("What mends gauges?", Dials())
    turn = session.ask("What mends gauges?")
    session.add(turn, said("Gauges drift.", 1, TIDES), [Reference(1, TIDES)])
    session.add(turn, said("HARBOR mends them.", 1, TIDES), [Reference(1, TIDES)])
    with Store(tmp_path) as other:
        (entry,) = other.read(session.id).entries
    assert entry.status == "writing"
    assert entry.answer is not None
    assert [s.text for s in entry.answer.sentences] == ["Gauges drift.", "HARBOR mends them."]
    assert [r.paper for r in entry.answer.references] == [TIDES]


def test_kill_9_loses_nothing_that_was_added(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import sys, time
        from pathlib import Path
        sys.path.insert(0, sys.argv[2])
        from tests.test_sessions import TIDES, Dials, Reference, Store, said
        store = Store(Path(sys.argv[1]))
        session = store.begin("What mends gauges?", Dials())
        turn = session.ask("What mends gauges?")
        session.add(turn, said("Gauges drift.", 1, TIDES), [Reference(1, TIDES)])
        print("added", flush=True)
        time.sleep(60)
    """)
    root = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", script, str(tmp_path), root]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=root, env={**os.environ, "PYTHONPATH": root}
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"added\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    with Store(tmp_path) as store:
        row = store.last()
        assert row is not None
        session = store.open(row.id)  # the lock went with the process
        (entry,) = session.entries()
        session.close()
    assert entry.answer is not None
    assert entry.answer.sentences[0].text == "Gauges drift."


def test_a_failed_write_leaves_all_or_nothing(store: Store, tmp_path: Path) -> None:
    session = store.begin("What mends gauges?", Dials())
    turn = session.ask("What mends gauges?")

    def torn() -> Iterator[Reference]:
        yield Reference(1, TIDES)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.add(turn, said("Gauges drift.", 1, TIDES), torn())
    assert session.papers() == {}
    session.add(turn, said("Gauges drift.", 1, TIDES), [Reference(1, TIDES)])
    assert session.papers() == {1: TIDES}


def test_sessions_are_named_by_their_first_question(store: Store) -> None:
    names = [store.begin("How does HARBOR mend the drifting gauges?", Dials()).name for _ in range(2)]
    assert names == ["harbor-mend-drifting-gauges", "harbor-mend-drifting-gauges-2"]
    assert store.begin("漢字", Dials()).name == "session"
    assert store.begin("x", Dials(), name="My thesis").name == "My thesis"


@pytest.mark.parametrize("name", ["", "12", "a/b\x1b[31m", "x" * 61, " lead", "trail "])
def test_names_that_cannot_be_typed_are_refused(store: Store, name: str) -> None:
    with pytest.raises(UsageError, match="name of a session"):
        store.begin("x", Dials(), name=name)
    with pytest.raises(UsageError, match="name of a session"):
        to_resume(store, False, name)


def test_a_name_in_use_is_refused(store: Store) -> None:
    session = store.begin("x", Dials(), name="thesis")
    with pytest.raises(UsageError, match="a session 'thesis' already"):
        store.begin("y", Dials(), name="thesis")
    assert [row.name for row in store.rows()] == ["thesis"]
    assert to_resume(store, False, "thesis") == to_resume(store, False, str(session.id)) == session.id
    assert to_resume(store, False, "notes") is None


def test_found_by_name_and_number_and_nearest_named(store: Store) -> None:
    session = store.begin("What mends gauges?", Dials())
    assert store.find("mends-gauges").id == store.find(str(session.id)).id == session.id
    with pytest.raises(UsageError, match="Did you mean mends-gauges"):
        store.find("mend-gauge")


def test_the_session_used_last_is_first(store: Store) -> None:
    first, second = store.begin("One thing?", Dials()), store.begin("Another thing?", Dials())
    assert store.last() is not None
    assert [row.id for row in store.rows()] == [second.id, first.id]
    hold(first, "One thing?", answered("One thing?", papers={}))
    assert [row.id for row in store.rows()] == [first.id, second.id]
    assert store.rows()[0].turns == 1
    assert store.rows()[0].first == "One thing?"


def test_a_session_is_open_in_one_program_only(store: Store, tmp_path: Path) -> None:
    session = store.begin("What mends gauges?", Dials())
    with Store(tmp_path) as other:
        with pytest.raises(UsageError, match="open in another window"):
            other.open(session.id)
        with pytest.raises(UsageError, match="open in another window"):
            other.delete(session.id)
        session.close()
        other.open(session.id).close()


def test_search_wants_all_words_and_overlooks_case_and_accents(store: Store) -> None:
    session = store.begin("Wer heilt Pegel?", Dials())
    accented = replace(TIDES, abstract="Café gauges drift.")
    hold(
        session, "Wer heilt Pegel?", answered("q", said("Café gauges drift.", 1, accented), papers={1: TIDES})
    )
    assert [found.entry.number for found in store.search("CAFE drift")] == [1]
    assert list(store.search("cafe kelp")) == []
    assert list(store.search(" ")) == []


def test_delete_takes_everything(store: Store, tmp_path: Path) -> None:
    session = store.begin("What mends gauges?", Dials())
    hold(session, "q", answered("q", said("Gauges drift.", 1, TIDES), papers={1: TIDES}))
    session.close()
    store.delete(session.id)
    with sqlite3.connect(tmp_path / "sessions.sqlite") as db:
        counts = [
            db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
            for table in ("sessions", "turns", "sentences", "papers")
        ]
    db.close()
    assert counts == [0, 0, 0, 0]


def test_undone_turns_are_left_out_but_still_paid_for(store: Store) -> None:
    session = store.begin("q", Dials())
    paid = answered("q", papers={}, mode="model", usage=Usage(100, 20, 0.5))
    turn = hold(session, "q", paid)
    hold(session, "r", replace(paid, usage=Usage(10, 2, 0.25)))
    session.undo(turn)
    assert [entry.question for entry in session.entries()] == ["r"]
    assert session.spent() == (Usage(110, 22, 0.75), 2)
    session.undo(turn, undone=False)
    assert [entry.question for entry in session.entries()] == ["q", "r"]
    hold(session, "s", replace(paid, usage=Usage(1, 1, None)))
    assert session.spent()[0].cost_usd is None


def test_dials_come_back(store: Store, tmp_path: Path) -> None:
    dials = Dials("model", "m", Filters(("ICML",), ((2020, 9999),), ("Lee",), ("k",)), raw=True, index="/x")
    session = store.begin("q", Dials())
    session.set_dials(dials)
    session.close()
    with Store(tmp_path) as other:
        assert other.open(session.id).dials == dials


def test_only_the_owner_may_read(tmp_path: Path) -> None:
    with Store(tmp_path / "new" / "folder"):
        mode = stat.S_IMODE((tmp_path / "new" / "folder" / "sessions.sqlite").stat().st_mode)
    assert mode == 0o600


def test_memory_only(tmp_path: Path) -> None:
    with Store(None) as store:
        hold(store.begin("q", Dials()), "q", answered("q", papers={}))
        assert len(store.rows()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "sessions.sqlite").write_bytes(b"not a database at all, but long enough to be one" * 40)
    with pytest.raises(EnvironmentFault, match="RAG_DATA_DIR"):
        Store(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    with sqlite3.connect(other / "sessions.sqlite") as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()
    with pytest.raises(EnvironmentFault, match="not made by this version"):
        Store(other)


def test_numbers_stay_with_their_papers() -> None:
    numbers = Numbers({1: KELP})
    both = answered(
        "q",
        said("Gauges drift.", 1, TIDES),
        said("KelpNet counts kelp.", 2, KELP),
        papers={1: TIDES, 2: KELP},
    )
    again = numbers.answer(both)
    assert [c.ref for s in again.sentences for c in s.citations] == [2, 1]
    assert [(r.ref, r.paper.key) for r in again.references] == [(1, KELP.key), (2, TIDES.key)]
    assert numbers.answer(both) == again


def test_what_became_of_cited_papers(store: Store) -> None:
    session = store.begin("q", Dials())
    both = answered(
        "q",
        said("Gauges drift.", 1, TIDES),
        said("HARBOR mends them.", 1, TIDES),
        said("KelpNet counts kelp.", 2, KELP),
        papers={1: TIDES, 2: KELP},
    )
    hold(session, "q", both)

    class Now:
        def paper(self, key: str) -> Paper | None:
            changed = replace(TIDES, abstract="Gauges drift. TIDAL mends them.")
            return changed if key == TIDES.key else None

    found = changes(session.papers(), session.entries(), Now())  # type: ignore[arg-type]
    assert [(c.ref, c.kind, c.quotes, c.lost) for c in found] == [(1, "changed", 2, 1), (2, "vanished", 1, 1)]


def test_export(store: Store) -> None:
    session = store.begin("What counts <kelp>?", Dials())
    turn = session.ask("And *it*?", "And KelpNet?", "“it” = KelpNet [1]")
    session.finish(
        turn, "answered", answered("And KelpNet?", said("KelpNet counts kelp.", 1, KELP), papers={1: KELP})
    )
    session.finish(session.ask("Broken?"), "failed", None, "The server is down.")
    kept = store.read(session.id)
    text = export.as_markdown(kept.name, kept.entries, kept.papers)
    assert "## And \\*it\\*?" in text
    assert "*Understood as: And KelpNet?*" in text
    assert "KelpNet counts kelp \\[1\\]." in text
    assert "*(failed: The server is down.)*" in text
    assert "1. Counting \\<Kelp\\> \\& \\[more\\]" in text
    turns = json.loads(export.export("json", kept.name, kept.entries, kept.papers))["turns"]
    assert [turn["status"] for turn in turns] == ["answered", "failed"]
    assert turns[0]["answer"]["references"][0]["key"] == KELP.key
    assert turns[0]["resolved"] == "“it” = KelpNet [1]"
    assert "{berg2022," in export.export("bib", kept.name, kept.entries, kept.papers)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        export.write(tmp_path / "missing" / "x.md", "text")
    with pytest.raises(UsageError, match="ending"):
        export.kind_of(tmp_path / "x.docx")
    export.write(tmp_path / "x.md", "text")
    with pytest.raises(UsageError, match="exists already"):
        export.write(tmp_path / "x.md", "other")
    assert (tmp_path / "x.md").read_text() == "text"
    export.write(tmp_path / "x.md", "other", over=True)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["other"]


@pytest.mark.parametrize(
    ("name", "asked", "kind"),
    [
        ("x", None, "md"),
        ("x", "json", "json"),
        ("x.bibtex", None, "bib"),
        ("x.MD", "md", "md"),
        ("x.txt", "bib", "bib"),
        ("x.md", "json", None),
        ("x.txt", None, None),
    ],
)
def test_an_ending_and_a_format_must_not_differ(name: str, asked: str | None, kind: str | None) -> None:
    with nullcontext() if kind else pytest.raises(UsageError, match="ending"):
        assert export.kind_of(Path(name), asked) == kind
