"""Proposes gold cases from papers, for a person to edit: facts and evidence are ready, the question is not.

    for record in draft(papers, per_paper=2): print(json.dumps(record))

Chosen are the sentences that say most: with figures, then with names. Nothing is invented, and nothing of
it can be used as it is: ``rag eval lint`` refuses a question that still starts with DRAFT.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rag.evals.lint import DRAFT
from rag.evals.recognise import NUMBER, UNIT, fold, same_unit
from rag.records import Paper
from rag.text.sentences import split
from rag.text.words import word_set

KNOWN_UNITS = word_set("% x points gb mb s ms min h")
NAME = re.compile(r"\b(?:[A-Z][a-z]*[A-Z]\w*|[A-Z]{2,}\w*(?:-\w+)*)\b")


def draft(papers: Iterable[Paper], per_paper: int = 2, split_of: str = "test") -> Iterator[dict[str, Any]]:
    """Yield proposed cases as JSON objects, ``per_paper`` of each paper, the most telling sentences first."""
    for paper in papers:
        sentences = [span.text.strip() for span in split(paper.abstract)]
        best = sorted(sentences, key=_weight, reverse=True)[:per_paper]
        for number, sentence in enumerate(best, 1):
            yield _case(paper, sentence, number, split_of)


def _weight(sentence: str) -> tuple[int, int]:
    return len(NUMBER.findall(fold(sentence))), len(NAME.findall(sentence))


def _case(paper: Paper, sentence: str, number: int, split_of: str) -> dict[str, Any]:
    facts = [*_figures(sentence)] or [{"text": sentence, "aliases": sorted(set(NAME.findall(sentence)))[:3]}]
    return {
        "id": re.sub(r"[^a-z0-9]+", "-", f"{paper.key}-{number}".lower()).strip("-"),
        "question": f"{DRAFT}: ask, in words of your own, for what this says: {sentence}",
        "kind": "fact",
        "tags": ["figure"] if "number" in facts[0] else [],
        "split": split_of,
        "answerable": True,
        "papers": [paper.key],
        "facts": facts,
        "evidence": [{"key": paper.key, "quote": sentence}],
        "note": "proposed by rag eval draft",
    }


def _figures(sentence: str) -> Sequence[dict[str, Any]]:
    folded = fold(sentence)
    found = []
    for number in NUMBER.finditer(folded):
        unit = UNIT.match(folded[number.end() :])
        name = same_unit(unit[1]) if unit else ""
        figure = {"value": float(number[0].replace(",", "")), "unit": name if name in KNOWN_UNITS else ""}
        found.append(
            {
                "text": f"{number[0]} {figure['unit']}".strip(),
                "number": figure | {"tolerance": _half(number[0])},
            }
        )
    return found


def _half(digits: str) -> float:
    """Half of the last digit given: 0.05 for "7.4"."""
    decimals = len(digits.partition(".")[2])
    return 0.5 * 10.0**-decimals if decimals else 0.0
