"""The Chroma collection: what is found, and that it opens as an ordinary LlamaIndex index."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from index_pile import ingest, paper, parts, retriever, write

from rag.adapters import chroma_store
from rag.adapters.chroma_store import COLLECTION, ChromaStore
from rag.adapters.embed_fake import FakeEmbedder
from rag.index.library import Library

STORED = "SELECT text_hash FROM passages"
LONG = "Sentence about llamas and alpacas, nothing else. " * 30


@pytest.fixture
def store(tmp_path: Path) -> ChromaStore:
    """Twenty unit vectors in a half circle, ids 00 to 19."""
    store = ChromaStore.in_folder(tmp_path / "chroma")
    angles = np.linspace(0, np.pi, 20)
    vectors = [[float(np.cos(a)), float(np.sin(a))] for a in angles]
    ids = [f"{n:02}" for n in range(20)]
    store.upsert(ids, vectors, ["text"] * 20, [{"key": id_} for id_ in ids])
    return store


EAST = np.array([1, 0], dtype=np.float32)


def test_nearest_first_with_cosine(store: ChromaStore) -> None:
    found = store.query(EAST * 5, 3)
    assert [id_ for id_, _ in found] == ["00", "01", "02"]
    assert [cosine for _, cosine in found] == pytest.approx(np.cos(np.linspace(0, np.pi, 20)[:3]), abs=1e-5)
    assert store.query(EAST, 100)[-1][1] == pytest.approx(-1, abs=1e-5)
    assert len(store.query(EAST, 100)) == 20
    assert store.query(EAST, 0) == []


@pytest.mark.parametrize("most_ids", [2000, 1])
def test_only_allowed_ids(store: ChromaStore, monkeypatch: pytest.MonkeyPatch, most_ids: int) -> None:
    monkeypatch.setattr(chroma_store, "_MOST_IDS", most_ids)
    found = store.query(EAST, 2, frozenset({"19", "07", "11", "ghost"}))
    assert [id_ for id_, _ in found] == ["07", "11"]
    assert store.query(EAST, 2, frozenset()) == []
    assert store.query(EAST, 2, frozenset({"ghost"})) == []


def test_storing_again_replaces(store: ChromaStore) -> None:
    store.upsert(["00"], [[-1.0, 0.0]], ["new"], [{"key": "k"}])
    assert store.count() == 20
    assert store.query(EAST, 1)[0][0] == "01"
    store.delete(["01", "ghost"])
    assert store.query(EAST, 1)[0][0] == "02"
    store.reset()
    assert (store.count(), store.ids(), store.query(EAST, 3)) == (0, set(), [])


def test_it_notices_vectors_that_are_not_found(store: ChromaStore) -> None:
    as_stored = {"00": EAST.tobytes()}
    assert store.finds(as_stored)
    assert not store.finds({"10": EAST.tobytes()})
    assert store.finds({})


@pytest.mark.parametrize(("missed", "sound"), [(0, True), (4, True), (12, False)])
def test_a_search_that_misses_a_few_is_no_damage(
    store: ChromaStore, monkeypatch: pytest.MonkeyPatch, missed: int, sound: bool
) -> None:
    every: Any = store.collection.get(include=["embeddings"])
    stored = {
        id_: v.astype("<f4").tobytes() for id_, v in zip(every["ids"], every["embeddings"], strict=True)
    }
    answers = iter([[("other", 0.6)]] * missed + [[("own", 1.0)]] * (len(stored) - missed))
    monkeypatch.setattr(store, "_nearest", lambda *_: next(answers))
    assert store.finds(stored) is sound


@pytest.fixture
def index(tmp_path: Path) -> Path:
    papers = [paper(n, url=f"https://example.org/{n}") for n in range(8)]
    papers += [
        paper(20, title=None, venue=None, year=None, authors=[]),
        paper(21, title="Why?", abstract=LONG),
        paper(22, title="A title alone", abstract=""),
        paper(23, title="word " * 200),
    ]
    ingest(tmp_path / "index", write(tmp_path / "pile", papers))
    return tmp_path / "index"


def test_the_collection_opens_as_a_llama_index(index: Path) -> None:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import MetadataMode
    from llama_index.vector_stores.chroma import ChromaVectorStore

    from rag.adapters.ingest import PortEmbedding

    client: Any = chromadb.PersistentClient(
        str(index / "chroma"), settings=Settings(anonymized_telemetry=False)
    )
    collection = client.get_collection(COLLECTION, embedding_function=None)
    opened = VectorStoreIndex.from_vector_store(
        ChromaVectorStore(chroma_collection=collection), embed_model=PortEmbedding(FakeEmbedder(64))
    )
    nodes = opened.as_retriever(similarity_top_k=2).retrieve("System3 for protein folding")
    assert nodes[0].node.metadata == {
        "key": "paper3",
        "title": "System3 for protein folding",
        "authors": "Ana Author3; Bo Krähenbühl",
        "venue": "ICML",
        "year": 2023,
        "url": "https://example.org/3",
    }
    assert nodes[0].node.get_content(MetadataMode.NONE).startswith("We present System3")
    assert nodes[0].node.ref_doc_id == "paper3"
    client.close()


def test_llama_index_would_embed_the_text_that_we_embedded(index: Path) -> None:
    from llama_index.core.schema import MetadataMode
    from llama_index.core.vector_stores.utils import metadata_dict_to_node

    store = ChromaStore.in_folder(index / "chroma")
    everything: Any = store.collection.get(include=["metadatas", "documents", "embeddings"])
    texts = []
    for metadata, text, vector in zip(
        everything["metadatas"], everything["documents"], everything["embeddings"], strict=True
    ):
        embedded = metadata_dict_to_node(metadata, text).get_content(MetadataMode.EMBED)
        texts.append(embedded)
        assert vector == pytest.approx(FakeEmbedder(64).embed([embedded])[0])
    store.close()
    hashes = {hashlib.sha256(text.encode()).hexdigest() for text in texts}
    assert {row[0] for row in sqlite3.connect(index / "papers.sqlite").execute(STORED)} == hashes
    assert any(text.startswith("Why? Sentence about llamas") for text in texts)
    assert any(text.startswith("System3 for protein folding. We present System3") for text in texts)
    assert any(text.startswith("We present System20") for text in texts)
    assert any(text.startswith("We present System23") for text in texts)
    assert "A title alone" in texts


def test_our_retrieval_as_a_llama_index_retriever(index: Path) -> None:
    from rag.adapters.llama_index import PaperRetriever

    with Library(index) as library:
        nodes = PaperRetriever(retriever(library).search).retrieve("What is System5?")
    assert nodes[0].node.metadata["key"] == "paper5"
    assert nodes[0].score == 1.0
    assert len({node.node.metadata["key"] for node in nodes}) == len(nodes) == 10


def test_our_answers_as_a_llama_index_query_engine() -> None:
    from rag.adapters.llama_index import AnswerEngine
    from rag.records import Answer, Citation, IndexInfo, Paper, Reference, Sentence, Source

    asked: list[str] = []
    cited = Paper(key="k", abstract="It gains 5%.", source=Source("f", 1), title="T", year=2024)
    sentence = Sentence("It gains 5% [7].", "verbatim", (Citation(1, "k", "It gains 5%.", 0, 12, 1.0),))

    def ask(question: str) -> Answer:
        asked.append(question)
        answered = question == "How much?"
        return Answer(
            question,
            "answered" if answered else "abstained",
            "extractive",
            None,
            (sentence,) if answered else (),
            (Reference(1, cited),) if answered else (),
            (),
            IndexInfo(1, 1, "fake", "x"),
            reason=None if answered else "Nothing near.",
        )

    response = AnswerEngine(ask).query("How much?")
    assert str(response) == "It gains 5% (7) [1]."  # a mark of the text's own is none of ours
    (source,) = response.source_nodes
    assert (source.text, source.score, source.node.metadata["key"]) == ("It gains 5%.", 1.0, "k")
    references = {1: {"key": "k", "title": "T", "year": 2024}}
    assert response.metadata == {"status": "answered", "references": references}
    declined = AnswerEngine(ask).query("Sourdough?")
    assert (str(declined), declined.source_nodes, asked) == ("Nothing near.", [], ["How much?", "Sourdough?"])


SPY = """
import builtins, os, pathlib, socket, sys
sys.path.insert(0, {tests!r})
def refuse(*args, **kwargs):
    raise SystemExit("the network was tried")
