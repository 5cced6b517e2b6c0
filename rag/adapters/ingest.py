"""Passages into the Chroma collection through LlamaIndex, so that it opens as an ordinary LlamaIndex index.

    LlamaIngest(store, embedder).run(items, cache)
    VectorStoreIndex.from_vector_store(ChromaVectorStore(chroma_collection=collection), embed_model=...)

The pipeline gets one document per paper, cuts it at the offsets that were decided before (LlamaIndex's own
splitter would load NLTK and tiktoken data) and embeds the nodes through our embedder, unless their vectors
exist. A node embeds the very text that was hashed when the paper was cut: title and passage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import (
    BaseNode,
    Document,
    MetadataMode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
    TransformComponent,
)
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr

from rag.adapters.llama_index import node_metadata

if TYPE_CHECKING:
    from rag.adapters.chroma_store import ChromaStore
    from rag.index.parts import Item, VectorCache
    from rag.ports import Embedder
    from rag.records import Paper

_EMBED_BATCH = 32


class LlamaIngest:
    """Writes passages into ``store`` with vectors of ``embedder``."""

    def __init__(self, store: ChromaStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    def run(self, items: Sequence[Item], cache: VectorCache) -> None:
        """Embed and store ``items``; new vectors are kept in ``cache`` as soon as they are made."""
        pipeline = IngestionPipeline(
            transformations=[
                _Cut(items),
                PortEmbedding(self._embedder, cache),
            ],
            vector_store=_Upserting.into(self._store),
            disable_cache=True,
        )
        papers = {paper.key: paper for paper, _ in items}
        pipeline.run(documents=[_document(paper) for paper in papers.values()])


class _Cut(TransformComponent):
    """Turns a paper's document into the nodes of its passages."""

    _items: dict[str, list[Item]] = PrivateAttr()

    def __init__(self, items: Sequence[Item]) -> None:
        super().__init__()
        self._items = {}
        for item in items:
            self._items.setdefault(item[0].key, []).append(item)

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:  # noqa: ARG002
        return [_node(document, item) for document in nodes for item in self._items[document.node_id]]


class PortEmbedding(BaseEmbedding):
    """Our embedder with LlamaIndex's face.

    Args:
        embedder: any ``rag.ports.Embedder``.
        cache: vectors made before; None to keep none.
    """

    _embedder: Any = PrivateAttr()
    _cache: Any = PrivateAttr()

    def __init__(self, embedder: Embedder, cache: VectorCache | None = None) -> None:
        super().__init__(model_name=embedder.id, embed_batch_size=_EMBED_BATCH)
        self._embedder = embedder
        self._cache = cache

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        known = self._cache.recall(hashes) if self._cache else {}
        missing = {hash_: text for hash_, text in zip(hashes, texts, strict=True) if hash_ not in known}
        if missing:
            made = zip(missing, self._embedder.embed(list(missing.values())), strict=True)
            new = {hash_: vector.astype("<f4").tobytes() for hash_, vector in made}
            if self._cache:
                self._cache.keep(new)
            known = {**known, **new}
        return [cast("list[float]", np.frombuffer(known[hash_], dtype="<f4").tolist()) for hash_ in hashes]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class _Upserting(ChromaVectorStore):
    """Replaces what is stored under an id: Chroma's ``add`` passes over it in silence."""

    _store: Any = PrivateAttr()

    @classmethod
    def into(cls, store: ChromaStore) -> _Upserting:
        made = cast(_Upserting, cls.from_collection(store.collection))
        made._store = store
        return made

    def add(self, nodes: Sequence[BaseNode], **add_kwargs: Any) -> list[str]:  # noqa: ARG002
        ids = [node.node_id for node in nodes]
        vectors = [node.get_embedding() for node in nodes]
        documents = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        for node in nodes:
            node.embedding = None  # else each of its numbers is written out as JSON and thrown away
        metadata = [node_to_metadata_dict(node, remove_text=True, flat_metadata=True) for node in nodes]
        self._store.upsert(ids, vectors, documents, metadata)
        return ids


def _document(paper: Paper) -> Document:
    return Document(id_=paper.key, text=paper.abstract, metadata=node_metadata(paper))


def _node(document: BaseNode, item: Item) -> TextNode:
    paper, prepared = item
    passage = prepared.passage
    titled = prepared.embedded != passage.text
    kept = {"title"} if titled else set[str]()
    return TextNode(
        id_=passage.id,
        text=passage.text,
        metadata=document.metadata,
        start_char_idx=passage.start,
        end_char_idx=passage.end,
        excluded_embed_metadata_keys=[name for name in document.metadata if name not in kept],
        metadata_template="{value}",
        text_template=_template(paper.title, passage.text),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=paper.key)},
    )


def _template(title: str | None, text: str) -> str:
    """How a node is put together to be embedded; gives what ``rag.index.passages.joined`` gives."""
    if not text:
        return "{metadata_str}"
    return "{metadata_str} {content}" if (title or "").strip()[-1:] in ".?!" else "{metadata_str}. {content}"
