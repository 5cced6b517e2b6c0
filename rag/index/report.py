"""What an ingest did."""

from __future__ import annotations

from dataclasses import dataclass

from rag.records import Failure


@dataclass(frozen=True, slots=True)
class SyncReport:
    """Counts of papers, not of records: a paper read from two files counts once.

    ``unchanged`` counts the papers of the files given that stayed as they were; ``failed`` are records and
    whole files (record 0) that could not be read; ``papers`` is the number in the pile afterwards.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: tuple[Failure, ...] = ()
    papers: int = 0
    seconds: float = 0.0
