"""Where results and remarks go: results to stdout, everything else to stderr.

Colour and wrapping only for a person: stdout is a terminal, ``NO_COLOR`` is unset, ``TERM`` is not dumb.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

from rag.cli import options
from rag.cli.options import Format
from rag.errors import RagError
from rag.records import Answer, Failure, Hit, IndexInfo, Mode, Paper, Sentence
from rag.render import contract, layout, markdown, plain, safe
from rag.render.layout import Line
from rag.wiring import show as wiring_show

if TYPE_CHECKING:
    from rag.chain.plan import Plan
    from rag.corpus import Description
    from rag.doctor import Check
    from rag.index.report import SyncReport

MOST_FAILURES = 20


class Answering:
    """Prints an answer; a model's sentences in a terminal one by one, as they pass the check."""

    def __init__(self, mode: Mode, style: Format, quotes: bool) -> None:
        self._mode, self._style, self._quotes = mode, style, quotes
        live = mode == "model" and style == "text" and is_rich(sys.stdout)
        self._flow = wiring_show.terminal_flow() if live else None
        self._began = False

    def waiting(self, model: str | None, note: Callable[[str], None]) -> None:
        """Say to whoever looks on that a model may take its time."""
        if self._flow is not None and sys.stderr.isatty():
            note(f"Asking {model or 'the model'} ...")

    def sentence(self, one: Sentence) -> None:
        """Take a sentence that passed."""
        if self._flow is not None:
            self._began = True
            self._flow.add(layout.sentence(one, self._mode))

    def end(self, result: Answer) -> None:
        """Print the answer, or what of it is not on the screen yet."""
        if self._flow is None or not self._began:
            answer(result, self._style, self._quotes)
            return
        self._flow.end()
        lines(
            layout.references(result, self._quotes) if result.status == "answered" else layout.answer(result)
        )

    def interrupted(self, stop: KeyboardInterrupt) -> None:
        """Print what was checked before Ctrl-C, which the interruption of an answer carries with it."""
        so_far = getattr(stop, "answer", None)
        if isinstance(so_far, Answer) and so_far.sentences:
            self.end(so_far)


def plan(planned: Plan, style: Format) -> None:
    """Print what an answer would read and cost."""
    if style == "json":
        papers = contract.papers([item.paper for item in planned.papers])
        decision = {"answer": planned.decision.answer, "reason": planned.decision.reason}
        text(contract.dumps({**papers, "usage": asdict(planned.usage), "decision": decision}))
    else:
        lines(layout.plan([item.paper for item in planned.papers], planned.usage, planned.decision.reason))


def summary(result: Answer) -> str:
    """Say in one line how an answer came about."""
    return layout.summary(result)


def answer(result: Answer, style: Format, quotes: bool) -> None:
    """Print an answer."""
    if style == "json":
        text(contract.dumps(contract.answer(result)))
    elif style == "markdown":
        text(markdown.answer(result, quotes))
    elif style == "bibtex":
        text(wiring_show.bibtex([reference.paper for reference in result.references]))
    else:
        lines(layout.answer(result, quotes))


def search(question: str, hits: Sequence[Hit], index: IndexInfo, style: Format) -> None:
    """Print ranked papers."""
    if style == "json":
        text(contract.dumps(contract.search(question, hits, index)))
    elif style == "markdown":
        text(markdown.search(question, hits))
    elif style == "bibtex":
        text(wiring_show.bibtex([hit.paper for hit in hits]))
    else:
        lines(layout.search(question, hits))


def papers(found: Sequence[Paper], style: Format) -> None:
    """Print a list of papers."""
    if style == "json":
        text(contract.dumps(contract.papers(found)))
    elif style == "markdown":
        text(markdown.papers(found))
    elif style == "bibtex":
        text(wiring_show.bibtex(found))
    elif is_rich(sys.stdout):
        wiring_show.terminal_table(found)
    else:
        text(plain.table(found))


def shown(found: Sequence[Paper], style: Format) -> None:
    """Print all that is known about papers; one paper is one JSON object, several are a list of them."""
    if style == "json":
        objects = [contract.paper(paper) for paper in found]
        text(contract.dumps(objects[0] if len(objects) == 1 else {"papers": objects}))
    elif style == "bibtex":
        text(wiring_show.bibtex(found))
    elif style == "markdown":
        text("\n".join(markdown.paper(paper) for paper in found))
    else:
        for number, paper in enumerate(found):
            lines([*([Line()] if number else []), *layout.paper(paper)])


def ingested(report: SyncReport, json: bool, note: Callable[[str], None]) -> None:
    """Print what an ingest did; what could not be read goes to stderr."""
    for failure in report.failed[:MOST_FAILURES]:
        note(f"Not read: {_place(failure)}: {failure.error}")
    if len(report.failed) > MOST_FAILURES:
        note(f"Not read: {len(report.failed) - MOST_FAILURES} more (all are in the output of --json).")
    if json:
        text(contract.dumps(asdict(report)))
        return
    counts = [f"{getattr(report, name):,} {name}" for name in ("added", "changed", "unchanged", "removed")]
    counts += [f"{len(report.failed):,} not read"] if report.failed else []
    text(f"{', '.join(counts)}; {report.papers:,} papers in the index ({report.seconds:.1f} s).")


def described(found: Sequence[Description], json: bool) -> None:
    """Print what an ingest would read."""
    if json:
        files = [
            {"file": each.file, "format": each.format or None, "records": [_record(r) for r in each.records]}
            for each in found
        ]
        text(contract.dumps({"files": files}))
        return
    for each in found:
        lines(layout.described(each.file, each.format, each.records))


def _record(record: Paper | Failure) -> contract.Json:
    return asdict(record) if isinstance(record, Failure) else contract.paper(record)


def checks(found: Sequence[Check], origins: Mapping[str, tuple[str, str]], json: bool) -> None:
    """Print what the doctor found."""
    if json:
        settings = [
            {"key": key, "value": value, "origin": origin} for key, (value, origin) in origins.items()
        ]
        sound = all(check.status != "failed" for check in found)
        text(
            contract.dumps({"ok": sound, "checks": [asdict(check) for check in found], "settings": settings})
        )
    else:
        lines(layout.checks(found, origins))


def note(remark: str) -> None:
    """Write a remark to stderr."""
    options.remark(remark)


def lines(laid_out: Sequence[Line]) -> None:
    """Print laid-out lines in colour or plain."""
    if is_rich(sys.stdout):
        wiring_show.terminal_lines(laid_out)
    else:
        text(plain.text(laid_out))


def text(result: str) -> None:
    """Write a result to stdout, ended by one line break."""
    sys.stdout.write(result.rstrip("\n") + "\n" if result.strip() else "")


def error(failure: RagError) -> None:
    """Write what went wrong and what to do about it, on one line."""
    sys.stderr.write(_styled("Error: ", "31;1") + safe.line(str(failure)) + "\n")


def is_rich(stream: TextIO) -> bool:
    """Whether a person looks at this stream, with a terminal that can show colours."""
    capable = os.environ.get("TERM", "") not in ("dumb", "unknown")
    return stream.isatty() and capable and not os.environ.get("NO_COLOR")


def _place(failure: Failure) -> str:
    record = f", record {failure.record}" if failure.record else ""
    line = f" (line {failure.line})" if failure.line else ""
    return f"{failure.file}{record}{line}"


def _styled(words: str, code: str) -> str:
    return f"\x1b[{code}m{words}\x1b[0m" if is_rich(sys.stderr) else words
