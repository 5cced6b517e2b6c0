"""Records -> lines of styled pieces; ``plain`` and ``terminal`` only differ in how they print them.

A piece's style is a role ("title", "ref", "match" ...), not a colour. All text of others passes through
``safe`` here, so nothing further down needs to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol

from rag.records import Answer, Failure, Hit, Mode, Paper, Reference, Sentence, Usage
from rag.render import safe
from rag.render.marks import numbers, runs
from rag.text.marks import split_end, without_marks
from rag.text.sentences import split
from rag.text.words import word_set

Style = Literal["", "head", "title", "ref", "dim", "url", "match", "weak", "struck", "key", "bad"]
MOST_AUTHORS = 3
SHORT = 160  # characters: a sentence below that is shown with a neighbour
# Words that say nothing about why a passage matched.
_STOP = word_set(
    "a an and are as at be been by can could did do does for from had has have how i in into is it its of",
    "on or our should so such than that the their them then there these they this those to was we were what",
    "when where which while who whom whose why will with would you your",
)


_STATUS: Mapping[str, Style] = MappingProxyType({"ok": "key", "failed": "bad", "skipped": "dim"})


class Finding(Protocol):
    """A check of the doctor."""

    @property
    def name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def detail(self) -> str: ...
    @property
    def fix(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    style: Style = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One logical line: in a terminal it is wrapped, later rows are indented by ``hang`` more.

    A ``whole`` line is left to the terminal to wrap: an address in two pieces cannot be clicked or copied.
    """

    pieces: tuple[Piece, ...] = ()
    indent: int = 0
    hang: int = 0
    whole: bool = False


def answer(result: Answer, quotes: bool = False) -> list[Line]:
    """Lay out an answer with its references, or the reason for having none with the nearest papers."""
    if result.status == "abstained":
        return [*declined(result), *(line for near in result.nearest for line in _reference(near))]
    shown = [piece for sentence_ in result.sentences for piece in sentence(sentence_, result.mode)]
    return [Line(tuple(shown)), *references(result, quotes)]


def sentence(one: Sentence, mode: Mode) -> tuple[Piece, ...]:
    """Lay out one sentence with its marks and, where a model wrote it, a doubtful verdict."""
    body, end = split_end(without_marks(safe.line(one.text)))
    pieces = [Piece(body, "struck" if one.verdict == "unsupported" else "")]
    if refs := runs(numbers(one)):
        pieces.append(Piece(" " + "".join(refs), "ref"))
    if mode == "model" and one.verdict in ("weak", "unsupported"):
        pieces.append(Piece(f" ({one.verdict})", "weak"))
    return (*pieces, Piece(end + " "))


def declined(result: Answer) -> list[Line]:
    """Lay out the reason for no answer, and the heading of the nearest papers if there are any."""
    reason = safe.line(result.reason or "")
    lines = [Line((Piece("Not answered from these papers. ", "head"), Piece(reason)))]
    return [*lines, Line(), Line((Piece("Nearest papers", "head"),))] if result.nearest else lines


def references(result: Answer, quotes: bool) -> list[Line]:
    """Lay out what stands below the sentences of an answer."""
    lines = [Line(), Line((Piece("References", "head"),))] if result.references else []
    for reference in result.references:
        lines += _reference(reference)
        if quotes:
            lines += quotation_lines(result, reference.ref)
    return lines


def quotation_lines(result: Answer, ref: int, indent: int = 6) -> list[Line]:
    """Lay out the words that reference ``ref`` is cited for.

    Marked in them are the words shared with the sentence or, where that is the quotation, with the question.
    """
    return [
        Line((Piece("“"), *highlighted(quote, wanted), Piece("”")), indent=indent, hang=1)
        for quote, one in quotations(result, ref).items()
        for wanted in [result.question if one.verdict == "verbatim" else one.text]
    ]


def quotations(result: Answer, ref: int) -> dict[str, Sentence]:
    """Return the words that reference ``ref`` is cited for, each once, with the first sentence on them.

    What was counted from the records quotes nothing.
    """
    found: dict[str, Sentence] = {}
    for one in result.sentences:
        for citation in one.citations:
            if citation.ref == ref and citation.quote:
                found.setdefault(citation.quote, one)
    return found


def summary(result: Answer) -> str:
    """Say in one line how an answer came about: writer, papers read, cost, what was removed."""
    parts = [f"{result.model or 'model'}" if result.mode == "model" else "extractive mode: quoted, no model"]
    if result.read:
        parts.append(f"read {result.read:,} of {result.index.papers:,} papers")
    if result.usage.prompt_tokens or result.usage.completion_tokens:
        parts.append(f"{result.usage.prompt_tokens:,} + {result.usage.completion_tokens:,} tokens")
        cost = result.usage.cost_usd
        parts.append("price unknown" if cost is None else f"${cost:.4f}")
    if result.removed:
        parts.append(f"{len(result.removed)} sentence{'s' * (len(result.removed) > 1)} failed the check")
    return safe.line(" · ".join(parts))


def plan(papers: Sequence[Paper], usage: Usage, reason: str | None) -> list[Line]:
    """Lay out what ``--dry-run`` found."""
    lines = [Line((Piece("Nothing was sent. ", "head"), Piece(safe.line(reason or ""))))]
    for number, one in enumerate(papers, 1):
        lines += _reference(Reference(number, one))
    if papers:
        cost = "price unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
        used = f"At most {usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens (estimated), {cost}."
        lines += [Line(), Line((Piece(used),))]
    return lines


