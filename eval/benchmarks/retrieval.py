"""Measures retrieval on public test collections of abstracts, through the code that ships.

    python eval/benchmarks/retrieval.py PATH/TO/COLLECTIONS [cranfield cisi ...] [--check]

A collection is a folder with ``corpus.jsonl`` (``_id``, ``title``, ``text``), ``queries.jsonl`` (``_id``,
``text``) and ``qrels.tsv`` (query, document, grade, under a header line). It is ingested like any pile, into
``--cache`` (default: the user's cache folder), so that the next run embeds nothing. ``--check`` fails unless
the fusion beats BM25 on every collection and reaches the figures below.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import ir_measures
import platformdirs
from ir_measures import R, nDCG

from rag import settings, wiring
from rag.adapters.chroma_store import ChromaStore
from rag.adapters.keyword import Bm25Index
from rag.chain.retrieve import WEIGHT, Retriever
from rag.index.library import Library
from rag.index.parts import Identity
from rag.index.sync import sync
from rag.records import Failure, Paper, Source

MEASURES = [nDCG @ 10, R @ 5, R @ 20]
# nDCG@10 of the plain weighted sum at 0.5 when this was designed; a run may be .005 below.
FLOORS = {"cranfield": 0.426, "cisi": 0.454, "med": 0.797, "cacm": 0.550, "pubmedqa": 0.993}
DEPTH = 20
Search = Callable[[str], list[str]]


def read_corpus(path: Path) -> Iterator[Paper | Failure]:
    """Yield the documents of ``corpus.jsonl``."""
    for number, row in enumerate(rows(path), start=1):
        yield Paper(
            key=row["_id"],
            title=row["title"] or None,
            abstract=row["text"],
            source=Source(str(path), number),
        )


def rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def searches(folder: Path, index: Path) -> dict[str, Search]:
    """Ingest the collection in ``folder`` and return the ways of searching it by name."""
    parts = wiring.parts(settings.load(environ={}, files=()))
    # A collection's documents are separate even where they are equal.
    alone = Identity(lambda paper: [paper.key], lambda first, _: first, lambda proposed, _: proposed)
    report = sync(
        index, [folder / "corpus.jsonl"], read=read_corpus, identity=alone, parts=parts, progress=shown
    )
    for failure in report.failed:
        print(f"{folder.name}: document {failure.record} {failure.error}", file=sys.stderr)
    library = Library(index, parts.embedder.id)
    vectors, keywords = ChromaStore.in_folder(library.vector_folder), Bm25Index(library.keyword_folder)

    def fused(weight: float) -> Search:
        retriever = Retriever(library, vectors, keywords, parts.embedder, weight)
        return lambda question: [hit.paper.key for hit in retriever.search(question, DEPTH)]

    return {
        "BM25": lambda question: [key for key, _ in keywords.search(question, DEPTH)],
        "dense": fused(0.0),
        "fusion": fused(WEIGHT),
    }


def shown(done: int, total: int) -> None:
    print(f"\r{done}/{total} passages", end="" if done < total else "\n", file=sys.stderr, flush=True)


def measured(folder: Path, search: Search) -> dict[str, float]:
    """Return the mean of each measure over the queries that have relevant documents."""
    lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    qrels = [ir_measures.Qrel(q, d, int(grade)) for q, d, grade in (line.split("\t") for line in lines)]
    run = [
        ir_measures.ScoredDoc(query["_id"], key, -rank)
        for query in rows(folder / "queries.jsonl")
        for rank, key in enumerate(search(query["text"]))
    ]
    return {str(name): value for name, value in ir_measures.calc_aggregate(MEASURES, qrels, run).items()}


def shortfalls(name: str, results: dict[str, dict[str, float]]) -> list[str]:
    """What the fusion owes on the collection ``name``."""
    fusion, bm25 = results["fusion"]["nDCG@10"], results["BM25"]["nDCG@10"]
    owed = [f"{name}: fusion {fusion:.3f} loses to BM25 {bm25:.3f}"] if fusion < bm25 else []
    floor = FLOORS.get(name, 0.0) - 0.005
    return owed + ([f"{name}: fusion {fusion:.3f} is below {floor:.3f}"] if fusion < floor else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("collections", type=Path)
    parser.add_argument("names", nargs="*", default=list(FLOORS))
    parser.add_argument("--cache", type=Path, default=platformdirs.user_cache_path("citerag") / "benchmarks")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_intermixed_args()
    packages = ", ".join(f"{name} {version(name)}" for name in ("chromadb", "bm25s", "onnxruntime"))
    print(f"Retrieval ({packages})\n\n| collection | search | nDCG@10 | Recall@5 | Recall@20 |")
    print("|---|---|---|---|---|")
    owed: list[str] = []
    for name in arguments.names:
        folder = arguments.collections / name
        found = searches(folder, arguments.cache / name)
        results = {search: measured(folder, found[search]) for search in found}
        for search, values in results.items():
            print(f"| {name} | {search} | " + " | ".join(f"{values[str(m)]:.3f}" for m in MEASURES) + " |")
        owed += shortfalls(name, results)
    print(
        "\n".join(["", *owed])
        if owed
        else "\nThe fusion beats BM25 on every collection and reaches its figures."
    )
    return 1 if arguments.check and owed else 0


if __name__ == "__main__":
    sys.exit(main())
