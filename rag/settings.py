"""Settings in layers, each value with the place it came from.

Weakest first: built-in defaults, the user's ``rag.toml`` (config folder), ``./rag.toml``, the environment
(``RAG_*``; ``OPENAI_API_KEY`` and ``OPENAI_BASE_URL`` are honoured below those), command options.

    # rag.toml
    base_url = "http://127.0.0.1:11434/v1"
    model = "qwen2.5:7b"
    [prices]                                   # USD per million tokens: prompt, completion
    "my-model" = [0.10, 0.40]

>>> s = load({"top": 5}, environ={"RAG_MODEL": "m"}, files=())
>>> s.top, s.mode, s.origins["model"]
(5, 'model', 'environment variable RAG_MODEL')

A key nobody knows is refused with the nearest known one; a bad value is refused with its file and line, its
variable or its option. This runs on every start, so nothing heavy is imported.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

import platformdirs

from rag import values
from rag.errors import EnvironmentFault, UsageError
from rag.records import Mode

DEFAULT = "default"
CHROMA_CLOUD = "https://api.trychroma.com"
SECRETS = frozenset({"api_key", "embed_api_key", "s2_api_key", "openreview_password", "chroma_api_key"})
# Weaker than RAG_*: set for other programs as well, but what a user of those expects to work.
# A table does not fit into a variable.
ONLY_IN_FILES = frozenset({"prices"})
BORROWED = {
    "OPENAI_API_KEY": "api_key",
    "OPENAI_BASE_URL": "base_url",
    "OPENREVIEW_USERNAME": "openreview_username",
    "OPENREVIEW_PASSWORD": "openreview_password",
    "SEMANTIC_SCHOLAR_API_KEY": "s2_api_key",
    "S2_API_KEY": "s2_api_key",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Every dial of the program; ``origins`` says for each one that is not a default who set it."""

    index: Path | None = None
    data_dir: Path = field(default_factory=lambda: platformdirs.user_data_path("citerag", appauthor=False))
    mode: Mode = "extractive"
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    top: int = 8
    weight: float = 0.45
    evidence_tokens: int = 4000
    max_tokens: int = 700
    context_window: int | None = None
    timeout: float = 120.0
    retries: int = 4
    max_cost: float | None = None
    depth: Literal["quick", "normal", "deep"] = "normal"
    verify: Literal["lexical", "model", "off"] = "lexical"
    keep_unsupported: bool = False
    prompts: Path | None = None
    cache: bool = True
    embedder: Literal["minilm", "http", "fake"] = "minilm"
    embed_model: str | None = None
    embed_base_url: str | None = None
    embed_api_key: str | None = field(default=None, repr=False)
    chroma_url: str | None = None
    chroma_tenant: str | None = None
    chroma_database: str | None = None
    chroma_api_key: str | None = field(default=None, repr=False)
    chroma_collection: str = "citerag"
    arxiv_url: str | None = None
    openreview_url: str | None = None
    openreview_v1_url: str | None = None
    openreview_username: str | None = None
    openreview_password: str | None = field(default=None, repr=False)
    s2_url: str | None = None
    s2_api_key: str | None = field(default=None, repr=False)
    prices: Mapping[str, tuple[float, float]] = field(default_factory=lambda: MappingProxyType({}))
    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def origin(self, key: str) -> str:
        """Say where the value of ``key`` came from, in words fit for a sentence."""
        return self.origins.get(key, DEFAULT)

    def shown(self, key: str) -> str:
        """Return the value for a human, a secret reduced to its last four characters."""
        value = getattr(self, key)
        if value is None:
            return "(not set)"
        return masked(value) if key in SECRETS else str(value if key != "prices" else dict(value))


def masked(secret: str) -> str:
    """Hide a key: ``sk-abcdefgh1234`` becomes ``…1234``; a short one is hidden whole."""
    return "…" + (secret[-4:] if len(secret) >= 12 else "")


def load(
    options: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    files: Iterable[Path] | None = None,
) -> Settings:
    """Merge all layers.

    Args:
        options: values of command options by key; None means "not given".
        environ: the environment; default ``os.environ``.
        files: TOML files, weakest first; default the user's file and ``./rag.toml``.

    Raises:
        UsageError: an unknown key or a bad value, naming where it stands.
    """
    merged: dict[str, object] = {}
    origins: dict[str, str] = {}
    layers = [*(_file_layer(path) for path in (default_files() if files is None else files))]
    layers.append(_environment_layer(os.environ if environ is None else environ))
    layers.append(_option_layer(options or {}))
    for layer in layers:
        for key, (value, origin) in layer.items():
            merged[key] = _convert(key, value, origin)
            origins[key] = origin
        _keep_one_place(layer, merged, origins)
    if "chroma_api_key" in merged and not merged.keys() & {"index", "chroma_url"}:
        merged["chroma_url"] = CHROMA_CLOUD
        origins["chroma_url"] = f"implied by chroma_api_key ({origins['chroma_api_key']})"
    if "mode" not in merged:
        merged["mode"], reason = _implied_mode(origins)
        if reason:
            origins["mode"] = reason
    return Settings(**cast(Any, merged), origins=MappingProxyType(origins))


def _keep_one_place(
    layer: Mapping[str, tuple[object, str]], merged: dict[str, object], origins: dict[str, str]
) -> None:
    """A folder named by one layer goes before a server named by a weaker one, and the other way round."""
    if "index" in layer and "chroma_url" in layer:
        folder, server = layer["index"][1], layer["chroma_url"][1]
        raise UsageError(f"An index folder ({folder}) excludes a server ({server}).", "Keep one of them.")
    for key, other in (("index", "chroma_url"), ("chroma_url", "index")):
        if key in layer:
            merged.pop(other, None)
            origins.pop(other, None)


