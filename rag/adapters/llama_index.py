"""The chain for LlamaIndex programs: its retrieval as a ``BaseRetriever``, its answers as a query engine.

    with wiring.open_pile(settings.load(), note=print) as pile:
        retriever = PaperRetriever(pile.retriever.search)
        engine = AnswerEngine(lambda question: answer(question, pile))
        engine.query("How does ReVISE verify its own reasoning?").source_nodes

Unlike an engine made of the collection alone, this one searches by vectors and by words, checks each sentence
against the paper it cites, and declines what the pile does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from rag.records import Answer, Hit, Paper, Sentence
from rag.text.marks import marked


class PaperRetriever(BaseRetriever):
    """Best passages, one per paper.

    Args:
        search: finds papers for a question, such as ``Retriever.search``.
    """

    def __init__(self, search: Callable[[str], Sequence[Hit]]) -> None:
        super().__init__()
        self._search = search

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_from_hit(hit) for hit in self._search(query_bundle.query_str)]


class AnswerEngine(BaseQueryEngine):
    """Checked answers.

    The response is the answer with [n] marks, or why there is none; its source nodes are the quotations in
    the order of their sentences; its metadata holds ``status`` and the cited ``references`` by number.

    Args:
        ask: answers a question, such as ``rag.chain.answer.answer`` with everything else given.
    """

    def __init__(self, ask: Callable[[str], Answer]) -> None:
        super().__init__(callback_manager=None)
        self._ask = ask

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return _response(self._ask(query_bundle.query_str))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self._query(query_bundle)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}


def _response(answer: Answer) -> Response:
    papers = {each.ref: each.paper for each in answer.references}
    text = " ".join(map(_marked, answer.sentences)) or answer.reason or "No answer was found in these papers."
    nodes = [
        NodeWithScore(
            node=_node(
                f"{papers[each.ref].key}:{each.start}-{each.end}",
                each.quote,
                papers[each.ref],
                each.start,
                each.end,
            ),
            score=each.support,
        )
        for sentence in answer.sentences
        for each in sentence.citations
    ]
    references = {ref: node_metadata(paper) for ref, paper in papers.items()}
    return Response(text, source_nodes=nodes, metadata={"status": answer.status, "references": references})


def _marked(sentence: Sentence) -> str:
    return marked(sentence.text, (each.ref for each in sentence.citations))


def _from_hit(hit: Hit) -> NodeWithScore:
    passage = hit.passage
    node = _node(passage.id, passage.text, hit.paper, passage.start, passage.end)
    return NodeWithScore(node=node, score=hit.score)


def _node(id_: str, text: str, paper: Paper, start: int, end: int) -> TextNode:
    return TextNode(
        id_=id_,
        text=text,
        metadata=node_metadata(paper),
        start_char_idx=start,
        end_char_idx=end,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=paper.key)},
    )


def node_metadata(paper: Paper) -> dict[str, Any]:
    """Fields of a paper as metadata: flat and without nulls, which Chroma drops in silence."""
    fields = {
        "key": paper.key,
        "title": paper.title,
        "authors": "; ".join(paper.authors),
        "venue": paper.venue,
        "year": paper.year,
        "url": paper.url,
    }
    return {name: value for name, value in fields.items() if value not in (None, "")}
