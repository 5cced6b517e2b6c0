"""Resolve the whole dependency set on each supported Python and write constraints.txt.

    make constraints           # wants python3.11, python3.12 and python3.13 on the PATH

A release that is the same everywhere is written once; where the interpreters differ, each line carries a
marker. No index address is written: the file pins versions, where they come from is the user's affair.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = """\
# Exact releases of everything, for Python {pythons} on Linux; used by make and CI.
# Written by `make constraints`; change the ranges in pyproject.toml, not this file.
"""


def main(pythons: list[str]) -> None:
    resolved = {version(python): resolve(python) for python in pythons}
    pins: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for python, releases in resolved.items():
        for name, release in releases.items():
            pins[name][release].append(python)
    lines = [line for name in sorted(pins) for line in pin(name, pins[name], list(resolved))]
    text = HEADER.format(pythons=", ".join(resolved)) + "\n".join(lines) + "\n"
    (ROOT / "constraints.txt").write_text(text, encoding="utf-8")
    print(f"constraints.txt: {len(pins)} packages")


def version(python: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def resolve(python: str) -> dict[str, str]:
    """Return name -> release as pip would install the project with its development extra."""
    command = [python, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    command += ["--report", "-", f"{ROOT}[dev]", "hatchling>=1.26"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    found = {item["metadata"]["name"]: item["metadata"]["version"] for item in report["install"]}
    return {canonical(name): release for name, release in found.items() if canonical(name) != "citerag"}


def canonical(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def pin(name: str, releases: dict[str, list[str]], pythons: list[str]) -> list[str]:
    if len(releases) == 1 and sum(map(len, releases.values())) == len(pythons):
        return [f"{name}=={next(iter(releases))}"]
    return [
        f'{name}=={release} ; python_version == "{python}"'
        for release, users in releases.items()
        for python in users
    ]


if __name__ == "__main__":
    main(sys.argv[1:] or ["python3.11", "python3.12", "python3.13"])
