"""Settings -> the live objects of the evals; like ``rag.wiring`` it imports adapters inside its functions.

spec = Spec(suite, settings_of(suite, index=None, own=settings), tape="replay")
with opened(spec, note) as (pipeline, tools): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rag import __version__, places, wiring
from rag import settings as layers
from rag.errors import UsageError
from rag.evals import manifest
from rag.evals.cases import Case
from rag.evals.preflight import Now
from rag.evals.suites import Suite
from rag.prompts import Prompts
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.chain.setup import Writer
    from rag.evals.pipeline import Pipeline, Session, Tape
    from rag.evals.record import Open
    from rag.evals.rows import Tools
    from rag.ports import ChatModel

SENT = (
    "mode",
    "model",
    "top",
    "weight",
    "evidence_tokens",
    "max_tokens",
    "context_window",
    "depth",
    "verify",
)
"""Dials that shape what is sent to the model: a recording depends on them and on no others."""
PACKAGE = Path(places.__file__).parent
INDEXING = ("corpus", "index", "adapters", "text")
_EXTRA = {"ir_measures": "ir-measures", "vcr": "vcrpy", "yaml": "PyYAML"}
PACKAGES = ("openai", "chromadb", "llama-index-core", "bm25s", "onnxruntime", "numpy", "vcrpy", "ir-measures")


@dataclass(frozen=True, slots=True)
class Spec:
    """What a worker process needs to open the pipeline: plain values that can be sent to it.

    ``own`` says that the settings are the user's, not those of a suite.
    """

    suite: Suite
    settings: Settings
    tape: Literal["off", "replay"] = "off"
    own: bool = False


def settings_of(suite: Suite, index: Path | None, own: Settings) -> Settings:
    """Return the settings of a suite: its table alone, so that no setting of this machine shapes a score.

    Args:
        index: an index given by the user; else the suite's papers are indexed beside the user's own indexes.
        own: the user's settings, for where data lives and, when recording, for keys and server.
    """
    given = {**suite.settings, "cache": False}
    suited = layers.load(given, environ={}, files=())
    suited = replace(
        suited, data_dir=own.data_dir, api_key=own.api_key, base_url=suited.base_url or own.base_url
    )
    return sendable(replace(suited, index=index or index_folder(suite, suited)))


def sendable(settings: Settings) -> Settings:
    """Return settings without a cache, fit for a worker process (the proxies of mappings cannot go there)."""
    return replace(settings, cache=False, prices=dict(settings.prices), origins=dict(settings.origins))


def named(spec: Spec, note: wiring.Note) -> Spec:
    """Return the spec with the name of its model: of the user's own settings the one that ``rag ask`` takes.

    Once for a run: the server may have to be asked.

    Raises:
        UsageError: there is no saying which model, or the server wants a key.
        ProviderError: the server cannot be asked.
    """
    if not spec.own or spec.settings.mode != "model" or spec.settings.model == "fake":
        return spec
    model = wiring.openai_chat(spec.settings, note).name
    return replace(spec, settings=replace(spec.settings, model=model))


def model_of(settings: Settings) -> str:
    """Return the model that a suite names.

    Raises:
        UsageError: it names none.
    """
    if not settings.model:
        raise UsageError(
            "A suite in model mode names its model.", 'Set [settings] model = "..." in the suite.'
        )
    return settings.model


def index_folder(suite: Suite, settings: Settings) -> Path:
    """Return the index of the suite's papers.

    It is named by the papers and by the code that reads and indexes them, so a score never comes from an
    index that today's program would not make.
    """
    code = manifest.files_digest(indexing_code())
    name = manifest.digest([corpus_digest(suite), settings.embedder, str(settings.embed_model), code])
    return suite.root / "eval" / "out" / "index" / name[:16]


def indexing_code() -> list[Path]:
    """Return the modules that decide what an index of papers holds."""
    return [path for part in INDEXING for path in sorted((PACKAGE / part).rglob("*.py"))]


def paper_files(suite: Suite) -> list[Path]:
    """Return the files that a suite indexes; "sample" is the bundled corpus."""
    files: list[Path] = []
    for item in suite.papers:
        path = places.SAMPLE if item == "sample" else suite.root / item
        if not path.exists():
            raise UsageError(
                f"Suite {suite.name!r}: there is no {path}.", "Check 'papers' in the suite file."
            )
        files += sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    return files


def corpus_digest(suite: Suite) -> str:
    """Return the digest of the papers of a suite."""
    return manifest.files_digest(paper_files(suite))


def prompts_of(settings: Settings) -> dict[str, str]:
    """Return the text sent of every prompt, by name."""
    prompts = Prompts(settings.prompts)
    return {name: manifest.sent_text(prompts.load(name)) for name in prompts.names()}


def now(spec: Spec, wanted: Sequence[tuple[Case, int]]) -> Now:
    """Return what would be recorded today, for the preflight."""
    return Now(wanted, prompts_of(spec.settings), sent(spec.settings), corpus_digest(spec.suite))


def sent(settings: Settings) -> dict[str, object]:
    """Return the dials that shape requests."""
    return {name: getattr(settings, name) for name in SENT}


def dials(settings: Settings) -> dict[str, object]:
    """Return every dial for the result file: no secret, no account, no place of this machine."""
    hidden = {*layers.SECRETS, "openreview_username", "origins", "index", "data_dir", "prompts", "prices"}
    return {f.name: getattr(settings, f.name) for f in fields(settings) if f.name not in hidden}


def versions() -> dict[str, str]:
    """Return the versions that a score may depend on."""
    import platform

    found = {"citerag": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


@contextmanager
def opened(spec: Spec, note: wiring.Note) -> Iterator[tuple[Pipeline, Tools]]:
    """Open the pipeline of a suite; its index is built first if it is not there yet."""
    from rag.evals.pipeline import Pipeline

    build_index(spec, note)
    with wiring.open_pile(spec.settings, note) as pile:
        writer = partial(fresh_writer, spec) if spec.settings.mode == "model" else None
        papers = {paper.key: paper for paper in pile.store.papers()}
        tape = replayer(spec.suite) if spec.tape == "replay" and writer else None
        yield Pipeline(pile, wiring.dials(spec.settings), papers, writer, tape), tools()


def require_tools() -> None:
    """Refuse to go on without the packages that evals need beyond those of the program.

    Raises:
        UsageError: one of them is not installed.
    """
    lacking = [name for module, name in _EXTRA.items() if find_spec(module) is None]
    if lacking:
        packages = " ".join(lacking)
        raise UsageError(f"Scoring answers needs {packages}.", f"Install: pip install {packages}")


def build_index(spec: Spec, note: wiring.Note) -> None:
    """Index the suite's papers unless that was done before; an index that the user named is left alone."""
    from rag.index.database import knows

    folder = spec.settings.index
    if folder != index_folder(spec.suite, spec.settings):
        return
    files = paper_files(spec.suite)
    # Another process may be making it: its lock is waited for, then nothing is new.
    if not knows(folder, map(str, files)):
        wiring.ingest(spec.settings, files, note)


