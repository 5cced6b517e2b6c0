"""Says of each missed target where the time went, in figures of the same run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

ASK = "one question to 38 papers"
HASHED, MINILM = "ingest of 3,000, hashed words", "ingest of 200, MiniLM"


def middle(raw: dict[str, Any], case: str, program: str, what: int = 0) -> float | None:
    """Median over the runs: 0 wall, 1 processor, 2 memory; None for what could not be run."""
    samples = raw["processes"].get(case, {}).get(program)
    return statistics.median(s[what] for s in samples) if isinstance(samples, list) and samples else None


def causes(raw: dict[str, Any], growth: dict[int, Any], targets: Sequence[Sequence[str]]) -> list[str]:
    """Return a paragraph for each kind of target that was missed."""
    missed = " | ".join(row[0] for row in targets if row[3] == "no")
    written = (
        ("quoted answer", _quoted(raw)),
        ("abstracts, hashed words", _hashed(raw)),
        ("abstracts, MiniLM", _minilm(raw)),
        ("question inside a process", _inside(growth.get(100_000, {}).get("query"))),
        ("ten sentences, by words", WORDS),
        ("with cosines", COSINES),
    )
    return [f"- {' '.join(text.split())}" for what, text in written if what in missed and text]


WORDS = """Verification by words: nothing stands out. Finding the quotations, the names, the figures,
        and what is denied or reversed take about a fifth each."""
COSINES = """Verification with cosines: each costs a run of the embedder, up to 20 for ten sentences
        of which none stands in its paper to the letter. A model takes longer than that to write
        one sentence, and each is checked while the next is written."""


def _quoted(raw: dict[str, Any]) -> str:
    whole, hashed = middle(raw, ASK, "rag"), middle(raw, ASK, "rag, hashed words")
    if not whole or not hashed:
        return ""
    return f"""Quoted answer: {whole - hashed:.2f} of {whole:.2f} s are the embedding model, loaded
        and run over the question and two dozen sentences of the papers found; the LlamaIndex script
        has a bag of words in its place. With the same words on both sides the ratio is that of the
        next row."""


def _hashed(raw: dict[str, Any]) -> str:
    ours, theirs = middle(raw, HASHED, "rag"), middle(raw, HASHED, "LlamaIndex")
    if not ours or not theirs:
        return ""
    return f"""Ingest with hashed words: without a model to run, {ours:.1f} s against {theirs:.1f}
        show what the program does and the script does not: cleaning the text, finding that two
        records are one paper, records with their sources in SQLite, a keyword index, vectors kept
        for a rebuild; stage by stage in performance-log.md. With a model all of it is a small part
        of the time."""


def _minilm(raw: dict[str, Any]) -> str:
    bare, whole = raw.get("bare"), raw.get("minilm_3000")
    ours, theirs = middle(raw, MINILM, "rag"), middle(raw, MINILM, "LlamaIndex")
    if not bare:
        return ""
    rate = bare["texts"] / bare["seconds"]
    said = f"Ingest with the model: embedding alone goes at {rate:.1f} abstracts a second."
    if whole:
        said += f""" Of the {whole["seconds"]:.0f} s for {whole["papers"]:,} it would take
        {whole["papers"] / rate:.0f}; the rest is what the row with hashed words shows, and waiting: while
        Chroma writes, it holds the interpreter's lock and the embedder stands still."""
    if ours and theirs:
        said += f""" For 200 it takes {200 / rate:.1f} s of the {ours:.1f} and {theirs:.1f} s of the two
        programs, and start-up a second or two on both sides: with one embedder there is little left in
        which they can differ."""
    return said


def _inside(query: dict[str, Any] | None) -> str:
    if not query:
        return ""
    embed, words, exact = (query[name]["p50"] for name in ("embed", "keywords", "exact_top400"))
    rest = query["search"]["p50"] - embed - words - exact
    return f"""Question inside a process at 100,000: {embed:.1f} ms embed the question, {words:.1f}
        rank by words, {exact:.1f} compare with every passage, {rest:.1f} read the records of the
        400 passages and fuse. The target was set for Chroma's 20 nearest; the fusion looks at 400."""
