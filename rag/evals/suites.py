"""A suite: which questions are asked, of which pile, with which dials, and what may fail a build.

name = "extractive"
gold = ["eval/gold"]              # files and folders; paths are relative to the repository
papers = ["sample"]               # files to index; "sample" is the bundled corpus
[settings]                        # dials by the names that rag.toml uses; no other source is read
mode = "extractive"
[select]                          # optional: kinds, tags, split, ids, every (each n-th of a kind)
kinds = ["fact", "named"]
[gate]
metrics = ["right", "citation_precision"]
[gate.floors]                     # absolute bars; ceilings where lower is better
citation_precision = 1.0
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag.errors import UsageError
from rag.evals import files
from rag.evals.cases import Case
from rag.evals.metrics import METRICS

FIELDS = (
    "name",
    "about",
    "gold",
    "papers",
    "repeat_every",
    "cassettes",
    "baseline",
    "settings",
    "select",
    "gate",
)
SELECTORS = ("kinds", "tags", "split", "ids", "every")
GATE_FIELDS = ("metrics", "slices", "floors", "alpha")


@dataclass(frozen=True, slots=True)
class Slice:
    """Some kinds of questions, and the metrics that are gated on them."""

    kinds: tuple[str, ...]
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """Which metrics may fail a build: by a significant drop (``alpha``, after Holm) or below a floor.

    ``slices`` gate metrics on some kinds of questions alone, by a name for these: a change that helps one
    kind and harms another may not move the mean.
    """

    metrics: tuple[str, ...] = ()
    slices: Mapping[str, Slice] = field(default_factory=dict)
    floors: Mapping[str, float] = field(default_factory=dict)
    alpha: float = 0.05


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite file. Every ``repeat_every``-th question is asked three times (0: none is)."""

    name: str
    root: Path
    gold: tuple[Path, ...]
    papers: tuple[str, ...] = ("sample",)
    about: str = ""
    repeat_every: int = 0
    cassettes: Path | None = None
    baseline: Path | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    select: Mapping[str, object] = field(default_factory=dict)
    gate: Gate = Gate()

    @property
    def mode(self) -> str:
        return str(self.settings.get("mode", "extractive"))


def load(name: str, folder: Path) -> Suite:
    """Read the suite ``name``: a path to a TOML file, or the name of one in ``folder``.

    Raises:
        UsageError: there is none, or it has an unknown field; the message names the nearest known one.
    """
    path = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.toml"))) or "none"
        raise UsageError(f"There is no suite {name!r}.", f"Suites in {folder}: {known}.")
    try:
        return _suite(tomllib.loads(files.read(path)), path)
    except (tomllib.TOMLDecodeError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: {error}.", "eval/README.md describes suite files.") from error


def chosen(suite: Suite, cases: Sequence[Case]) -> list[Case]:
    """Return the cases that the suite selects.

    Raises:
        UsageError: there are none.
    """
    kept = [case for case in cases if _selected(case, suite.select)]
    every = suite.select.get("every")
    return narrowed(_thinned(kept, every) if isinstance(every, int) else kept)


def narrowed(cases: Sequence[Case], only: Sequence[str] = (), tags: Sequence[str] = ()) -> list[Case]:
    """Return the cases with one of ``only`` (ids or parts of ids) and one of ``tags`` (tags or kinds).

    Raises:
        UsageError: nothing is left.
    """
    kept = list(cases)
    if only:
        kept = [case for case in kept if any(part in case.id for part in only)]
    if tags:
        kept = [case for case in kept if {case.kind, *case.tags} & set(tags)]
    if not kept:
        raise UsageError("No question is left.", "Check --only and --tag, and [select] of the suite.")
    return kept


def samples(suite: Suite, cases: Sequence[Case]) -> list[tuple[Case, int]]:
    """Return (case, sample number): each case once, every ``repeat_every``-th three times."""
    return [
        (case, number)
        for place, case in enumerate(cases)
        for number in range(1, 4 if suite.repeat_every and place % suite.repeat_every == 0 else 2)
    ]


def over(suite: Suite, gold: Sequence[Path]) -> Suite:
    """Return the suite for a user's own gold set: no selection, recordings, baseline or floors."""
    return replace(suite, gold=tuple(gold), select={}, cassettes=None, baseline=None, gate=Gate())


def _suite(table: Mapping[str, object], path: Path) -> Suite:
    _known(table, FIELDS, "field")
    root = path.resolve().parents[2] if path.resolve().parent.name == "suites" else path.resolve().parent
    settings, select, gate = (_table(table, name) for name in ("settings", "select", "gate"))
    _known(select, SELECTORS, "selector")
    return Suite(
        name=_text(table, "name", path.stem),
        root=root,
        gold=tuple(root / item for item in _words(table, "gold", ("eval/gold",))),
        papers=_words(table, "papers", ("sample",)),
        about=_text(table, "about", ""),
        repeat_every=_whole(table, "repeat_every"),
        cassettes=root / _text(table, "cassettes", "") if "cassettes" in table else None,
        baseline=root / _text(table, "baseline", "") if "baseline" in table else None,
        settings=settings,
        select=select,
        gate=_gate(gate),
    )


def _gate(table: Mapping[str, object]) -> Gate:
    _known(table, GATE_FIELDS, "gate field")
    metrics, floors = _words(table, "metrics", ()), _table(table, "floors")
    slices = {name: _slice(table) for name, table in _table(table, "slices").items()}
    for name in (*metrics, *floors, *(metric for one in slices.values() for metric in one.metrics)):
        _known({name: 0}, tuple(METRICS), "metric")
    alpha = table.get("alpha", 0.05)
    if not isinstance(alpha, float) or not 0 < alpha < 1:
        raise ValueError("gate.alpha is not between 0 and 1")
    if not all(isinstance(bar, int | float) for bar in floors.values()):
        raise ValueError("gate.floors are numbers")
    return Gate(metrics, slices, {name: float(str(bar)) for name, bar in floors.items()}, alpha)


def _slice(table: object) -> Slice:
    if not isinstance(table, dict):
        raise ValueError("a slice is a table")
    _known(table, ("kinds", "metrics"), "slice field")
    return Slice(_words(table, "kinds", ()), _words(table, "metrics", ()))


def _selected(case: Case, select: Mapping[str, object]) -> bool:
    kinds, tags, ids = (_words(select, name, ()) for name in ("kinds", "tags", "ids"))
    return (
        (not kinds or case.kind in kinds)
        and (not tags or bool(set(tags) & set(case.tags)))
        and (not ids or case.id in ids)
        and select.get("split", case.split) == case.split
    )


def _thinned(cases: Sequence[Case], every: int) -> list[Case]:
    """Every n-th case of each kind, so that a smaller suite keeps all kinds."""
    seen: dict[str, int] = {}
    kept = []
    for case in cases:
        place = seen.get(case.kind, 0)
        seen[case.kind] = place + 1
        if place % every == 0:
            kept.append(case)
    return kept


def _known(table: Mapping[str, object], names: Sequence[str], what: str) -> None:
    for name in table:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
            raise ValueError(f"unknown {what} {name!r}, the nearest known one is {near[0]!r}")


def _text(table: Mapping[str, object], name: str, default: str) -> str:
    value = table.get(name, default)
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a text")
    return value


def _whole(table: Mapping[str, object], name: str) -> int:
    value = table.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} is not a whole number")
    return value


def _words(table: Mapping[str, object], name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    value = table.get(name, default)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name} is not a list of texts")
    return tuple(value)


def _table(table: Mapping[str, object], name: str) -> dict[str, object]:
    value = table.get(name, {})
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not a table")
    return value
