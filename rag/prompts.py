"""Prompts are Markdown files: what is sent to a model can be read, diffed and replaced without touching code.

    Text before the first heading is for the reader and is not sent.

    ## system
    You answer from abstracts.

    ## user
    $evidence
    Question: $question

``Prompts().load("answer").messages(evidence="...", question="...")`` gives the messages. A placeholder that
is missing from the file, or one that nobody fills, is an error: a prompt that silently lost its evidence
would still be answered.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from rag.errors import EnvironmentFault, UsageError
from rag.ports import Message
from rag.records import PromptInfo

_SECTION = re.compile(r"^##[ \t]+(system|user)[ \t]*$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One template: its file, the text of each section in order, and the digest of the whole file."""

    path: Path
    sections: tuple[tuple[str, str], ...]
    info: PromptInfo

    def messages(self, **values: str) -> tuple[Message, ...]:
        """Fill the template.

        Raises:
            UsageError: the file lacks a placeholder of ``values``, or has one that is not among them.
        """
        used = {name for _, text in self.sections for name in Template(text).get_identifiers()}
        if used != set(values):
            raise UsageError(_mismatch(self.path, used, set(values)), _remedy(set(values)))
        return tuple(Message(role, Template(text).substitute(values)) for role, text in self.sections)


class Prompts:
    """The prompts that ship with the program; a file of the same name in ``override`` replaces one.

    Raises:
        UsageError: ``override`` is no folder, or holds a prompt that does not exist.
    """

    def __init__(self, override: Path | None = None) -> None:
        self._shipped = _shipped()
        self._override = override
        if override is not None:
            _check_folder(override, {p.stem for p in self._shipped.glob("*.md")})

    def load(self, name: str) -> Prompt:
        """Read the prompt ``name`` ("answer" for ``answer.md``)."""
        for folder in (self._override, self._shipped):
            path = folder / f"{name}.md" if folder else None
            if path and path.is_file():
                return parse(path, _read(path))
        raise EnvironmentFault(f"The prompt {name}.md is missing.", "Install the program again.")

    def names(self) -> list[str]:
        """All prompts that can be overridden."""
        return sorted(path.stem for path in self._shipped.glob("*.md") if path.stem != "README")


def parse(path: Path, text: str) -> Prompt:
    """Split a template into its sections.

    Raises:
        UsageError: no ``## user`` section, or a ``$`` that starts no placeholder (``$$`` is a dollar sign).
    """
    pieces = _SECTION.split(text)
    sections = tuple(
        (role.lower(), body.strip()) for role, body in zip(pieces[1::2], pieces[2::2], strict=True)
    )
    if not any(role == "user" for role, _ in sections):
        raise UsageError(f"{path} has no section '## user'.", "Copy the shipped prompt and change that.")
    if not all(Template(body).is_valid() for _, body in sections):
        raise UsageError(f"{path} has a '$' that starts no placeholder.", "Write '$$' for a dollar sign.")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Prompt(path, sections, PromptInfo(path.stem, digest))


def _shipped() -> Path:
    here = Path(__file__).resolve().parent
    in_wheel, in_checkout = here / "prompts", here.parent / "prompts"
    return in_wheel if in_wheel.is_dir() else in_checkout


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")  # text mode: the digest is the same after a CRLF checkout
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The prompt {path} cannot be read: {error}.", "It has to be UTF-8 text.") from error


def _check_folder(folder: Path, known: set[str]) -> None:
    if not folder.is_dir():
        raise UsageError(f"The folder of prompts {folder} does not exist.", "Check the spelling.")
    for path in sorted(folder.glob("*.md")):
        if path.stem not in known and path.stem != "README":
            near = difflib.get_close_matches(path.stem, known, n=1, cutoff=0.0)
            raise UsageError(f"{path} replaces no prompt of the program.", f"Did you mean {near[0]}.md?")


def _mismatch(path: Path, used: set[str], given: set[str]) -> str:
    parts = []
    if missing := sorted(given - used):
        parts.append("lacks " + ", ".join(f"${name}" for name in missing))
    if unknown := sorted(used - given):
        parts.append("has unknown " + ", ".join(f"${name}" for name in unknown))
    return f"The prompt {path} {' and '.join(parts)}."


def _remedy(given: set[str]) -> str:
    return "Its placeholders are " + ", ".join(f"${name}" for name in sorted(given)) + "."


def digests(prompts: Prompts) -> Mapping[str, str]:
    """SHA-256 of every prompt as it would be sent, by name."""
    return {name: prompts.load(name).info.sha256 for name in prompts.names()}
