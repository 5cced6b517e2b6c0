r"""BibTeX and BibLaTeX, by bibtexparser, with what exports get wrong put right.

OpenReview writes keys with LaTeX in them, ``t{\"o}nshoff2023where``, which no parser takes; ``@string`` parts
joined by ``#`` and ``crossref`` are resolved here. One entry that cannot be parsed does not stop the rest.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

from bibtexparser.entrypoint import parse_string
from bibtexparser.model import DuplicateBlockKeyBlock, DuplicateFieldKeyBlock, Entry, ParsingFailedBlock

from rag.corpus.drafts import Broken, Draft
from rag.corpus.streams import Head, Stream
from rag.text.words import word_set

NAME = "BibTeX"
_START = re.compile(r"^[ \t]*@[A-Za-z]+\s*[{(]\s*[^\s=,]+\s*,", re.MULTILINE)
_KEY = re.compile(r"(^[ \t]*@[A-Za-z]+\s*[{(]\s*)([^\s,=]*[{}\\\"'][^\s,=]*)(\s*,)", re.MULTILINE)
_JOINED = re.compile(r"\s*(?:\"([^\"]*)\"|\{([^{}]*)\}|([A-Za-z]\w*|\d+))\s*(?:#|$)")
_VENUES = ("booktitle", "journal", "journaltitle", "venue")
_USED = word_set("title subtitle author abstract year date doi url eprint") | frozenset(_VENUES)
_INHERITED = {"booktitle": "title", "year": "year", "date": "date", "venue": "venue", "journal": "journal"}


def detects(head: Head) -> bool:
    return bool(_START.search(head.text)) and head.start[:1] not in ("{", "[", "<")


def read(stream: Stream) -> Iterator[Draft | Broken]:
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # what it warns of is reported as Broken
    library = parse_string(_KEY.sub(_plain_key, stream.text()))
    strings = {string.key.lower(): str(string.value) for string in library.strings}
    parents = {entry.key.lower(): _fields(entry, strings) for entry in library.entries}
    record = 0
    for block in library.blocks:
        line = (block.start_line or 0) + 1
        if isinstance(block, DuplicateFieldKeyBlock | DuplicateBlockKeyBlock):
            block = block.ignore_error_block or block  # noqa: PLW2901
        if isinstance(block, Entry):
            if (
                block.entry_type.lower() in ("proceedings", "book", "comment", "set")
                and "abstract" not in block
            ):
                continue
            record += 1
            yield _draft(record, block, _inherited(_fields(block, strings), parents), line)
        elif isinstance(block, ParsingFailedBlock):
            record += 1
            reason = " ".join(str(block.error or "").split())
            yield Broken(record, f"is not valid BibTeX: {reason[:200] or 'cannot be parsed'}", line)


def _plain_key(match: re.Match[str]) -> str:
    return match[1] + re.sub(r"[^\w:./+-]", "", match[2]) + match[3]


def _fields(entry: Entry, strings: dict[str, str]) -> dict[str, str]:
    return {field.key.lower(): _joined(str(field.value), strings) for field in entry.fields}


def _joined(value: str, strings: dict[str, str]) -> str:
    """Resolve ``icml # { 2025}``; bibtexparser resolves a lone ``icml`` only."""
    if "#" not in value:
        return value
    parts, position = [], 0
    while position < len(value):
        match = _JOINED.match(value, position)
        if match is None or match.end() == position:
            return value
        quoted = match[1] if match[1] is not None else match[2]
        parts.append(quoted if quoted is not None else strings.get(match[3].lower(), match[3]))
        position = match.end()
    return "".join(parts)


def _inherited(own: dict[str, str], parents: dict[str, dict[str, str]]) -> dict[str, str]:
    parent = parents.get(own.get("crossref", "").strip().lower())
    if parent is None:
        return own
    return {name: parent[other] for name, other in _INHERITED.items() if other in parent} | own


def _draft(record: int, entry: Entry, fields: dict[str, str], line: int) -> Draft:
    eprint = fields.get("eprint", "")
    is_arxiv = fields.get("archiveprefix", fields.get("eprinttype", "arxiv")).strip().lower() == "arxiv"
    venue = next((fields[name] for name in _VENUES if fields.get(name)), "")
    return Draft(
        record,
        abstract=fields.get("abstract", ""),
        title=": ".join(filter(None, (fields.get("title", ""), fields.get("subtitle", "")))),
        authors=tuple(_author(name) for name in _names(fields.get("author", "")) if name != "others"),
        venue=venue,
        year=fields.get("year") or fields.get("date"),
        url=fields.get("url", ""),
        doi=fields.get("doi", ""),
        arxiv_id=eprint if is_arxiv else "",
        extra={"bibtex_key": entry.key, "bibtex_type": entry.entry_type}
        | {name: value for name, value in fields.items() if name not in _USED},
        line=line,
    )


def _names(value: str) -> list[str]:
    """Part at "and" outside braces: ``{Barnes and Noble} and Lee`` are two."""
    names, depth, start = [], 0, 0
    for match in re.finditer(r"[{}]|\s+and\s+", value):
        if match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
        elif depth == 0:
            names.append(value[start : match.start()])
            start = match.end()
    return [name.strip() for name in [*names, value[start:]] if name.strip()]


def _author(name: str) -> str:
    """ "Lee, Hyunseok" and "Lee, Jr., John" as they are signed; a braced body's name stays whole."""
    if re.fullmatch(r"\{[^{}]*\}", name):
        return name
    parts = [part.strip() for part in re.split(r",(?![^{]*\})", name)]
    if len(parts) == 2:
        return f"{parts[1]} {parts[0]}"
    return f"{parts[2]} {parts[0]} {parts[1]}" if len(parts) == 3 else name
