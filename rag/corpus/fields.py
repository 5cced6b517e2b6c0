"""Which field is the title? Names that people, sites and programs give to the same things.

>>> guess(["Paper Title", "Author(s)", "Abstract"])
{'title': 'Paper Title', 'authors': 'Author(s)', 'abstract': 'Abstract'}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import isfinite

from rag.corpus.drafts import Draft

_NAMES = {
    "title": "title papertitle articletitle documenttitle name ti titel titre",
    "authors": "authors author authornames authorfullnames authorlist creators creator au",
    "abstract": "abstract abstracttext abstractnote paperabstract summary ab description text",
    "venue": "venue conference booktitle journal publicationtitle containertitle sourcetitle journaltitle "
    "publication proceedings source publicationvenue conf",
    "year": "year publicationyear pubyear py date published publicationdate issued created",
    "url": "url link paperurl site openreview pdf pdfurl website href",
    "doi": "doi",
    "arxiv_id": "arxivid arxiv eprint",
}
FIELDS = tuple(_NAMES)


def guess(names: Iterable[str]) -> dict[str, str]:
    """Return which of ``names`` stands for each of ``FIELDS``; the first alias that is there wins."""
    return dict(_guess(tuple(names)))


@lru_cache(maxsize=256)  # the records of a file mostly have the same names
def _guess(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    by_plain: dict[str, str] = {}
    for name in names:
        by_plain.setdefault(re.sub(r"[^a-z]", "", name.casefold()), name)
    found = []
    for field_, aliases in _NAMES.items():
        hits = [by_plain[alias] for alias in aliases.split() if alias in by_plain]
        if hits:
            found.append((field_, hits[0]))
    return tuple(found)


def draft(
    record: int, row: Mapping[str, object], columns: Mapping[str, str], line: int | None = None
) -> Draft:
    """Return the draft of ``row``; ``columns`` names its fields, the others go to ``extra``."""
    used = set(columns.values())
    values = {name: row.get(column) for name, column in columns.items()}
    return Draft(
        record,
        abstract=prose(values.get("abstract")),
        title=text(values.get("title")),
        authors=people(values.get("authors")),
        venue=text(values.get("venue")),
        year=text(values.get("year")),
        url=text(values.get("url")),
        doi=text(values.get("doi")),
        arxiv_id=text(values.get("arxiv_id")),
        extra={str(name): value for name, value in row.items() if name not in used},
        line=line,
    )


def text(value: object) -> str:
    """Return a text, a number, or the first entry of a list as text; '' for anything else, and for NaN."""
    if isinstance(value, list | tuple):
        return text(value[0]) if value else ""
    if isinstance(value, Mapping):
        return _first(value, "value", "name", "raw")
    if isinstance(value, float) and not isfinite(value):
        return ""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def prose(value: object) -> str:
    """Return an abstract, which may be a list of its paragraphs or lines; other fields are a ``text``.

    >>> prose(["First.", None, "Second."]), text(["A Title", "Its Translation"])
    ('First.\\nSecond.', 'A Title')
    """
    if isinstance(value, list | tuple):
        return "\n".join(filter(None, map(prose, value)))
    return text(value)


def _first(value: Mapping[str, object], *names: str) -> str:
    """The first of these fields that says something; nothing is truthy as NaN is."""
    return next(filter(None, (text(value.get(name)) for name in names)), "")


def people(value: object) -> tuple[str, ...]:
    """Return names given as a list, as one string ("A; B", "A and B", "A, B"), or as mappings."""
    if isinstance(value, str):
        return _split(value)
    if isinstance(value, Mapping):
        return (_person(value),)
    if isinstance(value, list | tuple):
        return tuple(name for name in (_person(item) for item in value) if name)
    return ()


def signed(name: str) -> str:
    """Return "Lee, Hyunseok" as it is signed, "Hyunseok Lee"; a name without a comma as it is."""
    return " ".join(reversed([part.strip() for part in name.split(",", 1)]))


def _person(value: object) -> str:
    if not isinstance(value, Mapping):
        return text(value)
    given = _first(value, "given", "first", "firstName", "first_name")
    family = _first(value, "family", "last", "lastName", "last_name")
    whole = _first(value, "name", "fullname", "full_name", "literal")
    return whole or f"{given} {family}".strip()


def _split(names: str) -> tuple[str, ...]:
    for separator in (r"\s*;\s*", r"\s*\|\s*", r"\s+and\s+", r"\s*\n\s*"):
        if re.search(separator, names):
            parts = re.split(separator, names)
            # "A, B, C and D" has commas between the others
            listed = separator == r"\s+and\s+" and len(parts) == 2 and _lists_names(parts[0])
            return tuple(
                part for whole in parts for part in (_commas(whole) if listed else [whole]) if part.strip()
            )
    return tuple(_commas(names)) if _lists_names(names) else ((names.strip(),) if names.strip() else ())


def _lists_names(names: str) -> bool:
    """Whether commas part whole names: "Ann Lee, Bo Chen" does, "Lee, Ann" does not."""
    parts = _commas(names)
    return len(parts) > 2 or (len(parts) == 2 and all(" " in part for part in parts))


def _commas(names: str) -> list[str]:
    return [part.strip() for part in names.split(",") if part.strip()]
