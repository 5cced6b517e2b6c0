"""A conversation as a file: Markdown for people, JSON for programs, BibTeX of what was cited."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rag import whole_file
from rag.chat.entries import Entry
from rag.errors import UsageError
from rag.records import Answer, Paper, Reference
from rag.render import contract, markdown
from rag.render.bibtex import entries as bibtex

FORMATS = ("md", "json", "bib")


def export(kind: str, name: str, entries: Sequence[Entry], papers: Mapping[int, Paper]) -> str:
    """Return the conversation called ``name`` as ``kind`` ("md", "json" or "bib")."""
    if kind == "json":
        return contract.dumps(as_json(name, entries, papers)) + "\n"
    if kind == "bib":
        return bibtex(cited(entries, papers))
    return as_markdown(name, entries, papers)


def cited(entries: Iterable[Entry], papers: Mapping[int, Paper]) -> list[Paper]:
    """The papers that answers rest on, by number; those merely named as nearest are none of them."""
    refs = {r.ref for entry in entries if entry.answer for r in entry.answer.references}
    return [papers[ref] for ref in sorted(refs) if ref in papers]


def as_json(name: str, entries: Iterable[Entry], papers: Mapping[int, Paper]) -> contract.Json:
    """The session with every turn; an answer has the form of ``rag ask --json``, numbers of the session."""
    return {
        "session": name,
        "turns": [_turn(entry) for entry in entries],
        "papers": [{"ref": ref, **contract.paper(paper)} for ref, paper in sorted(papers.items())],
    }


def _turn(entry: Entry) -> contract.Json:
    return {
        "number": entry.number,
        "asked": time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(entry.started)),
        "question": entry.question,
        "understood_as": entry.meant,
        "resolved": entry.note or None,
        "status": "stopped" if entry.status == "writing" else entry.status,
        "error": entry.error or None,
        "answer": contract.answer(entry.answer) if entry.answer else None,
    }


def as_markdown(name: str, entries: Iterable[Entry], papers: Mapping[int, Paper]) -> str:
    """Questions as headings, answers with [n], one list of references at the end."""
    parts = [f"# {markdown.escaped(name)}"]
    for entry in entries:
        parts.append(f"## {markdown.escaped(entry.question)}")
        if entry.meant != entry.question:
            parts.append(f"*Understood as: {markdown.escaped(entry.meant)}*")
        parts += _answer(entry)
    shown = [Reference(ref, paper) for ref, paper in sorted(papers.items())]
    if shown:
        parts += ["## References", markdown.numbered(shown)]
    return "\n\n".join(parts) + "\n"


def _answer(entry: Entry) -> list[str]:
    parts = []
    if entry.answer is not None:
        parts.append(_said(entry.answer))
    if entry.status in ("stopped", "writing"):
        parts.append("*(stopped here)*")
    if entry.status == "failed":
        parts.append(f"*(failed: {markdown.escaped(entry.error)})*")
    return parts


def _said(answer: Answer) -> str:
    if answer.status == "abstained":
        nearest = ", ".join(f"\\[{reference.ref}\\]" for reference in answer.nearest)
        reason = markdown.escaped(answer.reason or "")
        return f"**Not answered from these papers.** {reason}" + (f" Nearest: {nearest}." if nearest else "")
    return " ".join(markdown.sentence(sentence, answer.mode) for sentence in answer.sentences)


def write(file: Path, text: str, *, over: bool = False, or_else: str = "move that one away") -> None:
    """Write ``file`` whole or not at all.

    Args:
        over: whether it may take the place of one that is there.
        or_else: what else can be done about that one, as the remedy says it.

    Raises:
        UsageError: it is there already, or cannot be written.
    """
    # lexists: a link to nowhere is a file of somebody as well.
    if not over and os.path.lexists(file):
        raise UsageError(f"{file} exists already.", f"Name another file, or {or_else}.")
    with faults(file):
        whole_file.write(file, text)


@contextmanager
def faults(file: Path) -> Iterator[None]:
    """Turn what can be wrong with a file that a person named into one line.

    Raises:
        UsageError: its name cannot be one, it cannot be reached, or not be written.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
    except RuntimeError:  # raised by Path.resolve
        reason = "Its links lead in a circle"
    except ValueError:  # a zero byte, or half of a character
        reason = "No file can have such a name"
    else:
        return
    raise UsageError(f"{file} cannot be written: {reason}.", "Name another file.")


def file_of(typed: str) -> Path:
    """Return the file that a person named, with ``~`` and ``~name`` as home folders.

    Raises:
        UsageError: nobody has that name here.
    """
    try:
        return Path(typed).expanduser()
    except RuntimeError:
        user = typed.partition("/")[0]
        raise UsageError(
            f"The home folder of {user} is not known.", "Write the whole path, from / on."
        ) from None


def kind_of(file: Path, asked: str | None = None) -> str:
    """The format that the ending of a file name asks for; without an ending what was ``asked``, or Markdown.

    Raises:
        UsageError: the ending is none that is known, and no format was asked for; or it is that of another.
    """
    ending = file.suffix.lower()
    kind = {".markdown": "md", ".bibtex": "bib"}.get(ending, ending.removeprefix("."))
    if kind and kind not in FORMATS and asked is None:
        raise UsageError(f"{file.name} has an ending that is not known.", "Known: .md, .json and .bib.")
    if kind not in FORMATS:
        return asked or "md"
    if asked not in (None, kind):
        raise UsageError(
            f"{file.name} has the ending of {kind}, but the format {asked} was asked for.",
            "Name another file, or leave one of the two out.",
        )
    return kind