def search(question: str, hits: Sequence[Hit]) -> list[Line]:
    """Lay out ranked papers, each with its best passage and the question's words marked in it."""
    lines: list[Line] = []
    for rank, hit in enumerate(hits, 1):
        lines += [Line()] if lines else []
        heading = (Piece(f"{rank:>2} ", "ref"), _title(hit.paper), Piece(f"  {hit.score:.2f}", "dim"))
        lines.append(Line(heading, hang=3))
        lines += _about(hit.paper, indent=3)
        lines.append(Line(tuple(highlighted(excerpt(hit.passage.text, question), question)), indent=3))
    return lines


def paper(one: Paper) -> list[Line]:
    """Lay out everything known about one paper."""
    lines = [Line((_title(one),)), Line((Piece(", ".join(map(safe.line, one.authors))),))]
    rows = [("key", one.key), ("venue", one.venue), ("year", one.year), ("doi", one.doi)]
    rows += [("arXiv", one.arxiv_id), ("url", safe.address(one.url))]
    rows += [("source", f"{s.file}, record {s.record}") for s in (one.source, *one.also)]
    for name, value in rows:
        if value is not None:
            whole = name in ("url", "source")
            lines.append(
                Line((Piece(f"{name:<8}", "dim"), Piece(safe.line(str(value)))), hang=8, whole=whole)
            )
    return [line for line in lines if line.pieces[0].text] + [
        Line(),
        Line((Piece(safe.block(one.abstract)),)),
    ]


def described(file: str, format_: str, records: Sequence[Paper | Failure]) -> list[Line]:
    """Lay out what reading a file would give: its format and its first records."""
    lines = [Line((Piece(safe.line(file), "title"), Piece(f"  {format_ or 'not read'}", "dim")), whole=True)]
    for record in records:
        if isinstance(record, Failure):
            lines.append(Line((Piece("not read: ", "bad"), Piece(safe.line(record.error))), indent=2, hang=2))
            continue
        lines.append(Line((_title(record),), indent=2, hang=2))
        lines += _about(record, indent=4)
    return lines


def checks(found: Iterable[Finding], origins: Mapping[str, tuple[str, str]]) -> list[Line]:
    """Lay out what the doctor found, and the settings that are not defaults."""
    lines = []
    for check in found:
        mark = Piece(f"{check.status:<8}", _STATUS.get(check.status, ""))
        lines.append(Line((mark, Piece(f"{check.name:<12}"), Piece(safe.line(check.detail))), hang=20))
        if check.fix:
            lines.append(Line((Piece("fix: ", "head"), Piece(safe.line(check.fix))), indent=20, hang=5))
    for key, (value, origin) in origins.items():
        set_ = (
            Piece("setting ", "dim"),
            Piece(f"{key} = {safe.line(value)}"),
            Piece(f"  {safe.line(origin)}", "dim"),
        )
        lines.append(Line(set_, hang=8))
    return lines


def authors(names: Sequence[str]) -> str:
    """``("A", "B", "C", "D")`` -> ``"A, B, C et al."``."""
    shown = ", ".join(safe.line(name) for name in names[:MOST_AUTHORS])
    return shown + (" et al." if len(names) > MOST_AUTHORS else "")


def heading(one: Paper) -> str:
    """The title, or for a paper without one the beginning of its abstract."""
    if one.title:
        return safe.line(one.title)
    words = safe.line(one.abstract).split()
    return "“" + " ".join(words[:10]) + ("…”" if len(words) > 10 else "”")


def where(one: Paper) -> str:
    """``ICML 2025``, or what of it is known."""
    return " ".join(safe.line(str(part)) for part in (one.venue, one.year) if part)


def excerpt(text: str, wanted: str) -> str:
    """Return the sentence with most words of ``wanted``, and one neighbour if both are short."""
    text = safe.line(text)
    spans = split(text)
    if len(spans) < 3:
        return text
    words = _words(wanted)
    hits = [len(words & _words(span.text)) for span in spans]
    best = hits.index(max(hits))
    first = last = best
    if len(spans[best].text) < SHORT:
        last = min(best + 1, len(spans) - 1)
        first = best if last > best else best - 1
    before, after = "… " if first else "", " …" if last < len(spans) - 1 else ""
    return before + text[spans[first].start : spans[last].end] + after


def highlighted(text: str, wanted: str) -> Iterable[Piece]:
    """Yield ``text`` with the words that also stand in ``wanted`` as pieces of style "match"."""
    text = safe.line(text)
    words = _words(wanted)
    done = 0
    for match in re.finditer(r"\w+", text):
        if _stem(match[0]) in words:
            yield Piece(text[done : match.start()])
            yield Piece(match[0], "match")
            done = match.end()
    yield Piece(text[done:])


def _words(text: str) -> set[str]:
    return {_stem(word) for word in re.findall(r"\w+", text)} - {""}


def _stem(word: str) -> str:
    """Good enough to mark words: plural, -ed and -ing are cut off."""
    low = word.casefold()
    if low in _STOP or (len(low) < 2 and not low.isdigit()):
        return ""
    return re.sub(r"(?<=\w{4})(?:ing|ed|es|s|e)$", "", low)


def _title(one: Paper) -> Piece:
    return Piece(heading(one), "title")


def _about(one: Paper, indent: int) -> list[Line]:
    parts = [part for part in (authors(one.authors), where(one)) if part]
    about = [Piece(" · ".join(parts) + " · " if parts else "", "dim"), Piece(safe.line(one.key), "key")]
    lines = [Line(tuple(about), indent=indent)]
    if url := safe.address(one.url):
        lines.append(Line((Piece(url, "url"),), indent=indent, whole=True))
    return lines


def _reference(reference: Reference) -> list[Line]:
    mark = f"[{reference.ref}] "
    title = Line((Piece(mark, "ref"), _title(reference.paper)), hang=len(mark))
    return [title, *_about(reference.paper, indent=len(mark))]
