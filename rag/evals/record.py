"""Records a suite: one cassette a question and sample, each safe on disk before the next is asked.

    for done in record(todo, pipeline, book): print(done.name, done.seconds)

Killed at any moment, it has lost at most the question under way; started again, it goes on with what is
missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from rag.errors import ProviderError, RagError, TapeError
from rag.evals import manifest
from rag.evals.cases import Case
from rag.evals.manifest import Entry, Manifest
from rag.evals.pipeline import Pipeline
from rag.evals.preflight import Now
from rag.prompts import Prompts
from rag.records import Answer

PATIENCE = 3
"""Questions in a row that may fail before the server is taken to be gone."""


TOLD = ("model", "recorded", "seconds", "prompt_tokens", "completion_tokens", "cost_usd")


class Session(Protocol):
    """An open recording: the bodies sent so far, and what the file will say of how it was made."""

    about: dict[str, Any]

    @property
    def requests(self) -> Sequence[Mapping[str, Any]]: ...


Open = Callable[[Path, Mapping[str, Any]], AbstractContextManager[Session]]


@dataclass(frozen=True, slots=True)
class Book:
    """Where recordings go: the folder, its manifest, how to open a file, and the state of the program."""

    folder: Path
    kept: Manifest
    open: Open
    now: Now
    prompts: Prompts
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Done:
    """One cassette: written, or the error that kept it from being written."""

    name: str
    seconds: float = 0.0
    error: str | None = None


def record(todo: Sequence[tuple[Case, int]], pipeline: Pipeline, book: Book) -> Generator[Done]:
    """Record, one after another.

    Raises:
        ProviderError: ``PATIENCE`` questions in a row failed.
    """
    # Also where the evidence decides against an answer today: another threshold then needs no new recording.
    pipeline = replace(pipeline, options=replace(pipeline.options, always_ask=True))
    failed = 0
    for case, sample in todo:
        name = manifest.file_name(case.id, sample, book.now.stage)
        try:
            yield _one(name, case, sample, pipeline, book)
            failed = 0
        except TapeError:
            raise
        except RagError as error:
            failed += 1
            if failed == PATIENCE:
                said = f"{PATIENCE} questions in a row failed, the last with: {error.message}"
                raise ProviderError(said, error.remedy) from error
            yield Done(name, error=str(error))


def prune(book: Book) -> list[str]:
    """Delete recordings that no question asks for; return their names."""
    wanted = {manifest.file_name(case.id, sample, book.now.stage) for case, sample in book.now.wanted}
    stage = f"{book.now.stage}/"
    files = {path.relative_to(book.folder).as_posix() for path in book.folder.rglob("*.yaml")}
    gone = sorted(
        name for name in files | set(book.kept.entries) if name.startswith(stage) and name not in wanted
    )
    for name in gone:
        (book.folder / name).unlink(missing_ok=True)
        book.kept.entries.pop(name, None)
    manifest.save(book.folder, book.kept)
    return gone


def _one(name: str, case: Case, sample: int, pipeline: Pipeline, book: Book) -> Done:
    path = book.folder / name
    about = {"case": case.id, "sample": sample, "stage": book.now.stage, "question": case.question}
    with book.open(path, about) as session:
        answer, _ = pipeline.ask(case, sample)
        session.about |= _circumstances(answer, book)
        requests = list(session.requests)
    entry = _entry(case, session.about, path, used=_used(requests, book), book=book)
    texts = {prompt: book.now.prompts[prompt] for prompt in entry.prompts}
    book.kept.put(name, entry, texts, book.now.settings)
    manifest.save(book.folder, book.kept)
    return Done(name, entry.seconds)


def _circumstances(answer: Answer, book: Book) -> dict[str, Any]:
    return {
        "model": str(book.now.settings.get("model")),
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": dict(book.versions),
        "prompt_tokens": answer.usage.prompt_tokens,
        "completion_tokens": answer.usage.completion_tokens,
        "cost_usd": answer.usage.cost_usd,
    }


def _used(requests: Sequence[Mapping[str, Any]], book: Book) -> list[str]:
    messages = [
        str(message.get("content") or "") for body in requests for message in body.get("messages", [])
    ]
    return manifest.used([book.prompts.load(name) for name in book.prompts.names()], messages)


def _entry(case: Case, about: Mapping[str, Any], path: Path, *, used: Sequence[str], book: Book) -> Entry:
    return Entry(
        case=case.id,
        sample=about["sample"],
        stage=book.now.stage,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        question=case.digest(),
        corpus=book.now.corpus,
        settings=manifest.digest(dict(book.now.settings)),
        prompts={name: manifest.digest(book.now.prompts[name]) for name in used},
        **{key: about[key] for key in TOLD},
    )
