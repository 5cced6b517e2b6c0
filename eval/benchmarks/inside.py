"""What is measured inside a process of the program, each as a task that prints one JSON object.

    python inside.py ingest RECORDS.jsonl INDEX --embedder hashed       rate, stages, peak memory
    python inside.py again RECORDS.jsonl INDEX --embedder hashed        the same again, nothing changed
    python inside.py bare RECORDS.jsonl                                 the bundled embedder alone
    python inside.py query INDEX                                        p50 and p95, recall, memory
    python inside.py verify INDEX                                       an answer of ten sentences
    python inside.py server INDEX                                       its collection on a Chroma server
    python inside.py ask INDEX QUESTION --embedder hashed               rag ask, with that embedder

``hashed`` is a bag of words in 384 dimensions, for piles too large to embed. Where a question is asked, the
bundled model embeds it all the same, so that the time of a query is that of a real one.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import composed

from rag import settings as layers
from rag import wiring
from rag.adapters.embed_fake import FakeEmbedder
from rag.records import Filters
from rag.wiring import index as wiring_index

DIMENSIONS = 384
RECALL_AT = 10
QUERIES = 200


class Hashed(FakeEmbedder):
    """A bag of words; a question is embedded by the bundled model as well, and its vector thrown away."""

    def __init__(self) -> None:
        super().__init__(DIMENSIONS)
        self._timed: Any = None

    def embed(self, texts: Sequence[str]) -> Any:
        if len(texts) == 1 and self._timed is not None:
            self._timed.embed(texts)
        return super().embed(texts)

    def with_model(self) -> Hashed:
        from rag.adapters.embed_minilm import MiniLm

        self._timed = MiniLm()
        return self


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def use(embedder: str) -> Any:
    """Have the wiring make this embedder."""
    made = Hashed() if embedder == "hashed" else None
    if made is not None:
        wiring_index.embedder = wiring.embedder = lambda _: made  # type: ignore[assignment]
    return made


def given(index: Path) -> layers.Settings:
    return layers.load({"index": index}, environ={}, files=())


def ingest(file: Path, index: Path, embedder: str) -> dict[str, Any]:
    use(embedder)
    began = time.perf_counter()
    report = wiring.ingest(given(index), [file], lambda _: None)
    return {
        "papers": report.papers,
        "added": report.added,
        "seconds": time.perf_counter() - began,
        "mib": peak_mib(),
        "disk_mib": sum(each.stat().st_size for each in index.rglob("*") if each.is_file()) / 2**20,
    }


def bare(file: Path) -> dict[str, Any]:
    """The bundled embedder over titles and abstracts, with nothing around it."""
    from rag.adapters.embed_minilm import MiniLm

    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    texts = [f"{row['title']}. {row['abstract']}" for row in rows]
    model = MiniLm()
    model.embed(texts[:2])
    began = time.perf_counter()
    for at in range(0, len(texts), 32):
        model.embed(texts[at : at + 32])
    return {"seconds": time.perf_counter() - began, "texts": len(texts)}


def timed(run: Callable[[int], object], times: int = QUERIES) -> dict[str, float]:
    """p50 and p95 in milliseconds of ``run(0)``, ``run(1)``, ..., after five untimed."""
    for number in range(5):
        run(number)
    found = []
    for number in range(times):
        began = time.perf_counter()
        run(number)
        found.append(1000 * (time.perf_counter() - began))
    return {"p50": statistics.median(found), "p95": statistics.quantiles(found, n=20)[18]}


def query(index: Path) -> dict[str, Any]:
    """Questions to an opened pile, whole and part by part, and what Chroma's index finds of the nearest."""
    embedder = use("hashed").with_model()
    found: dict[str, Any] = {}
    tenth = Filters(years=((2016, 2016),))
    asked = [composed.question(number * 7) for number in range(QUERIES + 5)]
    vectors = FakeEmbedder(DIMENSIONS).embed(asked)
    with wiring.open_pile(given(index), lambda _: None) as pile:
        search = pile.retriever
        found["passages"] = pile.info.passages
        found["opened_mib"] = peak_mib()
        found["search"] = timed(lambda n: search.search(asked[n], 10))
        found["mib"] = peak_mib()
        found["answers"] = type(search.vectors.answering()).__name__  # type: ignore[attr-defined]
        found["filtered"] = timed(lambda n: search.search(asked[n], 10, tenth), 50)
        found["embed"] = timed(lambda n: embedder.embed([asked[n]]))
        found["keywords"] = timed(lambda n: search.keywords.search(asked[n], 200))
        store = wiring.chroma(index / "chroma")
        matrix = search.vectors.answering(restricted=True)  # type: ignore[attr-defined]
        allowed = search.store.passage_ids(search.store.keys(tenth))
        found["kept"] = len(allowed)
        found["chroma_top20"] = timed(lambda n: store.query(vectors[n], 20))
        found["chroma_top400"] = timed(lambda n: store.query(vectors[n], 400))
        found["chroma_filtered"] = timed(lambda n: store.query(vectors[n], 20, allowed), 10)
        found["exact_top400"] = timed(lambda n: matrix.query(vectors[n], 400), 50)
        found["exact_filtered"] = timed(lambda n: matrix.query(vectors[n], 400, allowed), 50)
        found["recall_top10"] = _recall(store, matrix, vectors, RECALL_AT)
        found["recall_top400"] = _recall(store, matrix, vectors, 400)
        configured = store.collection.configuration_json.get("hnsw") or {}
        found["hnsw"] = {k: v for k, v in configured.items() if isinstance(v, int | float | str)}
        store.close()
    return found


