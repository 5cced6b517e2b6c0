"""An LLM as a judge, as an extra layer: what it may decide depends on how well it agrees with human labels.

    found = agreement([label.grade for label in labels], grades)    # share, Cohen's kappa, n
    licence("a-model", label_files, found).granted                  # it may gate only while this holds

Rubric (``judge.md``), model and label file are hashed into the licence; change one and the licence is void.
The judge's model is named apart from the model under test.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rag.errors import UsageError
from rag.evals import files
from rag.evals.fields import Fields
from rag.evals.manifest import digest, files_digest
from rag.ports import ChatModel, ChatRequest
from rag.prompts import Prompt, parse

GRADES = ("right", "partly", "wrong")
ENOUGH_LABELS = 60
AGREEMENT, KAPPA = 0.8, 0.6
"""Bars of the licence. 0.6 is where Landis and Koch (1977) begin to call agreement substantial."""
RUBRIC = Path(__file__).with_name("judge.md")
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "grade": {"enum": list(GRADES)}},
    "required": ["reason", "grade"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Label:
    """One answer as a reader graded it. It carries the answer, so a later run does not make it void."""

    case: str
    reader: str
    question: str
    facts: tuple[str, ...]
    answer: str
    evidence: tuple[str, ...]
    grade: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """``share`` of equal grades and Cohen's ``kappa``, (observed - chance) / (1 - chance), of ``n``."""

    share: float
    kappa: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Licence:
    """Whether a judge may gate, and of what that was found."""

    model: str
    rubric: str
    labels: str
    agreement: Agreement
    granted: bool


def load_labels(paths: Iterable[Path]) -> list[Label]:
    """Read labels; ``eval/README.md`` describes them.

    Raises:
        UsageError: a line is not a label; file and line are named.
    """
    labels = []
    for file in paths:
        for number, line in enumerate(files.read(file).splitlines(), 1):
            try:
                labels.append(_label(json.loads(line)))
            except ValueError as error:
                raise UsageError(f"{file}:{number}: {error}.", "eval/README.md describes labels.") from error
    return labels


def ask(model: ChatModel, label: Label, rubric: Prompt) -> str | None:
    """Return the judge's grade; None when its reply holds none (unscored, not wrong)."""
    messages = rubric.messages(
        question=label.question,
        facts="\n".join(f"- {fact}" for fact in label.facts) or "- that the papers do not answer it",
        answer=label.answer,
        evidence="\n".join(f"- {quote}" for quote in label.evidence) or "- none",
    )
    reply = "".join(d.text for d in model.stream(ChatRequest(messages, max_tokens=160, schema=SCHEMA)))
    return read_grade(reply)


def read_grade(reply: str) -> str | None:
    """Return the grade of a reply, from its JSON or, if that is broken, from the one grade it names."""
    found = re.search(r'"grade"\s*:\s*"(right|partly|wrong)"', reply)
    if found:
        return found[1]
    named = {word for word in GRADES if re.search(rf"\b{word}\b", reply.lower())}
    return named.pop() if len(named) == 1 else None


def agreement(labels: Sequence[str], grades: Sequence[str | None]) -> Agreement | None:
    """Return how far two readers agree, over what both have graded; None if there is nothing."""
    pairs = [(a, b) for a, b in zip(labels, grades, strict=True) if b is not None]
    if not pairs:
        return None
    share = sum(a == b for a, b in pairs) / len(pairs)
    ours, theirs = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(ours[grade] * theirs[grade] for grade in GRADES) / len(pairs) ** 2
    return Agreement(share, None if chance == 1 else (share - chance) / (1 - chance), len(pairs))


def licence(model: str, paths: Sequence[Path], found: Agreement) -> Licence:
    """Return the licence: granted with enough labels, enough agreement, and more than chance explains."""
    enough = found.n >= ENOUGH_LABELS and found.share >= AGREEMENT and (found.kappa or 0) >= KAPPA
    return Licence(model, digest(RUBRIC.read_text("utf-8")), files_digest(paths), found, enough)


def valid(kept: Mapping[str, Any], model: str, paths: Sequence[Path]) -> bool:
    """Return whether a stored licence is granted and still of this model, rubric and labels."""
    now = (model, digest(RUBRIC.read_text("utf-8")), files_digest(paths))
    return bool(kept.get("granted")) and (kept.get("model"), kept.get("rubric"), kept.get("labels")) == now


def rubric() -> Prompt:
    """Return the rubric as a prompt."""
    return parse(RUBRIC, RUBRIC.read_text("utf-8"))


def save(path: Path, found: Licence) -> None:
    """Write a licence."""
    files.write(path, json.dumps(asdict(found), indent=1) + "\n")


def _label(record: object) -> Label:
    fields = Fields(record, "label", "case reader question facts answer evidence grade note")
    grade = fields.text("grade")
    if grade not in GRADES:
        raise ValueError(f"grade {grade!r} is not one of {', '.join(GRADES)}")
    return Label(
        fields.text("case"),
        fields.text("reader"),
        fields.text("question"),
        fields.words("facts"),
        fields.text("answer"),
        fields.words("evidence"),
        grade,
        fields.text("note", ""),
    )
