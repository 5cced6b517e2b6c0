"""Small stand-ins for what surrounds the chain: papers, a search, a store, a model that replies by script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rag.chain.answer import Pile
from rag.ports import ChatRequest, Delta, PaperStore
from rag.records import Filters, Hit, IndexInfo, Paper, Passage, Source, Usage
from rag.text.tokens import content

ALL = Filters()


def paper(key: str, abstract: str, **fields: object) -> Paper:
    return Paper(key, abstract, Source("/papers.txt", 1), **fields)  # type: ignore[arg-type]


def hit(of: Paper, score: float = 1.0) -> Hit:
    return Hit(of, Passage(of.key, of.key, of.abstract, 0, len(of.abstract)), score)


@dataclass
class Shelf:
    """Search by shared word stems, and the store, over a list of papers."""

    content: Sequence[Paper]
    asked: list[str] = field(default_factory=list)

    def search(self, question: str, top: int = 10, filters: Filters = ALL) -> list[Hit]:
        self.asked.append(question)
        wanted = {token.stem for token in content(question)}
        scored = [
            (len(wanted & {t.stem for t in content(f"{p.title or ''}. {p.abstract}")}), p)
            for p in self.papers(filters)
        ]
        ranked = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [hit(p, score / max(len(wanted), 1)) for score, p in ranked[:top]]

    def papers(self, filters: Filters = ALL) -> Iterator[Paper]:
        return iter([p for p in self.content if not filters.papers or p.key in filters.papers])


def pile_of(*papers: Paper) -> Pile:
    shelf = Shelf(papers)
    store: PaperStore = shelf  # type: ignore[assignment]
    return Pile(shelf, store, IndexInfo(len(papers), len(papers), "fake", "f"))


@dataclass
class ScriptedModel:
    """Gives one reply after another, in pieces of seven characters; an exception in the script is raised."""

    replies: Sequence[str | BaseException | Iterable[Delta]]
    context_window: int = 8192
    name: str = "scripted"
    requests: list[ChatRequest] = field(default_factory=list)

    def stream(self, request: ChatRequest) -> Iterator[Delta]:
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, BaseException):
            raise reply
        if not isinstance(reply, str):
            yield from reply
            return
        for i in range(0, len(reply), 7):
            yield Delta(reply[i : i + 7])
        yield Delta(usage=Usage(100, 10), finish_reason="stop")
