"""Venue and year in one line: headings of lists, and what sites write, "ICML 2025 poster"."""

from __future__ import annotations

import re

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ACRONYM = re.compile(r"\b[A-Z][A-Za-z]*[A-Z][A-Za-z]*(?:[-/&+][A-Z][A-Za-z]+)*\b")
_VENUE_WORD = re.compile(
    r"\b(?:papers?|abstracts?|proceedings|conference|workshop|symposium|journal|accepted|posters?|orals?|"
    r"transactions|findings|congress|meeting|track)\b",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"\b(?:accepted|papers?|abstracts?|list of|posters?|orals?|spotlights?|main (?:track|conference)|from|at|"
    r"of|the|all|for|in)\b|[^\w\s&/+'-]",
    re.IGNORECASE,
)
# What sites write before, or instead of, accepting a paper: it is not of that venue yet, or never will be.
_PENDING = re.compile(
    r"\b(?:submitted|submissions?|under review|pending|withdrawn|rejected)\b", re.IGNORECASE
)
_ACCEPTED = re.compile(r"\baccepted\b", re.IGNORECASE)
_PREPRINTS = re.compile(r"\w*rxiv|\bpreprints?\b|\bcorr\b", re.IGNORECASE)
_SITE = re.compile(r"//(?:www\.)?(icml|iclr|neurips|nips|aistats|mlsys)\.(?:cc|org)/virtual/(\d{4})/")
_SITES = {"icml": "ICML", "iclr": "ICLR", "neurips": "NeurIPS", "nips": "NeurIPS", "mlsys": "MLSys"}


def heading(line: str) -> tuple[str, int] | None:
    """Return (venue, year) of a heading such as "ICML 2025 Papers"; None for any other line.

    >>> heading("Accepted papers of the 41st Conference on X (XCONF 2024)")
    ('XCONF', 2024)

    What was only submitted keeps the whole line as its venue, lest it be taken for a paper of the conference.

    >>> heading("Submitted to ICLR 2025")
    ('Submitted to ICLR 2025', 2025)
    """
    line = re.sub(r"^[#=*\s]+|[#=*:\s]+$", "", line[:400])
    year = _YEAR.search(line)
    if year is None or len(line.split()) > 16 or re.search(r"[.!?]$", line):
        return None
    acronyms = list(_ACRONYM.finditer(line))
    if not _VENUE_WORD.search(line) and (not acronyms or len(line.split()) > 5):
        return None
    if _is_pending(line):
        return line, int(year[0])
    if acronyms:
        nearest = min(acronyms, key=lambda m: min(abs(year.start() - m.end()), abs(m.start() - year.end())))
        return nearest[0], int(year[0])
    return " ".join(_FILLER.sub(" ", line.replace(year[0], " ")).split()), int(year[0])


def split(venue: str) -> tuple[str, str]:
    """Return ("ICML", "2025") for "ICML 2025 poster"; a venue without a year comes back as it is."""
    found = heading(venue)
    return (found[0] or venue, str(found[1])) if found else (venue, "")


def is_published(venue: str) -> bool:
    """Whether a paper with this venue is out there: no preprint, and not only submitted."""
    return bool(venue) and not _PREPRINTS.search(venue) and not _is_pending(venue)


def _is_pending(venue: str) -> bool:
    return bool(_PENDING.search(venue)) and not _ACCEPTED.search(venue)


def from_address(url: str) -> tuple[str, str]:
    """Return ("ICML", "2025") for a poster's page on the conference's site, else ("", "")."""
    match = _SITE.search(url)
    return (_SITES.get(match[1], match[1].upper()), match[2]) if match else ("", "")
