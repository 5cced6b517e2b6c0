"""Chooses the papers that are put before the writer of an answer, and writes them into the prompt.

Whole abstracts, best papers first, within a budget of tokens; numbered by paper. A paper or system that the
question names is always among them if the pile has it:

    "How does AnyEdit differ from VinePPO?"  ->  the eight best hits, and the best paper on each name

The text of a paper is a stranger's: see ``rag.chain.fence``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Protocol

from rag.chain.fence import Sent, fence
from rag.records import Claim, Draft, Evidence, Filters, Hit, Paper
from rag.text.names import Lexicon, Name, find, key
from rag.text.sentences import split
from rag.text.size import tokens_in
from rag.text.tokens import content

_LOOKED_UP = 10  # hits in which a named paper is looked for
_COMMON = 4  # a name that so many of them mention picks out no paper
_IN_TITLE = 10
# Share of the best score below which a paper is left out. On 225 questions with known papers none of those
# had less than 0.45; of eight retrieved papers five are left.
_NEAR = 0.4
_CENTRAL = 3  # mentions, counted by ``_about``, of a name that a paper is about and does not just use
_LONGEST_TITLE = 300
_COMPARES = re.compile(
    r"\b(?:compar\w*|contrast\w*|differ\w*|versus|vs|both|either|neither|respectively|each|than|unlike|similar\w*|"
    r"in common|share\w*|and|or)\b",
    re.I,
)


class Search(Protocol):
    """The part of the retriever that is needed here."""

    def search(self, question: str, top: int = 10, filters: Filters = ...) -> list[Hit]: ...


@dataclass(frozen=True, slots=True)
class Chosen:
    """Retrieved papers, best first.

    ``named`` are the keys of those that the question names, ``compared`` those it wants to hear of each,
    ``best`` that of the one that bears most on it sentence by sentence (see ``rag.chain.weigh``); of the
    papers in ``brief`` only the sentences are read that have to do with ``asked`` (the question and its
    parts).
    """

    hits: tuple[Hit, ...]
    named: frozenset[str] = frozenset()
    compared: frozenset[str] = frozenset()
    best: frozenset[str] = frozenset()
    brief: frozenset[str] = frozenset()
    asked: tuple[str, ...] = ()

    def with_best(self, best: Hit) -> Chosen:
        """Add the paper that bears most on the question, wherever the search put it."""
        among = any(hit.paper.key == best.paper.key for hit in self.hits)
        hits = self.hits if among else (*self.hits, best)
        return replace(self, hits=hits, best=frozenset([best.paper.key]))


@dataclass(frozen=True, slots=True)
class Packed:
    """Evidence as it goes into the prompt; ``texts[i]`` is what is sent of ``papers[i]``."""

    papers: tuple[Evidence, ...]
    texts: tuple[Sent, ...]
    tokens: int

    def prompt(self) -> str:
        """The block of numbered papers."""
        pairs = zip(self.papers, self.texts, strict=True)
        return "\n".join(_block(item.ref, item.paper, sent.text) for item, sent in pairs)

    def only(self, keys: Set[str]) -> Packed:
        """The papers of ``keys``, under the numbers that they have."""
        kept = [
            (item, text) for item, text in zip(self.papers, self.texts, strict=True) if item.paper.key in keys
        ]
        return Packed(tuple(item for item, _ in kept), tuple(text for _, text in kept), self.tokens)

    @property
    def refs(self) -> tuple[int, ...]:
        return tuple(item.ref for item in self.papers)

    def restored(self, draft: Draft) -> Draft:
        """Replace quotations of the sent text by the stored words they stand for."""
        sent = {item.ref: (item.paper, text) for item, text in zip(self.papers, self.texts, strict=True)}
        claims = []
        for claim in draft.claims:
            paper, text = sent.get(claim.ref, (None, None))
            quote = text.original(claim.quote, paper.abstract) if paper and text else claim.quote
            claims.append(Claim(claim.ref, quote))
        return Draft(draft.text, tuple(claims))


def choose(question: str, hits: Sequence[Hit], search: Search, filters: Filters) -> Chosen:
    """Add to the papers retrieved for the question the best one on each name in it that they leave out."""
    named: set[str] = set()
    central: set[str] = set()
    for name in find(question):
        found, alone = _best_on(name, hits, search, filters)
        if found is None:
            continue
        named.add(found.paper.key)
        if alone or _about(name, found.paper) >= _CENTRAL:
            central.add(found.paper.key)
        if all(hit.paper.key != found.paper.key for hit in hits):
            hits = [*hits, found]
    compared = central if len(central) > 1 and _COMPARES.search(question) else ()
    return Chosen(tuple(hits), frozenset(named), frozenset(compared))


def _best_on(name: Name, hits: Sequence[Hit], search: Search, filters: Filters) -> tuple[Hit | None, bool]:
    """The paper that is most about ``name`` (by its title, else by mentions), and whether it is the only one.

    None where a name picks out no paper: many mention it ("RLHF"), none is called so ("RLHF: ...") and one of
    them is there anyway; or it is just a capitalised word that stands in no title.
    """
    looked_up = search.search(name.text, top=_LOOKED_UP, filters=filters)
    about = {hit.paper.key: (_about(name, hit.paper), hit) for hit in [*looked_up, *hits]}
    having = {paper: pair for paper, pair in about.items() if pair[0]}
    if not having:
        return None, False
    much, best = max(having.values(), key=lambda pair: pair[0])
    retrieved = {hit.paper.key for hit in hits}
    among = bool(retrieved & having.keys())
    if among and len(having) >= _COMMON and key((best.paper.title or "").partition(":")[0]) != name.key:
        return None, False
    least = 1 if name.strong else _IN_TITLE
    if among and best.paper.key not in retrieved:
        least = max(least, _CENTRAL)
    return (best if much >= least else None), len(having) == 1


def _about(name: Name, paper: Paper) -> int:
    """How much a paper is about ``name``: its mentions, and more for the title; 0 without the name."""
    if not Lexicon(paper.text).has(name):
        return 0
    in_title = Lexicon(paper.title or "").has(name)
    return 1 + _IN_TITLE * in_title + sum(other.key == name.key for other in find(paper.abstract))


def pack(chosen: Chosen, budget: int) -> Packed:
    """Number the papers that fit into ``budget`` tokens, named ones before all others.

    Papers far behind the best are left out: they cost tokens and mislead small models. At least one paper is
    always packed, cut after a sentence if it alone is too long.
    """
    near = _near(chosen)
    sent = {hit.paper.key: _sent(hit.paper, chosen) for hit in near}
    cost = {hit.paper.key: _cost(hit.paper, sent[hit.paper.key]) for hit in near}
    order = sorted(near, key=lambda hit: hit.paper.key not in chosen.named | chosen.best)
    kept: set[str] = set()
    left = budget
    for hit in order:
        key = hit.paper.key
        if not kept and cost[key] > left:
            sent[key] = _cut(sent[key], left)
            cost[key] = _cost(hit.paper, sent[key])
        if not kept or cost[key] <= left:
            kept.add(key)
            left -= cost[key]
    hits = [hit for hit in near if hit.paper.key in kept]
    papers = tuple(Evidence(n, hit.paper, hit) for n, hit in enumerate(hits, start=1))
    return Packed(papers, tuple(sent[hit.paper.key] for hit in hits), budget - left)


def _near(chosen: Chosen) -> list[Hit]:
    wanted = chosen.named | chosen.best | chosen.brief
    least = _NEAR * max((hit.score for hit in chosen.hits[:1]), default=0.0)
    return [hit for hit in chosen.hits if hit.score >= least or hit.paper.key in wanted]


def _sent(paper: Paper, chosen: Chosen) -> Sent:
    whole = fence(paper.abstract)
    return shortened(whole, chosen.asked) if paper.key in chosen.brief else whole


def shortened(sent: Sent, asked: Sequence[str], most: int = 2) -> Sent:
    """Return the ``most`` sentences that share most words with the questions, in the abstract's order."""
    wanted = {token.stem for question in asked for token in content(question)}
    spans = split(sent.text)
    shared = [len(wanted & {token.stem for token in content(span.text)}) for span in spans]
    best = sorted(sorted(range(len(spans)), key=lambda i: -shared[i])[:most])
    text, origin = "", list[int]()
    for i in best:
        gap = " … " if text else ""
        origin += [origin[-1]] * len(gap) if gap else []
        text += gap + spans[i].text
        origin += sent.origin[spans[i].start : spans[i].end]
    return Sent(text, tuple(origin))


def _cost(paper: Paper, sent: Sent) -> int:
    return tokens_in(_block(99, paper, sent.text))


def _cut(sent: Sent, budget: int) -> Sent:
    end = 0
    for span in split(sent.text):
        if tokens_in(sent.text[: span.end]) > budget:
            break
        end = span.end
    end = end or min(len(sent.text), 3 * max(budget, 1))
    return Sent(sent.text[:end], sent.origin[:end])


def _block(ref: int, paper: Paper, text: str) -> str:
    title = fence(paper.title or "").text[:_LONGEST_TITLE]
    head = f'<paper number="{ref}">\n' + (f"Title: {title}\n" if title else "")
    return f"{head}{text}\n</paper>"
