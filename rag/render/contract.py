"""The JSON that scripts rely on: records -> dictionaries of plain values, keys in the documented order.

Fields are only ever added. Beyond the documented ones ``ask`` carries ``removed`` (sentences that failed the
check, same form as ``sentences``), ``read`` (papers put before the writer), ``confidence``, what the check
dropped (``dropped_quotes``, ``invalid_refs``), whether the reply was ``cached``, and a ``note`` per sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from rag.records import Answer, Hit, IndexInfo, Paper, Reference, Sentence
from rag.render.marks import numbers
from rag.render.safe import json_text
from rag.text.marks import marked

Json = dict[str, object]


def dumps(value: object) -> str:
    """Serialise for people and programs: indented, Unicode as it is, nothing in it that a terminal obeys."""
    return json_text(json.dumps(value, ensure_ascii=False, indent=2))


def answer(result: Answer) -> Json:
    """``rag ask --json``."""
    return {
        "question": result.question,
        "status": result.status,
        "mode": result.mode,
        "model": result.model,
        "answer": " ".join(marked(s.text, numbers(s)) for s in result.sentences),
        "sentences": [_sentence(s) for s in result.sentences],
        "references": [_reference(r) for r in result.references],
        "nearest": [_reference(r) for r in result.nearest],
        "reason": result.reason,
        "removed": [_sentence(s) for s in result.removed],
        "read": result.read,
        "confidence": result.confidence,
        "dropped_quotes": result.dropped_quotes,
        "invalid_refs": result.invalid_refs,
        "cached": result.cached,
        "usage": asdict(result.usage),
        "timings": {name: seconds and round(seconds, 4) for name, seconds in asdict(result.timings).items()},
        "prompt": asdict(result.prompt) if result.prompt else None,
        "index": asdict(result.index),
    }


def search(question: str, hits: Sequence[Hit], index: IndexInfo) -> Json:
    """``rag search --json``: one row per paper, best first."""
    return {
        "question": question,
        "hits": [_hit(rank, hit) for rank, hit in enumerate(hits, 1)],
        "index": asdict(index),
    }


def papers(found: Iterable[Paper]) -> Json:
    """``rag papers list --json``."""
    return {"papers": [_listed(paper) for paper in found]}


def paper(one: Paper) -> Json:
    """``rag papers show KEY --json``: everything that is known."""
    return {
        **_listed(one),
        "doi": one.doi,
        "arxiv_id": one.arxiv_id,
        "abstract": one.abstract,
        "also": [asdict(source) for source in one.also],
        "extra": dict(one.extra),
    }


def _listed(one: Paper) -> Json:
    return {
        "key": one.key,
        "title": one.title,
        "authors": list(one.authors),
        "venue": one.venue,
        "year": one.year,
        "url": one.url,
        "source": asdict(one.source),
    }


def _reference(reference: Reference) -> Json:
    return {"ref": reference.ref, **_listed(reference.paper)}


def _sentence(sentence: Sentence) -> Json:
    return {
        "text": sentence.text,
        "verdict": sentence.verdict,
        "citations": [{**asdict(c), "support": round(c.support, 4)} for c in sentence.citations],
        "note": sentence.note,
    }


def _hit(rank: int, hit: Hit) -> Json:
    passage = hit.passage
    return {
        "rank": rank,
        "key": hit.paper.key,
        "title": hit.paper.title,
        "score": round(hit.score, 6),
        "ranks": dict(hit.ranks),
        "passage": {"id": passage.id, "text": passage.text, "start": passage.start, "end": passage.end},
        "source": asdict(hit.paper.source),
    }
