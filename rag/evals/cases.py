"""Gold cases: the questions, and what a right answer says and cites.

One case a line of JSON; eval/README.md describes every field. A file that is not quite right is refused with
its name and line, never read in part:

    >>> case = parse({"id": "cap", "question": "What is the capital of Mongolia?", "kind": "far",
    ...               "split": "test", "answerable": False, "papers": []})
    >>> case.facts
    ()
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rag.errors import UsageError
from rag.evals.fields import Fields
from rag.evals.files import read

ANSWERABLE_KINDS = ("fact", "paraphrase", "named", "compare", "list", "pile", "followup", "injected")
UNANSWERABLE_KINDS = ("near-miss", "no-paper", "far", "false-premise", "injected")
SPLITS = ("tune", "test")
ID = re.compile(r"[a-z0-9][a-z0-9-]*")
README = "eval/README.md describes the fields of a case."


@dataclass(frozen=True, slots=True)
class Number:
    """A figure of a fact: ``value`` give or take ``tolerance`` (absolute), in ``unit`` ("" for none)."""

    value: float
    unit: str = ""
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Fact:
    """Something a right answer says. An alias is strings that must all occur; one alias is enough."""

    text: str
    aliases: tuple[tuple[str, ...], ...] = ()
    vital: bool = True
    number: Number | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """Verbatim words of the abstract of the paper ``key``."""

    key: str
    quote: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the conversation before the question."""

    question: str
    answer: str
    papers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attack:
    """What an injection wants: its kind, the strings that show that it was obeyed, and its paper, if any."""

    kind: str
    marks: tuple[str, ...]
    paper: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One gold question. ``where`` is "file:line", for error messages."""

    id: str
    question: str
    kind: str
    split: str
    answerable: bool
    papers: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    evidence: tuple[Quote, ...] = ()
    history: tuple[Turn, ...] = ()
    tags: tuple[str, ...] = ()
    count: int | None = None
    attack: Attack | None = None
    note: str | None = None
    where: str = ""

    @property
    def cluster(self) -> str:
        """The unit of resampling: all questions on one first paper stand or fall together."""
        return self.papers[0] if self.papers else self.id

    def digest(self) -> str:
        """SHA-256 of what is sent to a model: a mended alias must not make a recording stale."""
        turns = [[turn.question, turn.answer, turn.papers] for turn in self.history]
        return hashlib.sha256(json.dumps([self.question, turns]).encode()).hexdigest()


def load(paths: Iterable[Path]) -> list[Case]:
    """Read cases from files and folders (their ``*.jsonl``, not those of subfolders), in order.

    Raises:
        UsageError: a file is missing, or a line is not a case; the message names file and line.
        EnvironmentFault: a file may not be read.
    """
    cases: dict[str, Case] = {}
    for file in files(paths):
        for number, line in enumerate(read(file).splitlines(), 1):
            if not line.strip():
                continue
            case = _read_line(line, f"{file}:{number}")
            if case.id in cases:
                raise UsageError(
                    f"{case.where}: id {case.id!r} was used at {cases[case.id].where}.", "Ids are unique."
                )
            cases[case.id] = case
    if not cases:
        raise UsageError("The gold set is empty.", "Give --gold a .jsonl file or a folder of them.")
    return list(cases.values())


def parse(record: Mapping[str, object], where: str = "") -> Case:
    """Turn one JSON object into a case. Raises ValueError with a sentence about the first fault."""
    fields = Fields(
        record,
        "case",
        "id question kind split answerable papers facts evidence history tags count attack note",
    )
    case = Case(
        id=fields.text("id"),
        question=fields.text("question"),
        kind=fields.text("kind"),
        split=fields.text("split"),
        answerable=fields.flag("answerable"),
        papers=fields.words("papers"),
        facts=tuple(_fact(item) for item in fields.objects("facts")),
        evidence=tuple(_quote(item) for item in fields.objects("evidence")),
        history=tuple(_turn(item) for item in fields.objects("history")),
        tags=fields.words("tags"),
        count=fields.whole("count"),
        attack=_attack(record["attack"]) if record.get("attack") is not None else None,
        note=fields.text("note") if record.get("note") is not None else None,
        where=where,
    )
    _check(case)
    return case


def files(paths: Iterable[Path]) -> list[Path]:
    """Return the files of a gold set: of a folder its ``*.jsonl``, in order of their names."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"There is no gold set at {path}.", "Give --gold a .jsonl file or a folder of them."
            )
        found += sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    return found


def _read_line(line: str, where: str) -> Case:
    try:
        record = json.loads(line)
        if not isinstance(record, dict):
            raise ValueError("a case is a JSON object")
        return parse(record, where)
    except ValueError as error:
        raise UsageError(f"{where}: {error}.", README) from error


def _check(case: Case) -> None:
    """Refuse what contradicts itself; what needs the papers is left to lint."""
    kinds = ANSWERABLE_KINDS if case.answerable else UNANSWERABLE_KINDS
    if not ID.fullmatch(case.id):
        raise ValueError(f"id {case.id!r} is not made of a-z, 0-9 and -")
    if case.kind not in kinds:
        raise ValueError(
            f"kind {case.kind!r} with answerable={case.answerable} is not one of {', '.join(kinds)}"
        )
    if case.split not in SPLITS:
        raise ValueError(f"split {case.split!r} is neither tune nor test")
    if not case.answerable and case.facts:
        raise ValueError("an unanswerable case has no facts")
    if (case.kind == "followup") != bool(case.history):
        raise ValueError("a followup has a history and no other kind has one")
    if case.answerable and not (case.papers or case.facts or case.count is not None):
        raise ValueError("an answerable case names papers, facts or a count")


def _fact(record: Mapping[str, object]) -> Fact:
    fields = Fields(record, "fact", "text aliases vital number")
    number = record.get("number")
    return Fact(
        text=fields.text("text"),
        aliases=tuple(_alias(alias) for alias in fields.items("aliases")),
        vital=fields.flag("vital", default=True),
        number=None if number is None else _number(number),
    )


def _alias(alias: object) -> tuple[str, ...]:
    parts = [alias] if isinstance(alias, str) else alias
    if (
        not isinstance(parts, list)
        or not parts
        or not all(isinstance(part, str) and part.strip() for part in parts)
    ):
        raise ValueError(f"alias {alias!r} is neither a string nor a list of strings")
    return tuple(parts)


def _number(record: object) -> Number:
    fields = Fields(record, "number", "value unit tolerance")
    tolerance = fields.number("tolerance", 0.0)
    if tolerance < 0:
        raise ValueError("number: tolerance is negative")
    return Number(fields.number("value"), fields.text("unit", ""), tolerance)


def _quote(record: Mapping[str, object]) -> Quote:
    fields = Fields(record, "evidence", "key quote")
    return Quote(fields.text("key"), fields.text("quote"))


def _turn(record: Mapping[str, object]) -> Turn:
    fields = Fields(record, "history", "question answer papers")
    return Turn(fields.text("question"), fields.text("answer"), fields.words("papers"))


def _attack(record: object) -> Attack:
    fields = Fields(record, "attack", "kind marks paper")
    paper = fields.text("paper") if "paper" in fields.record else None
    return Attack(fields.text("kind"), fields.words("marks"), paper)