def _recall(store: Any, matrix: Any, vectors: Any, asked_for: int) -> float:
    """Share of the ten nearest among the first ten of ``asked_for`` that Chroma returns; ties count."""
    shares = []
    for vector in vectors[:QUERIES]:
        nearest = matrix.query(vector, RECALL_AT)
        floor = nearest[-1][1] - 1e-5
        got = store.query(vector, asked_for)[:RECALL_AT]
        shares.append(sum(score >= floor for _, score in got) / len(nearest))
    return statistics.mean(shares)


def verify(index: Path) -> dict[str, Any]:
    """Ten sentences, each resting on a quotation of its own, checked against eight papers."""
    from rag.chain import verify as checks
    from rag.records import Claim, Draft, Evidence
    from rag.text.sentences import split

    with wiring.open_pile(given(index), lambda _: None) as pile:
        hits = pile.retriever.search("How do language models learn to reason and verify?", 8)
        evidence = [Evidence(ref, hit.paper, hit) for ref, hit in enumerate(hits, start=1)]
        spans = [(item, span) for item in evidence for span in split(item.paper.abstract)[:3]]
        drafts = [
            # Reworded a little, as a model would, so that no sentence is found verbatim and waved through.
            Draft(f"In this work, {span.text[0].lower()}{span.text[1:]}", (Claim(item.ref, span.text),))
            for item, span in spans[:10]
        ]
        assert len(drafts) == 10, "the pile is too small"
        found = {}
        for name, similarity in (("lexical", None), ("with_similarity", wiring.similarity)):

            def run(_: int, similarity: Any = similarity) -> None:
                alike = similarity(pile.retriever.embedder) if similarity else None
                checks.check(drafts, evidence, similarity=alike)

            found[name] = timed(run, 20)
    return found


def server(index: Path) -> dict[str, Any]:
    """The same collection behind a real Chroma server on this machine: queries, and adding 2,000 passages."""
    import shutil
    import socket
    import subprocess
    import tempfile

    import chromadb

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(index / "chroma", Path(folder) / "chroma")
        words = [str(Path(sys.executable).with_name("chroma")), "run", "--path", f"{folder}/chroma"]
        process = subprocess.Popen(
            [*words, "--port", str(port), "--host", "127.0.0.1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            client = _connected(chromadb, port)
            collection = client.get_collection("citerag", embedding_function=None)
            asked = FakeEmbedder(DIMENSIONS).embed([composed.question(n * 7) for n in range(QUERIES + 5)])

            def top(n: int, k: int) -> object:
                return collection.query(query_embeddings=[asked[n]], n_results=k, include=["distances"])

            found: dict[str, Any] = {
                "top20": timed(lambda n: top(n, 20)),
                "top400": timed(lambda n: top(n, 400)),
            }
            rows = FakeEmbedder(DIMENSIONS).embed([str(composed.record(n)["abstract"]) for n in range(2000)])
            other = client.get_or_create_collection("other", embedding_function=None)
            began = time.perf_counter()
            other.add(ids=[str(n) for n in range(2000)], embeddings=rows)
            return {**found, "add_rate": 2000 / (time.perf_counter() - began)}
        finally:
            process.terminate()
            process.wait()


def _connected(chromadb: Any, port: int) -> Any:
    for _ in range(100):
        try:
            return chromadb.HttpClient(
                host="127.0.0.1", port=port, settings=chromadb.Settings(anonymized_telemetry=False)
            )
        except ValueError:
            time.sleep(0.2)
    raise SystemExit("the Chroma server did not start")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=["ingest", "again", "bare", "query", "verify", "server", "ask"])
    parser.add_argument("first")
    parser.add_argument("second", nargs="?")
    parser.add_argument("--embedder", choices=["hashed", "minilm"], default="minilm")
    words = parser.parse_args()
    first, second = Path(words.first), words.second
    if words.task == "ask":
        use(words.embedder)
        sys.argv = ["rag", "--index", str(first), "ask", second, "--quotes"]
        from rag.cli import main as rag

        rag()
    elif words.task in {"ingest", "again"}:
        print(json.dumps(ingest(first, Path(second), words.embedder)))
    else:
        print(
            json.dumps({"bare": bare, "query": query, "verify": verify, "server": server}[words.task](first))
        )


if __name__ == "__main__":
    main()
