"""PubMed XML: ``PubmedArticleSet`` as efetch and the yearly baseline files give it, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from rag.corpus.drafts import Broken, Draft
from rag.corpus.readers.xml_records import records, text, within
from rag.corpus.streams import Head, Stream

NAME = "PubMed XML"


def detects(head: Head) -> bool:
    return head.start.startswith("<") and ("<PubmedArticle" in head.text or "<MedlineCitation" in head.text)


def read(stream: Stream) -> Iterator[Draft | Broken]:
    for item in records(stream, frozenset({"PubmedArticle"})):
        yield item if isinstance(item, Broken) else _draft(*item)


def _draft(record: int, entry: Element) -> Draft:
    article = next(within(entry, "MedlineCitation", "Article"), entry)
    issue = ("Journal", "JournalIssue", "PubDate")
    pmid = text(entry, "MedlineCitation", "PMID")
    ids = {
        node.get("IdType"): (node.text or "").strip()
        for node in within(entry, "PubmedData", "ArticleIdList", "ArticleId")
    }
    return Draft(
        record,
        abstract="\n\n".join(map(_section, within(article, "Abstract", "AbstractText"))),
        title=text(article, "ArticleTitle").strip("[]"),
        authors=tuple(filter(None, map(_author, within(article, "AuthorList", "Author")))),
        venue=text(article, "Journal", "Title") or text(article, "Journal", "ISOAbbreviation"),
        year=text(article, *issue, "Year") or text(article, *issue, "MedlineDate"),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid.isdigit() else "",
        doi=ids.get("doi") or "",
        extra={
            "pmid": pmid,
            "pmc": ids.get("pmc"),
            "mesh": [
                text(node)
                for node in within(
                    entry, "MedlineCitation", "MeshHeadingList", "MeshHeading", "DescriptorName"
                )
            ],
        },
    )


def _section(node: Element) -> str:
    """A part of a structured abstract keeps its label: "METHODS: ..."."""
    label = (node.get("Label") or "").strip()
    return f"{label}: {text(node)}" if label and label != "UNLABELLED" else text(node)


def _author(node: Element) -> str:
    given, family = text(node, "ForeName") or text(node, "Initials"), text(node, "LastName")
    return f"{given} {family}".strip() or text(node, "CollectiveName")