socket.socket.connect = socket.getaddrinfo = refuse
site = os.path.dirname(os.path.dirname(__import__("numpy").__file__))
written = []
def spy(event, args):
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        if str(args[0]).startswith(site) and "__pycache__" not in str(args[0]):
            written.append(args[0])
sys.addaudithook(spy)
import index_pile
from pathlib import Path
index, file = map(Path, sys.argv[1:])
first = index_pile.ingest(index, file)
print(first.added, written, "llama_index" in sys.modules)
"""


def test_an_ingest_uses_no_network_and_writes_nothing_into_packages(tmp_path: Path) -> None:
    file = write(tmp_path / "pile", [paper(1), paper(2)])
    run = python(SPY.format(tests=str(Path(__file__).parent)), tmp_path / "index", file)
    assert run == "2 [] True\n"


UNCHANGED = """
import sys
sys.path.insert(0, {tests!r})
import json, index_pile
from pathlib import Path
index, file = map(Path, sys.argv[1:])
index_pile.ingest(index, file)
with index_pile.Library(index) as library:
    index_pile.retriever(library).search("What is System1?")
print(json.dumps([name for name in ("llama_index", "openai", "onnxruntime") if name in sys.modules]))
"""


def test_an_unchanged_ingest_and_a_search_load_no_llama_index(tmp_path: Path) -> None:
    file = write(tmp_path / "pile", [paper(1), paper(2)])
    ingest(tmp_path / "index", file, parts=parts())
    assert (
        json.loads(python(UNCHANGED.format(tests=str(Path(__file__).parent)), tmp_path / "index", file)) == []
    )


def python(program: str, *arguments: Path) -> str:
    run = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "PATH": "/usr/bin:/bin",
            "HOME": str(arguments[0].parent),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
