"""One question of a report: what was asked, said and wanted, and the abstracts with what was cited marked."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from rag.evals.attacks import CONTROLS
from rag.evals.metrics import METRICS
from rag.evals.rows import Row

Papers = Mapping[str, Mapping[str, Any]]


def question(row: Row, papers: Papers, other: Row | None = None) -> str:
    """Return the folded view of a row; with ``other`` (run A; ``row`` is B) both answers side by side."""
    words = outcome(row, other)
    badge = f'<span class="badge {_tone(words[0])}">{words[0]}</span>'
    moved = "".join(f'<span class="badge {_tone(word)}">{word}</span>' for word in words[1:])
    sample = f" #{row.sample}" if row.sample > 1 else ""
    return (
        f'<details class="q" id="{safe(row.case)}{sample.strip()}" data-kind="{safe(row.kind)}" '
        f'data-outcome="{" ".join(words)}"><summary>{badge}{moved}<span>{safe(row.question)}</span>'
        f'<span class="id">{safe(row.case + sample)} · {safe(row.kind)} · {safe(row.split)}</span></summary>'
        f'<div class="body">{_body(row, papers, other)}</div></details>'
    )


def outcome(row: Row, other: Row | None = None) -> list[str]:
    """Return the words a row can be sifted by: right, wrong or error; declined; better or worse than A."""
    if row.error:
        return ["error"]
    right = row.scores.get("right")
    words = ["right" if right == 1 else "wrong" if right is not None else "unscored"]
    words += [] if row.answered else ["declined"]
    if other and not other.error and right is not None and other.scores.get("right") not in (None, right):
        words.append("better" if right == 1 else "worse")
    return words


def safe(text: object) -> str:
    """Return text for HTML; characters that steer terminals or the direction of text become visible."""
    return escape(CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", str(text)))


def _tone(word: str) -> str:
    return {"right": "good", "better": "good", "wrong": "bad", "worse": "bad", "error": "bad"}.get(
        word, "warn"
    )


def _body(row: Row, papers: Papers, other: Row | None) -> str:
    if row.error:
        return f"<pre>{safe(row.error['type'])}: {safe(row.error['message'])}</pre>"
    if other is None or other.error or _text(other) == _text(row):
        answers = f"<h3>Answer</h3>{_answer(row)}"
    else:
        before, after = _worded(_text(other), _text(row))
        answers = (
            f'<div class="two"><div><h3>A</h3><p>{before}</p></div><div><h3>B</h3><p>{after}</p></div></div>'
            f"<h3>Answer of B</h3>{_answer(row)}"
        )
    parts = [_before(row), answers, _wanted(row), "<h3>Evidence</h3>", _evidence(row, papers)]
    return "".join([*parts, _ranking(row), _scores(row)])


def _before(row: Row) -> str:
    """The turns before a follow-up, and how the program understood the question."""
    turns = "".join(
        f"<p class=dim>{safe(t['question'])}<br>— {safe(t['answer'])}</p>" for t in row.gold["history"]
    )
    meant = str((row.answer or {}).get("question") or row.question)
    understood = f"<p>understood as: {safe(meant)}</p>" if meant != row.question else ""
    return (f"<h3>Before</h3>{turns}" if turns else "") + understood


def _text(row: Row) -> str:
    answer = row.answer or {}
    return str(answer.get("answer") or answer.get("reason") or "")


def _answer(row: Row) -> str:
    answer = row.answer or {}
    if not row.answered:
        near = ", ".join(safe(paper["key"]) for paper in answer.get("nearest", []))
        return f'<p class="said"><b>Declined.</b> {safe(answer.get("reason") or "")}</p>' + (
            f'<p class="key">nearest: {near}</p>' if near else ""
        )
    said = [_sentence(one, str(one["verdict"])) for one in answer["sentences"]]
    return "".join(said + [_sentence(one, "removed") for one in answer.get("removed", [])])


def _sentence(sentence: Mapping[str, Any], verdict: str) -> str:
    refs = " ".join(
        f'<span class="ref" title="{safe(c["quote"])}">[{c["ref"]}] {safe(c["key"])} '
        f"{c['support']:.2f}</span>"
        for c in sentence["citations"]
    )
    note = f' <span class="key">{safe(sentence["note"])}</span>' if sentence.get("note") else ""
    said = f'{safe(sentence["text"])} {refs} <span class="key">{verdict}</span>{note}'
    return f'<p class="said {verdict}">{said}</p>'


def _wanted(row: Row) -> str:
    if not row.answerable:
        return '<h3>Wanted</h3><p class="chips"><span>to decline</span></p>'
    marks = {True: "✓", False: "✗", None: "–"}
    facts = [
        f"<span>{marks[fact['stated']]} {safe(fact['text'])}{'' if fact['vital'] else ' (okay)'}</span>"
        for fact in row.gold["facts"]
    ]
    cited = {c["key"] for s in (row.answer or {}).get("sentences", []) for c in s["citations"]}
    keys = [f"<span>{marks[key in cited]} {safe(key)}</span>" for key in row.gold["papers"][:12]]
    return f'<h3>Wanted</h3><p class="chips">{"".join(facts + keys)}</p>'


def _evidence(row: Row, papers: Papers) -> str:
    """Abstracts of cited and gold papers: cited words yellow, gold words blue, both green."""
    cited: dict[str, list[tuple[int, int]]] = {}
    for sentence in (row.answer or {}).get("sentences", []):
        for citation in sentence["citations"]:
            cited.setdefault(citation["key"], []).append((citation["start"], citation["end"]))
    keys = list(dict.fromkeys([*cited, *row.gold["papers"]]))[:6]
    parts = []
    for key in keys:
        paper = papers.get(key)
        if paper is None:
            parts.append(f'<p class="abstract"><b>{safe(key)}</b>: not in the pile</p>')
            continue
        abstract = str(paper["abstract"])
        gold = [
            span
            for quote in row.gold["quotes"]
            if quote["key"] == key
            for span in _find(quote["quote"], abstract)
        ]
        text = marked(abstract, cited.get(key, []), gold)
        title = f'<b>{safe(paper["title"] or key)}</b> <span class="key">{safe(key)}</span>'
        parts.append(f'<p class="abstract">{title}<br>{text}</p>')
    return "".join(parts) or '<p class="dim">none</p>'


def marked(text: str, cited: Sequence[tuple[int, int]], gold: Sequence[tuple[int, int]]) -> str:
    """Return the text with its stretches marked as cited, gold, or both."""
    edges = sorted(
        {0, len(text), *(min(max(edge, 0), len(text)) for span in [*cited, *gold] for edge in span)}
    )
    parts = []
    for start, end in pairwise(edges):
        inside = [any(a <= start and end <= b for a, b in spans) for spans in (cited, gold)]
        name = {(True, True): "both", (True, False): "cited", (False, True): "gold"}.get(
            (inside[0], inside[1])
        )
        piece = safe(text[start:end])
        parts.append(f'<mark class="{name}">{piece}</mark>' if name else piece)
    return "".join(parts)


def _find(quote: str, text: str) -> list[tuple[int, int]]:
    start = text.find(quote)
    return [(start, start + len(quote))] if start >= 0 else []


def _ranking(row: Row) -> str:
    first = "".join(
        f"<span>{'★ ' * (hit['key'] in row.gold['papers'])}{safe(hit['key'])} {hit['score']:.2f}</span>"
        for hit in row.retrieved[:8]
    )
    return f'<h3>Retrieved</h3><p class="chips">{first or "nothing"}</p>'


def _scores(row: Row) -> str:
    known = [name for name in METRICS if name in row.scores]
    cells = "".join(f"<span>{safe(name)} {row.scores[name]:.2f}</span>" for name in known)
    confidence = "" if row.confidence is None else f"<span>confidence {row.confidence:.2f}</span>"
    return f'<h3>Scores</h3><p class="chips">{cells}{confidence}</p>'


def _worded(before: str, after: str) -> tuple[str, str]:
    """Return both texts with the words marked that only one of them has."""
    a, b = re.findall(r"\S+\s*", before), re.findall(r"\S+\s*", after)
    left, right = [], []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        gone, come = safe("".join(a[i:j])), safe("".join(b[k:m]))
        left.append(gone if tag == "equal" or not gone else f"<del>{gone}</del>")
        right.append(come if tag == "equal" or not come else f"<ins>{come}</ins>")
    return "".join(left), "".join(right)
