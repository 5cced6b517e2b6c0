"""Atom feeds of the arXiv API: one ``entry`` a paper, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from rag.corpus.drafts import Broken, Draft
from rag.corpus.readers.xml_records import records, text, within
from rag.corpus.streams import Head, Stream

NAME = "arXiv Atom"


def detects(head: Head) -> bool:
    return head.start.startswith("<") and "<feed" in head.text and "http://www.w3.org/2005/Atom" in head.text


def read(stream: Stream) -> Iterator[Draft | Broken]:
    for item in records(stream, frozenset({"entry"})):
        yield item if isinstance(item, Broken) else _draft(*item)


def _draft(record: int, entry: Element) -> Draft:
    page = text(entry, "id")
    categories = [node.get("term") for node in within(entry, "category")]
    return Draft(
        record,
        abstract=text(entry, "summary") or text(entry, "content"),
        title=text(entry, "title"),
        authors=tuple(filter(None, (text(node, "name") for node in within(entry, "author")))),
        venue=text(entry, "journal_ref") or ("arXiv" if "arxiv.org" in page else ""),
        year=text(entry, "published") or text(entry, "updated"),
        url=page,
        doi=text(entry, "doi"),
        extra={
            "categories": categories,
            "comment": text(entry, "comment"),
            "updated": text(entry, "updated"),
        },
    )
