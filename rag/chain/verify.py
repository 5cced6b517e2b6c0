"""Checks what a writer proposes against the abstracts it cites, before a reader sees it.

    drafts (text, [n], words quoted)  ->  check  ->  sentences (text, verdict, verbatim quotations with
    offsets)

For each citation: the number must be one of the evidence, the words quoted must stand in that paper's
abstract (else they are dropped and the sentence nearest to the claim is quoted instead). For each sentence:
its numbers and names must stand in the papers it cites, it must not point the other way, and enough of it
must be carried by the sentences quoted. A sentence that its own citations do not carry is tried against the
other papers of the evidence and re-attributed when one of them carries it. No second model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.chain import support
from rag.chain.support import Claimed, Reading, Similarity, Weighing
from rag.records import Citation, Claim, Draft, Evidence, Sentence, Verdict
from rag.text import quotes
from rag.text.normalise import defuse, is_interval
from rag.text.sentences import split


@dataclass(frozen=True, slots=True)
class Limits:
    """Thresholds of the check, all on the support score in [0, 1].

    Attributes:
        supported: from here on a sentence without problems is "supported".
        weak: from here on it is "weak", below it is "unsupported".
        reattribute: what another paper must reach before a sentence is given to it.
        adds: what one of several citations must add to the others, unless it carries the sentence alone.
    """

    supported: float = 0.55
    weak: float = 0.35
    reattribute: float = 0.6
    adds: float = 0.1


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome: what may be shown, what was taken out, and what was found on the way.

    ``sentences`` are in the writer's order; ``removed`` are those of verdict "unsupported" (they are among
    ``sentences`` too, in their place, when ``keep_unsupported`` was asked for).
    Citations keep the numbers of the evidence.
    """

    sentences: tuple[Sentence, ...] = ()
    removed: tuple[Sentence, ...] = ()
    dropped_quotes: int = 0
    invalid_refs: int = 0
    reattributed: int = 0


@dataclass(frozen=True, slots=True)
class _Rest:
    """One paper that a sentence rests on: the ranges quoted, or None where no quotation was found."""

    evidence: Evidence
    reading: Reading
    ranges: tuple[tuple[int, int], ...]


_PART, _WHOLE = 1, 2
_NEARLY_ALL = 0.9  # a sentence that stands in the abstract has all its words there
_TRAILING_MARKS = re.compile(r"\s*\[\s*\d+(?:\s*[,;-]\s*\d+)*\s*\](?=[\s.,;:!?\[]|$)")


