"""What is shown in a conversation, as laid-out lines; how they are printed is the face's affair."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from rag.chat.changes import Change
from rag.chat.commands import COMMANDS
from rag.chat.entries import Entry
from rag.chat.store import Found, Row
from rag.records import COUNTED, Answer, Paper, Usage
from rag.render import layout, safe
from rag.render.layout import Line, Piece

_LISTED = 30
_CITED = 10
_SNIPPET = 160


def references(found: Answer, known: frozenset[int]) -> list[Line]:
    """The papers of an answer: whole the first time, one line when they were shown before (``known``)."""
    shown = found.references if found.status == "answered" else found.nearest
    lines: list[Line] = []
    for reference in shown[:_CITED]:
        lines += source(reference.ref, reference.paper, brief=reference.ref in known)
    more = len(shown) - _CITED
    return [*lines, *([Line((Piece(f"and {more} more: /sources", "dim"),))] if more > 0 else [])]


def declined(found: Answer) -> list[Line]:
    """The reason for no answer, with the nearest papers below."""
    return layout.declined(found)


def summary(found: Answer) -> str:
    """What was read and spent; that no model writes need not be said after every answer."""
    if found.mode == "model":
        return layout.summary(found)
    if found.read:
        return f"read {found.read:,} of {found.index.papers:,} papers"
    return COUNTED if found.status == "answered" else "no paper was read"


def source(ref: int, paper: Paper, *, brief: bool = False) -> list[Line]:
    """A paper with its number."""
    mark = f"[{ref}] "
    title = (Piece(mark, "ref"), Piece(layout.heading(paper), "title" if not brief else ""))
    key = Piece(safe.line(paper.key), "key")
    if brief:
        return [Line((*title, Piece(" · ", "dim"), key), hang=len(mark))]
    parts = [part for part in (layout.authors(paper.authors), layout.where(paper)) if part]
    about = Piece(" · ".join(parts) + " · " if parts else "", "dim")
    return [Line(title, hang=len(mark)), Line((about, key), indent=len(mark))]


def sources(papers: Mapping[int, Paper]) -> list[Line]:
    """All papers shown so far, with their addresses."""
    lines: list[Line] = []
    for ref, paper in sorted(papers.items()):
        lines += source(ref, paper)
        if url := safe.address(paper.url):
            lines.append(Line((Piece(url, "url"),), indent=len(f"[{ref}] "), whole=True))
    return lines


def quotes(found: Answer) -> list[Line]:
    """The words that the sentences of an answer rest on, by paper."""
    lines: list[Line] = []
    for reference in found.references:
        lines += source(reference.ref, reference.paper, brief=True)
        lines += layout.quotation_lines(found, reference.ref, indent=4)
    return lines


def listed(papers: Sequence[Paper], total: int) -> list[Line]:
    """Papers by key; many are cut short."""
    lines = [
        Line(
            (Piece(f"{safe.line(p.key)}  ", "key"), Piece(layout.heading(p)), Piece(_when(p), "dim")), hang=2
        )
        for p in papers[:_LISTED]
    ]
    more = len(papers) - _LISTED
    end = f"{len(papers):,} of {total:,} papers" + (f"; {more:,} more: /papers WORDS" if more > 0 else "")
    return [*lines, Line((Piece(end, "dim"),))]


def _when(paper: Paper) -> str:
    return f"  {layout.where(paper)}" if layout.where(paper) else ""


def help_() -> list[Line]:
    """The commands and the keys."""
    width = 11
    lines = []
    for spec in COMMANDS:
        name = f"/{spec.name}"
        words = (Piece(f"{spec.argument}  ", "dim"),) if spec.argument else ()
        lines.append(Line((Piece(name.ljust(width), "key"), *words, Piece(spec.help)), hang=width))
    keys = "Enter sends, Alt-Enter begins a new line, Tab completes commands, keys and names, Ctrl-R searches"
    keys += " earlier questions. Ctrl-C stops an answer and keeps what was checked; Ctrl-D leaves."
    return [*lines, Line(), Line((Piece(keys, "dim"),))]


def cost(usage: Usage, answers: int) -> Line:
    """Tokens and money."""
    if not answers:
        return Line((Piece("No model was asked in this conversation: nothing was spent."),))
    money = "price unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    text = f"{answers} answer{'s' * (answers != 1)} by a model: {usage.prompt_tokens:,} tokens sent,"
    return Line((Piece(f"{text} {usage.completion_tokens:,} written, {money}."),))


def sessions(rows: Sequence[Row], current: int | None = None) -> list[Line]:
    """Sessions, the one used last first."""
    lines = []
    for row in rows:
        mark = "* " if row.id == current else "  "
        turns = f"{row.turns} question{'s' * (row.turns != 1)}, {when(row.changed)}"
        name = Piece(f"{mark}{safe.line(row.name)}", "key")
        first = cut(row.first)
        lines.append(Line((name, Piece(f"  {turns}  ", "dim"), Piece(first)), hang=4))
    return lines or [Line((Piece("No conversations yet."),))]


def row(one: Row) -> str:
    """A session for other programs: number, name, time, questions, first question, tab-separated."""
    changed_ = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(one.changed))
    return "\t".join((str(one.id), safe.line(one.name), changed_, str(one.turns), safe.line(one.first)))


def conversation(turns: Iterable[Entry]) -> list[Line]:
    """A whole conversation; a paper is shown whole the first time."""
    lines: list[Line] = []
    known: set[int] = set()
    for one in turns:
        lines += [*([Line()] if lines else []), *entry(one, frozenset(known))]
        if one.answer is not None:
            known |= {reference.ref for reference in (*one.answer.references, *one.answer.nearest)}
    return lines


def found(hits: Iterable[Found]) -> list[Line]:
    """Turns in which words were found."""
    lines = []
    for hit in hits:
        said = " ".join(s.text for s in hit.entry.answer.sentences) if hit.entry.answer else ""
        name = Piece(f"{safe.line(hit.session)} #{hit.entry.number}  ", "key")
        lines.append(Line((name, Piece(cut(hit.entry.question)), Piece(f"  {cut(said)}", "dim")), hang=4))
    return lines or [Line((Piece("Nowhere."),))]


def entry(one: Entry, known: frozenset[int]) -> list[Line]:
    """A turn of before, as it was shown."""
    lines = [Line((Piece("› ", "ref"), Piece(safe.line(one.question), "head")), hang=2)]
    if one.meant != one.question:
        how = f" ({safe.line(one.note)})" if one.note else ""
        lines.append(Line((Piece(f"Understood as: {safe.line(one.meant)}{how}", "dim"),), hang=2))
    if one.answer is not None and one.answer.status == "answered":
        pieces = [piece for s in one.answer.sentences for piece in layout.sentence(s, one.answer.mode)]
        lines += [Line(tuple(pieces)), Line(), *references(one.answer, known)]
    elif one.answer is not None:
        lines += [*declined(one.answer), *references(one.answer, known)]
    return [*lines, *_ending(one)]


def _ending(one: Entry) -> list[Line]:
    if one.status in ("stopped", "writing"):
        text = "Stopped here." if one.status == "stopped" else "The program ended here."
        return [Line((Piece(text, "weak"),))]
    return [Line((Piece(f"Failed: {safe.line(one.error)}", "weak"),))] if one.status == "failed" else []


def changed(found_: Sequence[Change]) -> list[Line]:
    """What became of papers cited earlier."""
    lines = []
    for change in found_:
        title = f"[{change.ref}] {layout.heading(change.paper)} ({safe.line(change.paper.key)}) "
        lines.append(Line((Piece(title + _fate(change), "weak"),), hang=4))
    return lines


def _fate(change: Change) -> str:
    if change.kind == "vanished":
        return "is no longer in the index; what was cited of it is kept here."
    if not change.quotes:
        return "has changed since it was cited."
    kept = change.quotes - change.lost
    return f"has changed since it was cited: {kept} of {change.quotes} quotations still stand in it."


def when(moment: float, now: float | None = None) -> str:
    """``today 14:05``, ``yesterday 09:12``, ``2025-03-01``."""
    there, here = time.localtime(moment), time.localtime(now or time.time())
    days = (
        time.mktime((*here[:3], 12, 0, 0, 0, 0, -1)) - time.mktime((*there[:3], 12, 0, 0, 0, 0, -1))
    ) / 86400
    if round(days) in (0, 1):
        return ("today", "yesterday")[round(days)] + time.strftime(" %H:%M", there)
    return time.strftime("%Y-%m-%d", there)


def cut(text: str) -> str:
    """The beginning of a text, on one line."""
    text = safe.line(text)
    return text if len(text) <= _SNIPPET else text[:_SNIPPET].rsplit(" ", 1)[0] + " …"
