"""What is stored of a conversation, and how it becomes text and back: turns, dials, papers as cited."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

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

Status = Literal["writing", "answered", "abstained", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Dials:
    """What a session goes on with when it is resumed."""

    mode: str = "extractive"
    model: str | None = None
    filters: Filters = field(default_factory=Filters)
    raw: bool = False
    index: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One turn as stored. ``meant`` is the stand-alone question, ``note`` says what was taken for what.

    ``answer`` is None until something was written; its numbers are those of the conversation. A status
    "writing" found in the store means that the program was killed then: ``answer`` has what it had shown.
    """

    id: int
    number: int
    question: str
    meant: str
    status: Status
    started: float
    note: str = ""
    error: str = ""
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class About:
    """What is kept of a turn besides its sentences."""

    note: str = ""
    error: str = ""
    answer: Mapping[str, Any] = field(default_factory=dict)


def dump_paper(paper: Paper) -> str:
    """The paper as it was when it was cited, without the raw text of its file."""
    record = asdict(paper)
    del record["raw"]
    return json.dumps(record, ensure_ascii=False, default=str)


def load_paper(text: str) -> Paper:
    record = json.loads(text)
    return Paper(
        **{
            **record,
            "authors": tuple(record["authors"]),
            "source": Source(**record["source"]),
            "also": tuple(Source(**source) for source in record["also"]),
        }
    )


def digest(paper: Paper) -> str:
    """What counts when two versions of a paper are compared: what can be quoted, and by which name."""
    return hashlib.sha256(f"{paper.title}\0{paper.abstract}".encode()).hexdigest()


def dump_sentence(sentence: Sentence) -> str:
    return json.dumps(asdict(sentence), ensure_ascii=False)


def load_sentence(text: str) -> Sentence:
    record = json.loads(text)
    citations = tuple(Citation(**citation) for citation in record.pop("citations"))
    return Sentence(**record, citations=citations)


def dump_dials(dials: Dials) -> str:
    return json.dumps(asdict(dials), ensure_ascii=False)


def load_dials(text: str) -> Dials:
    record = json.loads(text)
    filters = record.pop("filters")
    years = tuple((int(first), int(last)) for first, last in filters.pop("years"))
    return Dials(**record, filters=Filters(**{name: tuple(v) for name, v in filters.items()}, years=years))


def dump_about(about: About) -> str:
    return json.dumps(asdict(about), ensure_ascii=False)


def describe(answer: Answer) -> dict[str, Any]:
    """Everything of an answer but its sentences and papers, which have rows of their own."""
    return {
        "mode": answer.mode,
        "model": answer.model,
        "reason": answer.reason,
        "read": answer.read,
        "confidence": answer.confidence,
        "cached": answer.cached,
        "dropped_quotes": answer.dropped_quotes,
        "invalid_refs": answer.invalid_refs,
        "nearest": [reference.ref for reference in answer.nearest],
        "removed": [asdict(sentence) for sentence in answer.removed],
        "usage": asdict(answer.usage),
        "timings": asdict(answer.timings),
        "prompt": asdict(answer.prompt) if answer.prompt else None,
        "index": asdict(answer.index),
    }


def rebuild(
    question: str,
    status: Status,
    about: About,
    sentences: Sequence[Sentence],
    papers: Mapping[int, Paper],
) -> Answer:
    """Make the answer again from what was stored of it."""
    kept = about.answer
    refs = dict.fromkeys(citation.ref for sentence in sentences for citation in sentence.citations)
    return Answer(
        question=question,
        status="abstained" if status == "abstained" else "answered",
        mode=kept.get("mode", "extractive"),
        model=kept.get("model"),
        sentences=tuple(sentences),
        references=_references(refs, papers),
        nearest=_references(kept.get("nearest", ()), papers),
        index=IndexInfo(**kept["index"]) if "index" in kept else IndexInfo(0, 0, "", ""),
        reason=kept.get("reason"),
        removed=tuple(load_sentence(json.dumps(sentence)) for sentence in kept.get("removed", ())),
        read=kept.get("read", 0),
        usage=Usage(**kept.get("usage", {})),
        timings=Timings(**kept.get("timings", {})),
        prompt=PromptInfo(**kept["prompt"]) if kept.get("prompt") else None,
        confidence=kept.get("confidence"),
        dropped_quotes=kept.get("dropped_quotes", 0),
        invalid_refs=kept.get("invalid_refs", 0),
        cached=kept.get("cached", False),
    )


def _references(refs: Any, papers: Mapping[int, Paper]) -> tuple[Reference, ...]:
    return tuple(Reference(ref, papers[ref]) for ref in refs if ref in papers)
