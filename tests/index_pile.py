"""A small pile on disk with fakes around it, for tests of the index."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rag.adapters import keyword, keyword_build
from rag.adapters.chroma_store import ChromaStore
from rag.adapters.embed_fake import FakeEmbedder
from rag.chain.retrieve import Retriever
from rag.index.database import open_papers
from rag.index.library import Library
from rag.index.parts import Identity, Parts
from rag.index.report import SyncReport
from rag.index.sync import sync
from rag.ports import Embedder
from rag.records import Failure, Paper, Source

TOPICS = ("speculative decoding", "graph networks", "tabular data", "protein folding", "image editing")


def open_ingest(store: Any, embedder: Embedder) -> Any:
    from rag.adapters.ingest import LlamaIngest

    return LlamaIngest(store, embedder)


def parts(embedder: Embedder | None = None) -> Parts:
    return Parts(
        embedder=embedder or FakeEmbedder(64),
        open_vectors=ChromaStore.in_folder,
        open_ingest=open_ingest,
        build_keywords=keyword_build.build,
        keyword_keys=lambda folder: keyword.Bm25Index(folder).keys(),
    )


def signatures(paper: Paper) -> Sequence[str]:
    return [f"doi:{paper.doi}"] if paper.doi else [f"title:{(paper.title or paper.abstract)[:60].lower()}"]


def merge(first: Paper, second: Paper) -> Paper:
    """The longer abstract wins; what only one has is kept."""
    longer = max(first, second, key=lambda paper: len(paper.abstract))
    return Paper(**{**_fields(second), **_fields(first), "abstract": longer.abstract})


def _fields(paper: Paper) -> dict[str, Any]:
    return {name: getattr(paper, name) for name in paper.__slots__ if getattr(paper, name)}


def distinct(proposed: str, taken: Any) -> str:
    letters = ["", *"abcdefgh"]
    return next(proposed + letter for letter in letters if proposed + letter not in taken)


IDENTITY = Identity(signatures, merge, distinct)


def read(path: Path) -> Iterator[Paper | Failure]:
    """JSON lines of paper fields; a line that is no JSON is a failure."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            fields = json.loads(line)
        except ValueError as error:
            yield Failure(str(path), number, str(error), line=number)
            continue
        fields["authors"] = tuple(fields.get("authors", ()))
        yield Paper(source=Source(str(path), number), **fields)


def paper(number: int, **fields: Any) -> dict[str, Any]:
    """Fields of one made-up paper."""
    topic = TOPICS[number % len(TOPICS)]
    return {
        "key": f"paper{number}",
        "title": f"System{number} for {topic}",
        "abstract": f"We present System{number}, a method for {topic}. It adds {number}.5% to its base.",
        "authors": [f"Ana Author{number}", "Bo Krähenbühl"],
        "venue": "ICML" if number % 2 else "NeurIPS",
        "year": 2020 + number % 6,
        **fields,
    }


def write(path: Path, papers: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in papers), encoding="utf-8")
    return path


def ingest(folder: Path, *files: Path, **options: Any) -> SyncReport:
    options = {"read": read, "identity": IDENTITY, "parts": parts(), **options}
    return sync(folder, files, **options)


def counts(report: SyncReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.unchanged, report.removed


def retriever(library: Library, embedder: Embedder | None = None) -> Retriever:
    return Retriever(
        store=library,
        vectors=ChromaStore.in_folder(library.vector_folder),
        keywords=keyword.Bm25Index(library.keyword_folder),
        embedder=embedder or FakeEmbedder(64),
    )


def found(folder: Path, question: str, top: int = 5) -> list[str]:
    """Keys that a search of the index gives."""
    with Library(folder) as library:
        search = retriever(library)
        keys = [hit.paper.key for hit in search.search(question, top)]
        search.vectors.close()  # type: ignore[attr-defined]
    return keys


def state(folder: Path) -> dict[str, Any]:
    """Everything an index holds that a user could tell apart, however it came about."""
    with Library(folder) as library:
        store = ChromaStore.in_folder(library.vector_folder)
        stored = store.collection.get(include=["embeddings", "documents", "metadatas"])
        order = sorted(range(len(stored["ids"])), key=lambda at: stored["ids"][at])
        db = open_papers(folder)
        result = {
            "papers": [asdict(each) for each in library.papers()],
            "passages": db.execute("SELECT * FROM passages ORDER BY id").fetchall(),
            "records": db.execute(
                "SELECT file, number, hash, paper_key FROM records ORDER BY 1, 2"
            ).fetchall(),
            "manifest": (folder / "manifest.json").read_text(encoding="utf-8"),
            "keywords": keyword.Bm25Index(library.keyword_folder).keys(),
            "folders": (len(list((folder / "keyword").iterdir())), len(list(folder.glob("chroma*")))),
            "chroma ids": [stored["ids"][at] for at in order],
            "documents": [stored["documents"][at] for at in order],
            "metadata": [stored["metadatas"][at] for at in order],
            "vectors": [[round(float(x), 5) for x in stored["embeddings"][at]] for at in order],
        }
        db.close()
        store.close()
    return result
