"""The nouns of the program: immutable records passed between its parts.

Offsets (``start``, ``end``) count Unicode code points in ``Paper.abstract``, the cleaned abstract stored with
the paper, so that ``paper.abstract[start:end]`` is the text they point at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["verbatim", "supported", "weak", "unsupported"]
Mode = Literal["extractive", "model"]
Status = Literal["answered", "abstained"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a paper was read: an absolute file path and the 1-based number of the record in it."""

    file: str
    record: int


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper of the pile.

    ``abstract`` is the cleaned text that everything is checked against; ``raw`` is the text as it stood in
    the file. ``also`` holds the further sources of a paper that was read from several files.
    ``extra`` keeps fields that the program itself does not use (keywords, track, ...), as JSON values.
    """

    key: str
    abstract: str
    source: Source
    title: str | None = None
    authors: tuple[str, ...] = ()
    venue: str | None = None
    year: int | None = None
    url: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    raw: str = ""
    also: tuple[Source, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All that the paper says, to look for words and names in: title and abstract."""
        return f"{self.title or ''}. {self.abstract}"


@dataclass(frozen=True, slots=True)
class Failure:
    """A record that could not be read; the rest of its file still is."""

    file: str
    record: int
    error: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """What is embedded and matched: a whole abstract, or a sentence window of one too long for the embedder.

    ``text`` is ``paper.abstract[start:end]``; the title is prefixed only when it is embedded.
    """

    id: str
    paper_key: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Filters:
    """Which papers may be retrieved; empty means all. Kinds are joined by AND, values of one kind by OR.

    ``venues`` compare case-folded and whole, or as what they are well known by (``rag.text.venues``);
    ``authors`` compare as case- and accent-folded words of a name; ``years`` are inclusive (first, last)
    ranges, ``papers`` are keys, and ``without`` keys of papers that do not pass.
    """

    venues: tuple[str, ...] = ()
    years: tuple[tuple[int, int], ...] = ()
    authors: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.venues or self.years or self.authors or self.papers or self.without)


@dataclass(frozen=True, slots=True)
class Hit:
    """One retrieved paper with its best passage.

    ``score`` is the fused score in [0, 1]; ``ranks`` are the 1-based ranks of the paper by each retriever
    that found it (``{"dense": 1, "keyword": 3}``) and ``scores`` their own scores: the cosine of question
    and passage, the BM25 score of the paper. These say how good a hit is; ``score`` only ranks hits.
    """

    paper: Paper
    passage: Passage
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A paper put before the writer of an answer under a number; numbers are per paper, never per passage."""

    ref: int
    paper: Paper
    hit: Hit


@dataclass(frozen=True, slots=True)
class Claim:
    """What a writer says a sentence rests on, unchecked: a number of the evidence, and perhaps its words."""

    ref: int
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence as a writer (model or extraction) proposes it; the check makes a ``Sentence`` of it."""

    text: str
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence's claim to rest on ``quote``, which is ``abstract[start:end]`` of the paper ``key``.

    ``support`` in [0, 1] says how much of the sentence the quotation carries.
    """

    ref: int
    key: str
    quote: str
    start: int
    end: int
    support: float


COUNTED = "counted from the records"
"""Note of a sentence about the pile itself ("3 papers are by ..."), which no abstract states."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer after checking. ``note`` says what the program changed or found, if it did."""

    text: str
    verdict: Verdict
    citations: tuple[Citation, ...]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A cited (or, after abstaining, a nearest) paper, numbered by first appearance in the answer."""

    ref: int
    paper: Paper


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of all calls of an answer; ``cost_usd`` is None where a price is unknown."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds spent per stage.

    ``first_s`` is the time from the question to the first checked sentence, None when there is none.
    """

    load_s: float = 0.0
    retrieve_s: float = 0.0
    generate_s: float = 0.0
    verify_s: float = 0.0
    first_s: float | None = None


@dataclass(frozen=True, slots=True)
class PromptInfo:
    """Name and SHA-256 of the prompt template that was sent."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What was searched: counts, embedder id, and a fingerprint that changes with any paper or setting."""

    papers: int
    passages: int
    embedder: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What ``ask`` returns; ``rag.render`` turns it into text, Markdown, JSON or BibTeX.

    ``removed`` are sentences that failed the check and are not part of the answer.
    ``read`` is the number of papers whose abstracts were put before the writer.
    ``confidence`` in [0, 1] is the score that the decision to answer or abstain was taken on, given for both
    outcomes (the evals draw the risk-coverage curve from it and choose its threshold); None if there is none.
    ``dropped_quotes`` and ``invalid_refs`` count what a model cited that does not stand where it said;
    ``cached`` tells that every reply of the model came from the response cache.
    """

    question: str
    status: Status
    mode: Mode
    model: str | None
    sentences: tuple[Sentence, ...]
    references: tuple[Reference, ...]
    nearest: tuple[Reference, ...]
    index: IndexInfo
    reason: str | None = None
    removed: tuple[Sentence, ...] = ()
    read: int = 0
    usage: Usage = Usage()
    timings: Timings = Timings()
    prompt: PromptInfo | None = None
    confidence: float | None = None
    dropped_quotes: int = 0
    invalid_refs: int = 0
    cached: bool = False
