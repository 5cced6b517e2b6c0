"""Whether the recordings of a suite are what the program would ask for now; found out without a call.

    found = check(folder, manifest, now)
    if found: print(screen(found, suite="model"))      # then exit 3

A stale recording would either be missed in the middle of a run or, worse, be scored as if it were new.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag.evals.cases import Case
from rag.evals.manifest import Entry, Manifest, digest, file_name
from rag.evals.prompt_diff import filled

BUDGET = 8 * 1024 * 1024
"""Bytes that all cassettes of the repository may take."""
SECRETS = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}|bearer\s+[A-Za-z0-9._-]{8,}|^\s*(?:authorization|cookie|set-cookie|x-api-key|api-key|"
    r"openai-organization|openai-project)\s*:|gh[pousr]_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16}",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Now:
    """What would be recorded today: cases with sample numbers, texts of prompts by name, dials, corpus."""

    wanted: Sequence[tuple[Case, int]]
    prompts: Mapping[str, str]
    settings: Mapping[str, object]
    corpus: str
    stage: str = "answer"


@dataclass(frozen=True, slots=True)
class Stale:
    """One cassette that cannot be used, and why.

    ``why`` is missing, "prompt NAME", settings, corpus, question, altered, orphan or secret.
    """

    name: str
    why: str
    entry: Entry | None = None


def check(folder: Path, manifest: Manifest, now: Now) -> list[Stale]:
    """Return everything that is wrong with the recordings; an empty list means "replay them"."""
    wanted = {file_name(case.id, number, now.stage): case for case, number in now.wanted}
    found = [stale for name, case in wanted.items() for stale in _one(folder, name, case, manifest, now)]
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*.yaml")}
    known = {name for name in manifest.entries if name.startswith(f"{now.stage}/")}
    mine = {name for name in present if name.startswith(f"{now.stage}/")}
    found += [
        Stale(name, "orphan", manifest.entries.get(name)) for name in sorted((mine | known) - set(wanted))
    ]
    return found + [Stale(path, "secret") for path in _leaks(folder)]


def _one(folder: Path, name: str, case: Case, manifest: Manifest, now: Now) -> list[Stale]:
    entry = manifest.entries.get(name)
    if entry is None or not (folder / name).is_file():
        return [Stale(name, "missing", entry)]
    why = [
        f"prompt {prompt}"
        for prompt, sha in entry.prompts.items()
        if digest(now.prompts.get(prompt, "")) != sha
    ]
    if entry.settings != digest(dict(now.settings)):
        why.append("settings")
    if entry.corpus != now.corpus:
        why.append("corpus")
    if entry.question != case.digest():
        why.append("question")
    if hashlib.sha256((folder / name).read_bytes()).hexdigest() != entry.sha256:
        why.append("altered")
    return [Stale(name, reason, entry) for reason in why]


def _leaks(folder: Path) -> list[str]:
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".yaml", ".json")]
    return [path.relative_to(folder).as_posix() for path in files if SECRETS.search(path.read_text("utf-8"))]


def size(folder: Path) -> int:
    """Return the bytes of all files below the folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def again(found: Sequence[Stale]) -> set[str]:
    """Return the cassettes that must be recorded again."""
    return {stale.name for stale in found if stale.why not in ("orphan", "secret")}


def screen(
    found: Sequence[Stale],
    manifest: Manifest,
    now: Now,
    suite: str,
    messages_in: Callable[[str], Sequence[str]] | None = None,
) -> str:
    """Lay out what is wrong, what it takes to put right, and the command, on one screen.

    Args:
        messages_in: the messages that a cassette sent, for the diff.
    """
    counts = Counter(stale.why for stale in found)
    state = "incomplete" if set(counts) == {"missing"} else "stale"
    lines = [f"The recordings of suite {suite!r} are {state}."]
    lines += [
        f"  {_reason(why, manifest, now, found)}: {_answers(number)}"
        for why, number in sorted(counts.items())
    ]
    lines += _diff(found, manifest, now, messages_in)
    if names := again(found):
        lines += ["", f"To record again: {_answers(len(names))}{_price(names, manifest)}"]
        only = "missing" if set(counts) <= {"missing"} else "changed"
        lines += [f"    rag eval record {suite} --only {only}"]
    if counts["orphan"]:
        lines += ["To delete what no question asks for any more:", f"    rag eval record {suite} --prune"]
    return "\n".join(lines)


def _answers(number: int) -> str:
    return f"{number} answer{'s' if number != 1 else ''}"


def _reason(why: str, manifest: Manifest, now: Now, found: Sequence[Stale]) -> str:
    if why.startswith("prompt "):
        return f"prompts/{why.removeprefix('prompt ')}.md has changed"
    if why == "settings":
        return "settings have changed (" + ", ".join(_dials(manifest, now, found)) + ")"
    return {
        "missing": "not recorded yet",
        "corpus": "the papers have changed",
        "question": "the question has changed",
        "altered": "the file is not as it was recorded (edited by hand?)",
        "orphan": "recorded, but no question asks for it",
        "secret": "the file holds what looks like a key or a cookie",
    }[why]


def _dials(manifest: Manifest, now: Now, found: Sequence[Stale]) -> list[str]:
    entry = next(stale.entry for stale in found if stale.why == "settings" and stale.entry)
    old = manifest.settings.get(entry.settings, {})
    names = sorted(set(old) | set(now.settings))
    return [f"{n}: {old.get(n)} -> {now.settings.get(n)}" for n in names if old.get(n) != now.settings.get(n)]


def _price(names: set[str], manifest: Manifest) -> str:
    """Estimate from what recording took last time; for what was never recorded, from the mean of the rest."""
    entries = list(manifest.entries.values())
    if not entries:
        return ", at a cost that only the first recording will show"
    known = [manifest.entries[name] for name in names if name in manifest.entries]
    scale = len(names) / len(known or entries)
    basis = known or entries
    tokens = scale * sum(entry.prompt_tokens + entry.completion_tokens for entry in basis)
    minutes = scale * sum(entry.seconds for entry in basis) / 60
    prices = [entry.cost_usd for entry in basis]
    priced = [price for price in prices if price is not None]
    cost = f"${scale * sum(priced):.2f}" if len(priced) == len(prices) else "price unknown"
    return f", about {tokens:,.0f} tokens ({cost}), {max(1, round(minutes))} min as last time"


def _diff(
    found: Sequence[Stale],
    manifest: Manifest,
    now: Now,
    messages_in: Callable[[str], Sequence[str]] | None,
) -> list[str]:
    """Show the first changed prompt as a diff of one message that was really sent."""
    for stale in found:
        name = stale.why.removeprefix("prompt ")
        if not stale.why.startswith("prompt ") or stale.entry is None:
            continue
        old = manifest.prompts.get(stale.entry.prompts[name], {}).get("text", "")
        new = now.prompts.get(name, "")
        before, after = filled(old, new, messages_in(stale.name) if messages_in else ())
        diff = difflib.unified_diff(
            before.split("\n"), after.split("\n"), stale.name, f"prompts/{name}.md", "", "", 2, ""
        )
        return ["", *(line if len(line) <= 160 else line[:157] + "..." for line in list(diff)[:40])]
    return []