def fresh_writer(spec: Spec) -> Writer:
    """Make the writer for one question, without a cache; in replay nothing is ever tried twice."""
    return wiring.writer_with(chat_model(spec.settings, replayed=spec.tape == "replay"), spec.settings)


def chat_model(settings: Settings, *, replayed: bool) -> ChatModel:
    """Make the model itself, which asks nothing twice when it is replayed; "fake" needs no server."""
    if settings.model == "fake":
        from rag.adapters.fake_model import FakeChat

        return FakeChat()
    from rag.adapters.openai_api import OpenAIChat

    return OpenAIChat(
        model_of(settings),
        base_url=settings.base_url,
        api_key=settings.api_key or "none",
        timeout=settings.timeout,
        max_retries=0 if replayed else settings.retries,
        context_window=settings.context_window,
    )


def replayer(suite: Suite) -> Tape:
    """Return what opens the recording of a case."""
    from rag.adapters.tape import replaying

    folder = cassettes(suite)

    def tape(case: Case, sample: int) -> AbstractContextManager[Session]:
        return replaying(folder / manifest.file_name(case.id, sample))

    return tape


def player() -> Callable[[Path], AbstractContextManager[object]]:
    """Return what opens a file to replay."""
    from rag.adapters.tape import replaying

    return replaying


def recorder() -> Open:
    """Return what opens a file to record to."""
    from rag.adapters.tape import recording

    return recording


def silent(_: str) -> None:
    """A remark that a worker process keeps to itself."""


def cassettes(suite: Suite) -> Path:
    """Return the folder of the suite's recordings."""
    if suite.cassettes is None:
        raise UsageError(
            f"Suite {suite.name!r} has no recordings.", "Set cassettes = FOLDER in the suite file."
        )
    return suite.cassettes


def tools() -> Tools:
    """Return what rows are scored and written down with."""
    from rag.adapters.ir_scores import scores
    from rag.evals.rows import Tools
    from rag.render import contract, layout, plain

    return Tools(scores, lambda found: plain.text(layout.answer(found, True)), contract.answer)


def recorded_messages(path: Path) -> list[Sequence[str]]:
    """Return the messages of each recorded request."""
    import json

    from rag.adapters import tape_file

    bodies = [json.loads(one.request or b"{}") for one in tape_file.read(path).interactions]
    return [[str(message.get("content", "")) for message in body.get("messages", [])] for body in bodies]


def messages_in(folder: Path) -> Callable[[str], list[str]]:
    """Return a reader of the messages that a recording sent."""
    return lambda name: [message for request in recorded_messages(folder / name) for message in request]
