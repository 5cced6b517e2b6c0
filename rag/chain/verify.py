"""Checks what a writer claims against the abstracts it cites; see ``check`` and ``Checker``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.records import Draft, Evidence, Sentence

Similarity = Callable[[str, str], float]


@dataclass(frozen=True, slots=True)
class Limits:
    """Thresholds of the check."""

    supported: float = 0.5
    weak: float = 0.3


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome: what may be shown, what was taken out, and what was found on the way.

    ``sentences`` are in the writer's order; ``removed`` are those of verdict "unsupported" (they are among
    ``sentences`` too, in their place, when ``keep_unsupported`` was asked for).
    Citations keep the numbers of the evidence.
    """

    sentences: tuple[Sentence, ...] = ()
    removed: tuple[Sentence, ...] = ()
    dropped_quotes: int = 0
    invalid_refs: int = 0
    reattributed: int = 0


class Checker:
    """Checks drafts one at a time, as they stream in, against the same evidence."""

    def __init__(
        self, evidence: Sequence[Evidence], *, similarity: Similarity | None = None, limits: Limits = Limits()
    ) -> None:
        raise NotImplementedError

    def check(self, draft: Draft) -> Checked:
        """Return the outcome for one draft: exactly one sentence, in ``sentences`` or in ``removed``."""
        raise NotImplementedError


def check(
    drafts: Sequence[Draft],
    evidence: Sequence[Evidence],
    *,
    similarity: Similarity | None = None,
    limits: Limits = Limits(),
    keep_unsupported: bool = False,
) -> Checked:
    """Check all drafts of an answer."""
    raise NotImplementedError
