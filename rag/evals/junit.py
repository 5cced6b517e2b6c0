"""JUnit XML of a run: one test case a question, and one for the gate, which alone can fail.

A wrong answer that the gate tolerates is "skipped", with what was wanted: a red mark in CI means a red gate
or an error.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from rag.evals.results import Result
from rag.evals.rows import Row

NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(result: Result, reasons: tuple[str, ...] = ()) -> str:
    """Return the document. The gate's reasons are a test case of their own, so that CI shows them by name."""
    wrong = sum("right" in row.scores and row.scores["right"] < 1 for row in result.rows)
    suite = ElementTree.Element(
        "testsuite",
        name=f"rag eval {result.suite}",
        tests=str(len(result.rows) + 1),
        failures=str(int(bool(reasons))),
        skipped=str(wrong),
        errors=str(len(result.errors)),
        time=f"{result.seconds:.3f}",
    )
    gate = ElementTree.SubElement(suite, "testcase", classname=f"{result.suite}.gate", name="gate")
    if reasons:
        ElementTree.SubElement(gate, "failure", message=_clean(reasons[0])).text = _clean("\n".join(reasons))
    for row in result.rows:
        _case(suite, result.suite, row)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, name: str, row: Row) -> None:
    sample = f" #{row.sample}" if row.sample > 1 else ""
    seconds = f"{row.scores.get('latency_s', 0.0):.3f}"
    node = ElementTree.SubElement(
        suite, "testcase", classname=f"{name}.{row.kind}", name=row.case + sample, time=seconds
    )
    if row.error:
        ElementTree.SubElement(node, "error", type=row.error["type"], message=_clean(row.error["message"]))
    elif row.scores.get("right", 1.0) < 1:
        said = str((row.answer or {}).get("answer") or (row.answer or {}).get("reason") or "")
        wanted = "; ".join(fact["text"] for fact in row.gold["facts"]) or "declining"
        message = _clean(f"{row.question} (wanted: {wanted})")
        ElementTree.SubElement(node, "skipped", message=message)
        ElementTree.SubElement(node, "system-out").text = _clean(said)


def _clean(text: str) -> str:
    return NOT_XML.sub("�", text)
