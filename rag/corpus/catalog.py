"""Finds the titles of bare abstracts in a catalogue of titles, and leaves untitled what it is not sure of.

Each abstract is judged against all titles; a title goes to one abstract only, must be clearly better than the
next one, and better than "the paper is not in this catalogue". How likely that is, is learnt from the others:
where most abstracts find their title beyond doubt, the rest are probably there too. All this holds among
records that are judged together, those of one file and at most ``AT_ONCE`` of them: what is in another file,
or further below, neither competes for a title nor tells anything.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from math import log
from pathlib import Path

from rag.corpus import clean, drafts, identity, keys
from rag.corpus.drafts import Broken, Draft
from rag.corpus.open import items
from rag.corpus.title_evidence import Evidence, stems_of
from rag.errors import UsageError
from rag.records import Failure, Paper

FLOOR, MARGIN = 5.0, 2.0  # natural logarithms of likelihood ratios
_CERTAIN, _CERTAIN_MARGIN = 8.0, 3.0
_POWER = 0.75  # of the abstracts whose title is there, so many find it beyond doubt
AT_ONCE = 2000  # records that are judged together


@dataclass(frozen=True, slots=True)
class Entry:
    """One title of a catalogue with what is known of its paper."""

    title: str
    authors: tuple[str, ...] = ()
    venue: str | None = None
    year: int | None = None
    url: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None


@dataclass(frozen=True, slots=True)
class Guess:
    """The best entry for a paper: ``score`` against chance, ``margin`` before the next one."""

    paper: int
    entry: int
    score: float
    margin: float


class Catalog:
    """Titles to choose from. Load one with ``Catalog.load(path)``."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        by_title: dict[str, Entry] = {}
        for entry in entries:
            by_title.setdefault(keys.content_hash(entry.title), entry)
        self.entries = list(by_title.values())
        self._by_title = by_title
        self._evidence = Evidence([entry.title for entry in self.entries])

    @classmethod
    def load(cls, path: Path) -> Catalog:
        """Read titles from any format that ``rag.corpus`` reads; abstracts are not needed.

        Raises:
            UsageError: the file cannot be read or holds no titles.
        """
        records = [item.record for item in items(path)]
        entries = [_entry(record) for record in records if isinstance(record, Draft) and record.title]
        if not entries:
            error = next((record.error for record in records if isinstance(record, Broken)), "")
            raise UsageError(
                f"There are no titles in the catalogue {path}" + (f": it {error}." if error else "."),
                "Name a JSONL, CSV or BibTeX file with titles.",
            )
        return cls(entries)

    def dumps(self) -> bytes:
        """Return all of it, packed, for ``Catalog.loads``."""
        rows = [[getattr(entry, name) for name in Entry.__slots__] for entry in self.entries]
        return zlib.compress(json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace"))

    @classmethod
    def loads(cls, packed: bytes) -> Catalog:
        rows = json.loads(zlib.decompress(packed))
        return cls(Entry(title, tuple(authors), *rest) for title, authors, *rest in rows)

    def assign(
        self,
        papers: Sequence[Paper],
        *,
        floor: float = FLOOR,
        margin: float = MARGIN,
    ) -> list[Paper]:
        """Return ``papers`` in order, with title, authors, URL and key where the catalogue has them for sure.

        A paper with a title gets what it lacks from the entry of that very title.
        """
        titled = {
            at: self._by_title.get(keys.content_hash(paper.title))
            for at, paper in enumerate(papers)
            if paper.title
        }
        found = {at: entry for at, entry in titled.items() if entry}
        for guess in self.guesses(papers):
            if guess.score >= floor and guess.margin >= margin:
                found[guess.paper] = self.entries[guess.entry]
        return [_completed(paper, found.get(at)) for at, paper in enumerate(papers)]

    @property
    def fingerprint(self) -> str:
        """A text that changes with any entry: what was read with another catalogue is to be read again."""
        return sha256(repr(self.entries).encode("utf-8", "replace")).hexdigest()[:16]

    def entitle(self, items: Iterable[Paper | Failure], at_once: int = AT_ONCE) -> Iterator[Paper | Failure]:
        """Yield what ``rag.corpus.read`` yields with titles assigned, ``at_once`` records judged together."""
        source = iter(items)
        while batch := list(islice(source, at_once)):
            papers = iter(self.assign([item for item in batch if isinstance(item, Paper)]))
            yield from (item if isinstance(item, Failure) else next(papers) for item in batch)

    def guesses(self, papers: Sequence[Paper]) -> list[Guess]:
        """Return the best guess for every untitled paper, one paper a title."""
        bare = [at for at, paper in enumerate(papers) if not paper.title]
        others = Counter(word for at in bare for word in set(stems_of(papers[at].abstract)))
        first = []
        for at in bare:
            ranked = self._evidence.best(papers[at].abstract, others, len(bare))
            if ranked:
                second = ranked[1][0] if len(ranked) > 1 else float("-inf")
                first.append(Guess(at, ranked[0][1], ranked[0][0], ranked[0][0] - second))
        odds = _odds(first, len(bare))
        return _one_to_one([replace(guess, score=guess.score + odds) for guess in first], papers)


def _odds(guesses: Sequence[Guess], among: int) -> float:
    """Return the log odds that a paper of this pile is in the catalogue at all, at most 20 to 1."""
    certain = sum(guess.score >= _CERTAIN and guess.margin >= _CERTAIN_MARGIN for guess in guesses)
    share = min(0.95, (certain + 1) / (_POWER * among + 2))
    return log(share / (1 - share)) if share > 0.05 else log(0.05 / 0.95)


def _one_to_one(guesses: list[Guess], papers: Sequence[Paper]) -> list[Guess]:
    """A title wanted by two papers goes to the one it fits better, and then only by the lead over the other.

    Copies of one abstract are one paper and all get it.
    """
    by_entry: dict[int, list[Guess]] = {}
    for guess in sorted(guesses, key=lambda guess: -guess.score):
        by_entry.setdefault(guess.entry, []).append(guess)
    won = []
    for best, *rest in by_entry.values():
        own = set(identity.near(papers[best.paper].abstract))
        copies = [guess for guess in rest if own & set(identity.near(papers[guess.paper].abstract))]
        rival = next((guess for guess in rest if guess not in copies), None)
        lead = best.score - rival.score if rival else best.margin
        won += [replace(guess, margin=min(guess.margin, lead)) for guess in (best, *copies)]
    return sorted(won, key=lambda guess: guess.paper)


def _entry(draft: Draft) -> Entry:
    return Entry(
        clean.title(draft.title),
        tuple(name for name in map(clean.name, draft.authors) if name),
        clean.title(draft.venue) or None,
        drafts.year_in(draft.year),
        drafts.address(draft.url),
        drafts.doi_in(draft.doi) or drafts.doi_at(draft.url),
        drafts.arxiv_in(draft.arxiv_id) or drafts.arxiv_in(draft.url),
    )


def _completed(paper: Paper, entry: Entry | None) -> Paper:
    if entry is None:
        return paper
    title, authors, year = (
        paper.title or entry.title,
        paper.authors or entry.authors,
        paper.year or entry.year,
    )
    return replace(
        paper,
        key=keys.propose(paper.abstract, title, authors, year),
        title=title,
        authors=authors,
        venue=paper.venue or entry.venue,
        year=year,
        url=paper.url or entry.url,
        doi=paper.doi or entry.doi,
        arxiv_id=paper.arxiv_id or entry.arxiv_id,
        extra=paper.extra if paper.title else {**paper.extra, "title_from": "catalogue"},
    )
