"""MEDLINE text as PubMed saves it: ``PMID- 123``, ``TI  - ...``, continued on indented lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.corpus.drafts import Broken, Draft
from rag.corpus.fields import signed
from rag.corpus.streams import Head, Stream

NAME = "MEDLINE"
_TAG = re.compile(r"([A-Z]{2,4}) *- (.*)")


def detects(head: Head) -> bool:
    return bool(re.search(r"^PMID- *\d", head.text[:20_000], re.MULTILINE))


def read(stream: Stream) -> Iterator[Draft | Broken]:
    for record, (line, fields) in enumerate(_records(stream), 1):
        yield _draft(record, fields, line)


def _records(stream: Stream) -> Iterator[tuple[int, dict[str, list[str]]]]:
    fields: dict[str, list[str]] = {}
    tag, start = "", 0
    for number, line in enumerate(stream.lines(), 1):
        match = _TAG.match(line)
        if match and match[1] == "PMID" and fields:
            yield start, fields
            fields = {}
        if match:
            start = start if fields else number
            tag = match[1]
            fields.setdefault(tag, []).append(match[2].strip())
        elif line.startswith("      ") and tag in fields:
            fields[tag][-1] += f" {line.strip()}"
    if fields:
        yield start, fields


def _draft(record: int, fields: dict[str, list[str]], line: int) -> Draft:
    def first(*tags: str) -> str:
        return next((fields[tag][0] for tag in tags if tag in fields), "")

    dois = [value for tag in ("LID", "AID") for value in fields.get(tag, ()) if value.endswith("[doi]")]
    names = fields.get("FAU") or fields.get("AU") or fields.get("CN") or []
    pmid = first("PMID")
    return Draft(
        record,
        abstract=first("AB"),
        title=first("TI"),
        authors=tuple(map(signed, names)),
        venue=first("JT", "TA"),
        year=first("DP"),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid.isdigit() else "",
        doi=dois[0] if dois else "",
        extra={"pmid": pmid, "mesh": fields.get("MH", []), "keywords": fields.get("OT", [])},
        line=line,
    )
