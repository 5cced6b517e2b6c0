"""Reports: one self-contained page that a real browser opens, JUnit XML, a step summary."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from chain_fakes import pile_of
from evals_fakes import ANSWER, CASE, DECLINED, PAPERS, UNANSWERABLE

from rag.evals import tables
from rag.evals.junit import junit
from rag.evals.metrics import score
from rag.evals.report import render
from rag.evals.report.question import marked
from rag.evals.results import Result
from rag.evals.rows import Row
from rag.records import Answer
from rag.wiring import evals as wiring_evals

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
--disable-background-networking --disable-component-update"""


def row(said: Answer, **changes: object) -> Row:
    scores = {k: v for k, v in score(CASE, said, PAPERS, "").items() if v is not None}
    hits = pile_of(*PAPERS.values()).retriever.search(CASE.question)
    retrieved = tuple({"key": hit.paper.key, "score": hit.score, "scores": {}} for hit in hits)
    gold = {
        "papers": list(CASE.papers),
        "facts": [{"text": fact.text, "vital": fact.vital, "stated": True} for fact in CASE.facts],
        "quotes": [asdict(q) for q in CASE.evidence],
        "history": [],
    }
    place = (CASE.id, 1, CASE.question, CASE.kind, ("figure",), "test", CASE.cluster, True)
    made = Row(*place, scores | {"recall@10": 1.0}, wiring_evals.tools().as_json(said), retrieved, gold)
    return replace(made, **changes)  # type: ignore[arg-type]


def result(*rows: Row) -> Result:
    papers = {key: {"title": paper.title, "abstract": paper.abstract} for key, paper in PAPERS.items()}
    return Result("mine", rows, created="2025-01-01", dials={"top": 8}, papers=papers)


HOSTILE = "<script>alert(1)</script>\u202egnp.\x1b[31m"
ROWS = (
    row(ANSWER),
    row(DECLINED, case="declined", kind="near-miss", scores={"right": 0.0, "false_refusal": 1.0}),
    row(ANSWER, case="hostile", question=HOSTILE),
    row(
        ANSWER,
        case="broken",
        scores={},
        answer=None,
        error={"type": "ProviderError", "message": "no such model"},
    ),
)


def test_the_page_is_self_contained_and_hostile_text_is_text() -> None:
    page = render(result(*ROWS))
    assert re.findall(r'(?:src|href)="(?!#)', page) == []
    assert "http://" not in page
    assert "https://" not in page
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202egnp.\\u001b[31m" in page


def test_the_page_shows_what_matters() -> None:
    page = render(result(*ROWS), reasons=["right got worse: 0.9 -> 0.8"])
    assert "right got worse: 0.9 -&gt; 0.8" in page
    assert '<mark class="cited">On GSM-Long it raises accuracy by 7.4% and halves memory use.</mark>' in page
    assert "no such model" in page
    assert "3 of 4" in page  # scored of asked
    assert page.count("<details") == 4
    assert "5 % risk" in page


def test_two_runs_are_shown_side_by_side_with_the_words_that_differ() -> None:
    other = replace(ANSWER, sentences=ANSWER.sentences[:1])
    page = render(result(row(other)), result(row(ANSWER)))
    assert "A against B" in page
    assert re.search(r"<del>[^<]*It is 3\.1x faster", page)


def test_marks_split_where_cited_and_gold_overlap() -> None:
    assert marked("abcdef", [(0, 4)], [(2, 6)]) == (
        '<mark class="cited">ab</mark><mark class="both">cd</mark><mark class="gold">ef</mark>'
    )
    assert marked("a<b", [], []) == "a&lt;b"


def test_junit_is_red_for_the_gate_and_for_errors_only() -> None:
    root = ElementTree.fromstring(junit(result(*ROWS), ("right got worse",)))
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == (
        "5",
        "1",
        "1",
        "1",
    )
    failure = root.find("testcase[@name='gate']/failure")
    assert failure is not None
    assert failure.get("message") == "right got worse"
    green = ElementTree.fromstring(junit(result(*ROWS[:2])))
    assert (green.get("failures"), green.get("errors")) == ("0", "0")


def test_the_step_summary_begins_with_the_verdict() -> None:
    text = tables.step_summary(result(*ROWS), ["right got worse"], ["a note"])
    assert text.startswith("## Evals: mine ✗ failed")
    assert "- **right got worse**" in text
    assert "| right | " in text
    assert tables.step_summary(result(*ROWS[:1]), []).startswith("## Evals: mine ✓ passed")
    assert tables.step_summary(result(*ROWS), []).startswith("## Evals: mine ✗ failed")  # one is an error


def test_tables_line_up() -> None:
    lines = tables.text([("metric", "mean"), ("right", "0.5"), ("mrr@10", "0.25")]).splitlines()
    assert lines == ["metric  mean", "right    0.5", "mrr@10  0.25"]


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here (Debian: apt install chromium)")
def test_a_real_browser_opens_the_page_and_its_script_runs(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(render(result(*ROWS)), "utf-8")
    command = [
        str(BROWSER),
        *QUIET.split(),
        f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom",
        file.as_uri(),
    ]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert ">4 of 4</span>" in shown  # written by the script
    assert "<svg" in shown
    assert UNANSWERABLE.question not in shown
