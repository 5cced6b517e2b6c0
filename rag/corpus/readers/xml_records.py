"""Walks an XML file record by record without holding it whole; shared by the XML readers.

defusedxml refuses entity bombs and external entities.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import iterparse  # type: ignore[import-untyped]

from rag.corpus.drafts import Broken
from rag.corpus.streams import Stream


def records(stream: Stream, tags: frozenset[str]) -> Iterator[tuple[int, Element] | Broken]:
    """Yield (number, element) for each element of one of ``tags`` (names without namespace).

    A broken document yields its records up to the fault, then a ``Broken``.
    """
    number = 0
    with stream.open() as source:
        try:
            parents: list[Element] = []
            for event, element in iterparse(source, events=("start", "end")):
                if event == "start":
                    parents.append(element)
                    continue
                parents.pop()
                if local(element) in tags:
                    number += 1
                    yield number, element
                    element.clear()
                    if parents:
                        parents[-1].clear()  # else the emptied records pile up beneath the root
        except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
            yield Broken(number + 1, f"is not valid XML: {error}", getattr(error, "position", (None,))[0])


def local(element: Element) -> str:
    """Return the name of ``element`` without its namespace; '' for comments."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def within(element: Element, *path: str) -> Iterator[Element]:
    """Yield the descendants of ``element`` reached by child names ``path``, whatever their namespace."""
    if not path:
        yield element
        return
    for child in element:
        if local(child) == path[0]:
            yield from within(child, *path[1:])


def text(element: Element, *path: str) -> str:
    """Return the whole text of the first such descendant; sub- and superscripts keep their tags."""
    found = next(within(element, *path), None)
    return "" if found is None else " ".join(_marked(found).split())


def _marked(element: Element) -> str:
    inner = (element.text or "") + "".join(_marked(child) + (child.tail or "") for child in element)
    name = local(element)
    return f"<{name}>{inner}</{name}>" if name in ("sup", "sub") else inner