class Checker:
    """Checks drafts one at a time, as they stream in, against the same evidence."""

    def __init__(
        self, evidence: Sequence[Evidence], *, similarity: Similarity | None = None, limits: Limits = Limits()
    ) -> None:
        self._evidence = {e.ref: e for e in evidence}
        self._readings = {e.ref: Reading(e.paper) for e in evidence}
        self._similarity = similarity
        self._limits = limits

    def check(self, draft: Draft) -> Checked:
        """Return the outcome for one draft: exactly one sentence, in ``sentences`` or in ``removed``."""
        said = _TRAILING_MARKS.sub(lambda mark: mark[0] if is_interval(mark) else "", draft.text)
        text = " ".join(defuse(said).split())
        rests, dropped, invalid = self._resolve(draft.claims)
        claim = support.take_apart(text)
        sentence = self._judge(claim, rests)
        moved = 0
        if sentence.verdict == "unsupported" and (other := self._elsewhere(claim, rests)) is not None:
            sentence, moved = other, 1
        kept = sentence.verdict != "unsupported"
        return Checked((sentence,) if kept else (), () if kept else (sentence,), dropped, invalid, moved)

    def _resolve(self, claims: Sequence[Claim]) -> tuple[list[_Rest], int, int]:
        """Return the papers cited with the ranges quoted, and how many quotations and numbers were false."""
        ranges: dict[int, list[tuple[int, int]]] = {}
        dropped = invalid = 0
        for claim in claims:
            if claim.ref not in self._evidence:
                invalid += 1
                continue
            found = self._found(claim)
            dropped += bool(claim.quote) and found is None
            ranges.setdefault(claim.ref, []).extend([found] if found else [])
        rests = [_Rest(self._evidence[r], self._readings[r], tuple(found)) for r, found in ranges.items()]
        return rests, dropped, invalid

    def _found(self, claim: Claim) -> tuple[int, int] | None:
        """Return where the words quoted stand, if they stand in a sentence that is evidence."""
        reading = self._readings[claim.ref]
        found = quotes.find(claim.quote, reading.haystack) if claim.quote else None
        return found if found and reading.touched(*found) else None

    def _judge(self, claim: Claimed, rests: Sequence[_Rest]) -> Sentence:
        """Return the sentence with its verdict, resting on the papers it cites."""
        rests = [_with_range(claim, rest) for rest in rests if rest.reading.sentences]
        if not rests or not claim.words:
            return Sentence(claim.written, "unsupported", (), "cites no paper that was read")
        weighing = self._weigh(claim, rests)
        if len(rests) > 1 and not weighing.problems:
            needed = self._contributing(claim, rests)
            if len(needed) < len(rests):
                rests, weighing = needed, self._weigh(claim, needed)
        citations = tuple(c for rest in rests for c in self._citations(claim, rest))
        verdict = self._verdict(claim, rests, weighing)
        note = "; ".join((*weighing.problems, *weighing.doubts)) or None
        return Sentence(claim.written, verdict, citations, note if verdict != "verbatim" else None)

    def _weigh(self, claim: Claimed, rests: Sequence[_Rest]) -> Weighing:
        near = [s for rest in rests for a, b in rest.ranges for s in rest.reading.touched(a, b)]
        found = support.weigh(claim, [rest.reading for rest in rests], near, self._similarity)
        foreign = self._foreign(claim, rests)
        return replace(found, problems=(*found.problems, *foreign)) if foreign else found

    def _foreign(self, claim: Claimed, rests: Sequence[_Rest]) -> list[str]:
        """Return names that the papers cited do not have and another paper has in its title.

        "Ladder Residual hides latency" is not said by the paper on SpeCache, however well the words fit. A
        strong name that is missing is a problem already.
        """
        weak = [name for name in claim.names if not name.strong]
        others = [r for r in self._readings.values() if all(r is not rest.reading for rest in rests)]
        return [
            f"{name.text} is the subject of another paper"
            for name in weak
            if not any(rest.reading.lexicon.has(name) for rest in rests)
            and any(name.key in other.title.lexicon.keys for other in others)
        ]

    def _contributing(self, claim: Claimed, rests: list[_Rest]) -> list[_Rest]:
        """Leave out citations that neither carry the sentence alone nor add to what the better ones carry."""
        alone = [(self._weigh(claim, [rest]), rest) for rest in rests]
        (now, first), *others = sorted(alone, key=lambda pair: (len(pair[0].problems), -pair[0].support))
        kept = [first]
        for own, rest in others:
            after = self._weigh(claim, [*kept, rest])
            carries = own.support >= self._limits.supported
            adds = after.support >= now.support + self._limits.adds
            if (not own.problems and (carries or adds)) or len(after.problems) < len(now.problems):
                kept.append(rest)
                now = after
        return [rest for rest in rests if rest in kept]

    def _citations(self, claim: Claimed, rest: _Rest) -> list[Citation]:
        abstract = rest.reading.paper.abstract
        return [
            Citation(
                rest.evidence.ref,
                rest.reading.paper.key,
                abstract[start:end],
                start,
                end,
                round(self._weigh(claim, [_Rest(rest.evidence, rest.reading, ((start, end),))]).support, 4),
            )
            for start, end in dict.fromkeys(rest.ranges)
        ]

    def _verdict(self, claim: Claimed, rests: Sequence[_Rest], weighing: Weighing) -> Verdict:
        if weighing.support > _NEARLY_ALL:  # looking for the claim in an abstract is what costs
            stands = max((_stands_in(claim, rest.reading) for rest in rests), default=0)
            if stands == _WHOLE or (stands == _PART and not (weighing.problems or weighing.doubts)):
                return "verbatim"
        if weighing.problems or weighing.support < self._limits.weak:
            return "unsupported"
        if weighing.doubts or weighing.support < self._limits.supported:
            return "weak"
        return "supported"

    def _elsewhere(self, claim: Claimed, rests: Sequence[_Rest]) -> Sentence | None:
        """Return the sentence resting on another paper of the evidence that carries it, if one does."""
        cited = {rest.evidence.ref for rest in rests}
        best: tuple[float, Sentence] | None = None
        for ref, evidence in self._evidence.items():
            if ref in cited or not claim.words:
                continue
            sentence = self._judge(claim, [_Rest(evidence, self._readings[ref], ())])
            carried = max((c.support for c in sentence.citations), default=0.0)
            good = sentence.verdict in ("verbatim", "supported") and carried >= self._limits.reattribute
            if good and (best is None or carried > best[0]):
                best = carried, sentence
        if best is None:
            return None
        given = f"given as [{', '.join(map(str, sorted(cited)))}]" if cited else "given without a citation"
        key = best[1].citations[0].key
        return Sentence(
            best[1].text, best[1].verdict, best[1].citations, f"{given}, but it is {key} that says so"
        )


def _stands_in(claim: Claimed, reading: Reading) -> int:
    """Return whether the claim is one or more whole sentences of the abstract, part of one, or not in it.

    Part of one may be torn out of a denial: "Neither dropout nor weight decay improves calibration." And what
    an ellipsis leaves out may be the denial.
    """
    found = None if "..." in claim.text else quotes.find(claim.text, reading.haystack)
    touched = reading.touched(*found) if found else []
    if not found or not touched:
        return 0
    abstract = reading.paper.abstract
    before = abstract[touched[0].span.start : found[0]]
    after = abstract[found[1] : touched[-1].span.end]
    return _PART if any(char.isalnum() for char in before + after) else _WHOLE


def _with_range(claim: Claimed, rest: _Rest) -> _Rest:
    """Quote the sentences that carry most of the claim where the writer quoted nothing that is there."""
    if rest.ranges:
        return rest
    best = support.best_sentences(claim, rest.reading)
    return _Rest(rest.evidence, rest.reading, tuple((s.span.start, s.span.end) for s in best))


def single(draft: Draft) -> list[Draft]:
    """Return the sentences of a draft one by one, each with all of its claims: writers put two into one."""
    parts = [span.text for span in split(draft.text)]
    return [draft] if len(parts) < 2 else [replace(draft, text=part) for part in parts]


def check(
    drafts: Sequence[Draft],
    evidence: Sequence[Evidence],
    *,
    similarity: Similarity | None = None,
    limits: Limits = Limits(),
    keep_unsupported: bool = False,
) -> Checked:
    """Check all drafts of an answer against the evidence they were written from."""
    checker = Checker(evidence, similarity=similarity, limits=limits)
    outcomes = [checker.check(part) for draft in drafts for part in single(draft)]
    return Checked(
        tuple(s for o in outcomes for s in (o.sentences or (o.removed if keep_unsupported else ()))),
        tuple(s for o in outcomes for s in o.removed),
        sum(o.dropped_quotes for o in outcomes),
        sum(o.invalid_refs for o in outcomes),
        sum(o.reattributed for o in outcomes),
    )