def default_files() -> tuple[Path, ...]:
    """The files that are read when they exist, weakest first."""
    return (user_file(), Path("rag.toml"))


def user_file() -> Path:
    """Where the user's own settings live on this system."""
    return platformdirs.user_config_path("citerag", appauthor=False) / "rag.toml"


def _file_layer(path: Path) -> dict[str, tuple[object, str]]:
    text = _read(path)
    if text is None:
        return {}
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}.", "Correct that line.") from None
    layer: dict[str, tuple[object, str]] = {}
    for key, value in table.items():
        origin = f"{path}:{_line_of(key, text)}"
        _require_known(key, origin)
        if _KINDS[key] is values.path and isinstance(value, str):
            value = str(path.resolve().parent / Path(value).expanduser())  # noqa: PLW2901
        layer[key] = (value, origin)
    return layer


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a UTF-8 text file.", "Save it as UTF-8.") from None
    except OSError as error:
        raise EnvironmentFault(
            f"{path} cannot be read: {error.strerror}.", "Check its permissions."
        ) from None


def _line_of(key: str, text: str) -> int:
    """tomllib keeps no positions: find the line on which ``key`` is first set."""
    pattern = re.compile(rf"""^\s*\[?\s*["']?{re.escape(key)}\b""")
    return next((n for n, line in enumerate(text.splitlines(), 1) if pattern.match(line)), 1)


def _environment_layer(environ: Mapping[str, str]) -> dict[str, tuple[object, str]]:
    layer: dict[str, tuple[object, str]] = {}
    for name, key in BORROWED.items():
        if environ.get(name):
            layer[key] = (environ[name], f"environment variable {name}")
    for name, value in environ.items():
        if not name.startswith("RAG_") or not value:
            continue
        key = name.removeprefix("RAG_").lower()
        # RAG_ is a common prefix: only what looks like one of ours misspelt is refused.
        near = key if key in _KINDS else _nearest(key, 0.8)
        if near in ONLY_IN_FILES:
            raise UsageError(
                f"The environment variable {name} cannot set {near}, which is a table.",
                f"Unset it, and write [{near}] in {' or '.join(map(str, default_files()))}.",
            )
        if key in _KINDS:
            layer[key] = (value, f"environment variable {name}")
        elif near:
            raise UsageError(f"Unknown environment variable {name}.", f"Did you mean RAG_{near.upper()}?")
    return layer


def _option_layer(options: Mapping[str, object]) -> dict[str, tuple[object, str]]:
    given = {key: value for key, value in options.items() if value is not None}
    for key in given:
        _require_known(key, "option")
    return {key: (value, f"option --{key.replace('_', '-')}") for key, value in given.items()}


def _require_known(key: str, origin: str) -> None:
    if key in _KINDS:
        return
    near = _nearest(key, 0.5)
    known = f"Did you mean {near!r}?" if near else f"Known: {', '.join(sorted(_KINDS))}."
    raise UsageError(f"Unknown setting {key!r} ({origin}).", known)


def _nearest(key: str, cutoff: float) -> str | None:
    """The known key most like ``key``; swapped letters count for less than a missing one."""
    swapped = [known for known in _KINDS if sorted(known) == sorted(key)]
    return next(iter(swapped or difflib.get_close_matches(key, _KINDS, n=1, cutoff=cutoff)), None)


def _implied_mode(origins: Mapping[str, str]) -> tuple[Mode, str | None]:
    """A model is used once something about one is set, and never otherwise."""
    for key in ("model", "base_url", "api_key"):
        if key in origins:
            return "model", f"implied by {key} ({origins[key]})"
    return "extractive", None


def _convert(key: str, value: object, origin: str) -> object:
    try:
        return _KINDS[key](value)
    except (ValueError, TypeError) as error:
        shown = "value" if key in SECRETS or "@" in str(value) else repr(value)
        raise UsageError(f"Bad {key} {shown} ({origin}): {error}.", "Correct or remove it.") from None


_KINDS: Mapping[str, Callable[[object], object]] = MappingProxyType(
    {
        "index": values.path,
        "data_dir": values.path,
        "mode": values.choice("extractive", "model"),
        "model": values.text,
        "base_url": values.url,
        "api_key": values.text,
        "top": values.number(1, 1000, int),
        "weight": values.number(0, 1, float),
        "evidence_tokens": values.number(200, 1_000_000, int),
        "max_tokens": values.number(16, 100_000, int),
        "context_window": values.number(512, 10_000_000, int),
        "timeout": values.number(0.1, 3600, float),
        "retries": values.number(0, 100, int),
        "max_cost": values.number(0, 1_000_000, float),
        "depth": values.choice("quick", "normal", "deep"),
        "verify": values.choice("lexical", "model", "off"),
        "keep_unsupported": values.flag,
        "prompts": values.path,
        "cache": values.flag,
        "embedder": values.choice("minilm", "http", "fake"),
        "embed_model": values.text,
        "embed_base_url": values.url,
        "embed_api_key": values.text,
        "chroma_url": values.url,
        "chroma_tenant": values.text,
        "chroma_database": values.text,
        "chroma_api_key": values.text,
        "chroma_collection": values.text,
        "arxiv_url": values.url,
        "openreview_url": values.url,
        "openreview_v1_url": values.url,
        "openreview_username": values.text,
        "openreview_password": values.text,
        "s2_url": values.url,
        "s2_api_key": values.text,
        "prices": values.prices,
    }
)
KEYS = tuple(item.name for item in fields(Settings) if item.name != "origins")
