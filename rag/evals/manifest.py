"""What each recorded answer depended on: ``manifest.json`` beside the cassettes of a suite.

    {"entries": {"answer/revise-gain.yaml": {"case": "revise-gain", "prompts": {"answer": "3f.."}, ...}},
     "prompts": {"3f..": {"name": "answer", "text": "..."}},
     "settings": {"9a..": {"top": 8, ...}}}

Prompts and settings are kept whole, once each, so that a stale recording can say what has changed since.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rag.errors import TapeError
from rag.evals import files
from rag.prompts import Prompt

NAME = "manifest.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded answer: what it is of, digests of all that it depended on, and what it took."""

    case: str
    sample: int
    stage: str
    sha256: str
    question: str
    corpus: str
    settings: str
    model: str
    prompts: Mapping[str, str]
    recorded: str
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None


@dataclass(slots=True)
class Manifest:
    """The entries by file name, and the texts that their digests stand for."""

    entries: dict[str, Entry] = field(default_factory=dict)
    prompts: dict[str, dict[str, str]] = field(default_factory=dict)
    settings: dict[str, dict[str, object]] = field(default_factory=dict)

    def put(
        self, name: str, entry: Entry, prompts: Mapping[str, str], settings: Mapping[str, object]
    ) -> None:
        """Add or replace an entry; ``prompts`` are the texts of its prompts by name."""
        self.entries[name] = entry
        for prompt, text in prompts.items():
            self.prompts[digest(text)] = {"name": prompt, "text": text}
        self.settings[entry.settings] = dict(settings)
        used = {sha for kept in self.entries.values() for sha in kept.prompts.values()}
        self.prompts = {sha: text for sha, text in self.prompts.items() if sha in used}
        dials = {kept.settings for kept in self.entries.values()}
        self.settings = {sha: table for sha, table in self.settings.items() if sha in dials}


def load(folder: Path) -> Manifest:
    """Read the manifest of a cassette folder; an empty one if there is none.

    Raises:
        TapeError: it is not what ``save`` writes.
    """
    path = folder / NAME
    if not path.is_file():
        return Manifest()
    try:
        tree = json.loads(path.read_text("utf-8"))
        entries = {name: Entry(**entry) for name, entry in tree["entries"].items()}
        return Manifest(entries, tree["prompts"], tree["settings"])
    except (KeyError, TypeError, ValueError) as error:
        raise TapeError(f"{path} cannot be read: {error!r}.", "Record again: rag eval record.") from error


def save(folder: Path, manifest: Manifest) -> None:
    """Write the manifest whole or not at all, entries in order of their names."""
    tree = {
        "entries": {name: asdict(entry) for name, entry in sorted(manifest.entries.items())},
        "prompts": dict(sorted(manifest.prompts.items())),
        "settings": dict(sorted(manifest.settings.items())),
    }
    files.write(folder / NAME, json.dumps(tree, ensure_ascii=False, indent=1) + "\n")


def file_name(case: str, sample: int, stage: str = "answer") -> str:
    """Return the cassette of one question, stage and sample: ``answer/revise-gain.2.yaml``."""
    return f"{stage}/{case}.yaml" if sample == 1 else f"{stage}/{case}.{sample}.yaml"


def digest(value: object) -> str:
    """Return the SHA-256 of a text, or of the canonical JSON of anything else."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def files_digest(paths: Iterable[Path]) -> str:
    """Return one SHA-256 of the contents of files, by content only (a checkout elsewhere is the same)."""
    return digest(sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in paths))


def sent_text(prompt: Prompt) -> str:
    """Return what of a prompt file is sent: its sections, not the remarks above them."""
    return "\n\n".join(f"## {role}\n{text}" for role, text in prompt.sections)


def used(prompts: Iterable[Prompt], messages: Sequence[str]) -> list[str]:
    """Return the names of the prompts whose fixed words stand in these messages."""
    everything = "\n".join(messages)
    return [p.path.stem for p in prompts if all(piece in everything for piece in fixed_pieces(sent_text(p)))]


def fixed_pieces(text: str) -> list[str]:
    """Return the stretches of a template between its placeholders and headings, ``$$`` read as a dollar."""
    bare = re.sub(r"^## \w+$", "\0", text, flags=re.MULTILINE).replace("$$", "\1")
    pieces = re.split(r"\0|\$\{?[A-Za-z_]\w*\}?", bare)
    return [piece.replace("\1", "$").strip() for piece in pieces if piece.strip()]
