"""One question asked once: what came back, how it scores, or why it could not be asked.

A failing case is a row with an ``error`` and without scores, never a crash and never a zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rag.errors import RagError
from rag.evals.cases import Case
from rag.evals.metrics import Scores, score, text_of
from rag.evals.pipeline import Pipeline
from rag.evals.recognise import states
from rag.records import Answer, Hit

Rank = Callable[[Mapping[str, Sequence[str]], Mapping[str, Sequence[str]]], dict[str, dict[str, float]]]
Shown = Callable[[Answer], str]
Json = Callable[[Answer], dict[str, object]]


@dataclass(frozen=True, slots=True)
class Tools:
    """What rows are made with: scores of a ranking, the text a reader sees, the JSON of an answer."""

    rank: Rank
    shown: Shown
    as_json: Json


@dataclass(frozen=True, slots=True)
class Row:
    """A question and its outcome; ``scores`` holds only what was scored, ``error`` a type and a message."""

    case: str
    sample: int
    question: str
    kind: str
    tags: tuple[str, ...]
    split: str
    cluster: str
    answerable: bool
    scores: Mapping[str, float] = field(default_factory=dict)
    answer: Mapping[str, Any] | None = None
    retrieved: tuple[Mapping[str, Any], ...] = ()
    gold: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, str] | None = None

    @property
    def confidence(self) -> float | None:
        value = self.answer.get("confidence") if self.answer else None
        return float(value) if value is not None else None

    @property
    def answered(self) -> bool:
        return bool(self.answer) and (self.answer or {}).get("status") == "answered"

    def found(self, k: int) -> float:
        """Return the share of the gold papers among the first ``k`` retrieved."""
        gold = set(self.gold["papers"])
        return len({hit["key"] for hit in self.retrieved[:k]} & gold) / len(gold)


def ask(case: Case, sample: int, pipeline: Pipeline, tools: Tools) -> Row:
    """Ask one question and score the outcome; whatever goes wrong becomes the row's ``error``."""
    try:
        answer, hits = pipeline.ask(case, sample)
        scores = score(case, answer, pipeline.papers, tools.shown(answer)) | ranked(case, hits, tools.rank)
    except RagError as error:
        return _blank(case, sample, error={"type": type(error).__name__, "message": str(error)})
    except Exception as error:  # noqa: BLE001 - a bug met by one question must not cost the others
        return _blank(case, sample, error={"type": type(error).__name__, "message": repr(error)})
    return _blank(
        case,
        sample,
        scores={name: value for name, value in scores.items() if value is not None},
        answer=tools.as_json(answer),
        retrieved=tuple(_hit(hit) for hit in hits),
        gold=_gold(case, answer),
    )


def ranked(case: Case, hits: Iterable[Hit], rank: Rank) -> Scores:
    """Score the ranking; unscored for the unanswerable and for questions about the pile."""
    if not case.answerable or case.kind == "pile" or not case.papers:
        return {}
    return dict(rank({case.id: case.papers}, {case.id: [hit.paper.key for hit in hits]})[case.id])


def from_json(record: Mapping[str, Any]) -> Row:
    """Make a row of what ``to_json`` gave."""
    return Row(**{**record, "tags": tuple(record["tags"]), "retrieved": tuple(record["retrieved"])})


def to_json(row: Row) -> dict[str, Any]:
    """Return the row as plain values."""
    return asdict(row)


def _blank(case: Case, sample: int, **rest: Any) -> Row:
    return Row(
        case.id,
        sample,
        case.question,
        case.kind,
        case.tags,
        case.split,
        case.cluster,
        case.answerable,
        **{"gold": _gold(case, None), **rest},
    )


def _gold(case: Case, answer: Answer | None) -> dict[str, Any]:
    """What was wanted, and of each fact whether the answer states it (None without an answer)."""
    text = text_of(answer) if answer else ""
    facts = [
        {"text": fact.text, "vital": fact.vital, "stated": states(text, fact) if text else None}
        for fact in case.facts
    ]
    return {
        "papers": list(case.papers),
        "facts": facts,
        "quotes": [asdict(quote) for quote in case.evidence],
        "history": [asdict(turn) for turn in case.history],
    }


def _hit(hit: Hit) -> dict[str, Any]:
    scores = {name: round(value, 6) for name, value in hit.scores.items()}
    return {"key": hit.paper.key, "score": round(hit.score, 6), "scores": scores}
