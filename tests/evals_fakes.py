"""A pile of three papers and a right answer over it, for the tests of the evals to spoil."""

from __future__ import annotations

from dataclasses import replace

from rag.evals.cases import Case, parse
from rag.records import Answer, Citation, IndexInfo, Paper, Reference, Sentence, Source, Timings

SOURCE = Source("pile.jsonl", 1)
PAPERS = {
    paper.key: paper
    for paper in (
        Paper(
            "lee2025gate",
            "Gatekeeper filters retrieved passages before they are read. On GSM-Long it raises accuracy "
            "by 7.4% and halves memory use. Training takes 12 hours on one machine.",
            SOURCE,
            title="Gatekeeper: filtering passages",
        ),
        Paper(
            "wu2024mosaic",
            "Mosaic routes every query to one of eight experts. It is 3.1x faster than a dense model of "
            "equal quality and needs no labels.",
            SOURCE,
            title="Mosaic experts",
        ),
        Paper(
            "diaz2025tides",
            "We study ocean tides with graph networks. Errors fall by 18% on coastal stations.",
            SOURCE,
            title="Learning tides",
        ),
    )
}
INFO = IndexInfo(3, 3, "fake", "f0")


def cite(key: str, quote: str, ref: int = 1) -> Citation:
    start = PAPERS[key].abstract.index(quote)
    return Citation(ref, key, quote, start, start + len(quote), 1.0)


CASE = parse(
    {
        "id": "gate-gain",
        "question": "What does Gatekeeper gain on GSM-Long, and how does Mosaic compare in speed?",
        "kind": "compare",
        "split": "test",
        "answerable": True,
        "papers": ["lee2025gate", "wu2024mosaic"],
        "facts": [
            {"text": "accuracy up 7.4 %", "number": {"value": 7.4, "unit": "%", "tolerance": 0.05}},
            {"text": "memory halved", "aliases": ["halves memory", "half the memory"], "vital": False},
            {"text": "3.1 times faster", "number": {"value": 3.1, "unit": "x"}},
        ],
    }
)
GATE = "On GSM-Long it raises accuracy by 7.4% and halves memory use."
MOSAIC = "It is 3.1x faster than a dense model of equal quality and needs no labels."
ANSWER = Answer(
    question=CASE.question,
    status="answered",
    mode="extractive",
    model=None,
    sentences=(
        Sentence(GATE, "verbatim", (cite("lee2025gate", GATE),)),
        Sentence(MOSAIC, "verbatim", (cite("wu2024mosaic", MOSAIC, 2),)),
    ),
    references=(Reference(1, PAPERS["lee2025gate"]), Reference(2, PAPERS["wu2024mosaic"])),
    nearest=(),
    index=INFO,
    timings=Timings(0.0, 0.1, 0.2, 0.1),
    confidence=0.9,
)
DECLINED = replace(
    ANSWER,
    status="abstained",
    sentences=(),
    references=(),
    nearest=(Reference(1, PAPERS["lee2025gate"]),),
    reason="The abstract does not state it.",
    confidence=0.1,
)
UNANSWERABLE: Case = parse(
    {
        "id": "gate-gpu",
        "question": "Which GPU was Gatekeeper trained on?",
        "kind": "near-miss",
        "split": "test",
        "answerable": False,
        "papers": ["lee2025gate"],
    }
)
