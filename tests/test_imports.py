"""Who may import whom, read from the source; and what a command really loads, in a process of its own."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = {
    "llama_index",
    "chromadb",
    "openai",
    "onnxruntime",
    "tokenizers",
    "bm25s",
    "numpy",
    "rich",
    "pydantic",
    "httpx",
}
VENDORS = {
    "llama_index",
    "chromadb",
    "openai",
    "onnxruntime",
    "tokenizers",
    "bm25s",
    "numpy",
    "Stemmer",
    "jiter",
}
BASE = {"records", "errors"}
LEAVES = {"text", "ports", *BASE}
# What each part may import of the others. A part may always import itself.
MAY: dict[str, set[str]] = {
    "records": set(),
    "errors": set(),
    "values": set(),
    "whole_file": set(),
    "ports": {"records"},
    "text": set(),
    "prompts": {"ports", *BASE},
    "settings": {"values", *BASE},
    "places": {"settings", *BASE},
    "corpus": LEAVES,
    "fetch": {"whole_file", *LEAVES},
    "index": LEAVES,
    "chain": {"prompts", *LEAVES},
    "evals": {"chain", "prompts", "whole_file", *LEAVES},
    "render": {"text", *BASE},
    "adapters": {"index", "whole_file", *LEAVES},
    "chat": {"chain", "render", "settings", "values", "whole_file", *LEAVES},
    "wiring": {
        "corpus",
        "fetch",
        "index",
        "chain",
        "chat",
        "evals",
        "adapters",
        "render",
        "settings",
        "places",
        "prompts",
        *LEAVES,
    },
    "doctor": {"wiring", "places", "settings", *BASE},
    "cli": {"wiring", "doctor", "chat", "evals", "render", "settings", "values", *BASE},
    "__main__": {"cli"},
}


def modules() -> Iterator[tuple[str, Path]]:
    """Yield (part, file) of the package: ("chain", .../chain/answer.py), ("settings", .../settings.py)."""
    for file in sorted((ROOT / "rag").rglob("*.py")):
        if file != ROOT / "rag" / "__init__.py":
            yield part_of(file.relative_to(ROOT / "rag").parts[0]), file


def part_of(name: str) -> str:
    """Return the part that a file or folder of the package is."""
    return name.removesuffix(".py")


def imported(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative import"
        module = node.module or ""
        return [f"{module}.{alias.name}" for alias in node.names] if module == "rag" else [module]
    return []


def imports(file: Path, *, typing_too: bool = True) -> Iterator[str]:
    """Yield every module a file imports, wherever the import stands."""

    def walk(nodes: list[ast.stmt]) -> Iterator[str]:
        for node in nodes:
            yield from imported(node)
            only_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            if not only_types or typing_too:
                for field in ("body", "orelse", "finalbody", "handlers"):
                    yield from walk(getattr(node, field, []))

    yield from walk(ast.parse(file.read_text(encoding="utf-8")).body)


def test_parts_import_downwards_only() -> None:
    wrong = []
    for part, file in modules():
        for name in imports(file, typing_too=False):
            if name.startswith("rag."):
                other = part_of(name.split(".")[1])
                if other not in {part, *MAY[part], "__version__"}:
                    wrong.append(f"{file.relative_to(ROOT)} imports {name}")
    assert wrong == []


def test_records_and_errors_import_the_standard_library_only() -> None:
    for name in ("records.py", "errors.py"):
        assert {module.split(".")[0] for module in imports(ROOT / "rag" / name)} <= sys.stdlib_module_names


def test_vendors_are_imported_in_adapters_only() -> None:
    wrong = []
    for part, file in modules():
        if part in {"adapters", "ports"}:
            continue
        found = {name.split(".")[0] for name in imports(file, typing_too=False)} & VENDORS
        wrong += [f"{file.relative_to(ROOT)} imports {name}" for name in sorted(found)]
    assert wrong == []


def test_only_the_wiring_imports_inside_functions() -> None:
    """And the words of ``rag eval``: the evals cost 0.15 s that no other command should wait for."""
    wrong = []
    for part, file in modules():
        if file == ROOT / "rag" / "cli" / "eval.py":
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            if part != "wiring" and isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = [node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)]
                wrong += [f"{file.relative_to(ROOT)}:{node.lineno}" for node in inner]
    assert wrong == []


def loaded(code: str, *, home: Path | None = None) -> set[str]:
    """Return the top-level packages that are loaded after running ``code`` in a fresh interpreter."""
    report = """
import sys, json
sys.stderr.write("\\n" + json.dumps(sorted({module.split(".")[0] for module in sys.modules})))
"""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)} | ({"HOME": str(home)} if home else {})
    done = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True, env=environ
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_the_command_line_loads_nothing_heavy() -> None:
    assert loaded("import rag.cli") & HEAVY == set()


@pytest.mark.parametrize(
    "words", [["--help"], ["ask", "--help"], ["papers", "--help"], ["--version"], ["serch"]]
)
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    code = f"""
import sys
from rag.cli import main
sys.argv = ["rag", *{words!r}]
try:
    main()
except SystemExit:
    pass
"""
    assert loaded(code) & HEAVY == set()


def test_an_extractive_answer_loads_no_framework(sample_index: Path) -> None:
    code = f"""
import sys
from rag.cli import main
sys.argv = ["rag", "ask", "What does SpecPrefill improve?", "--index", {str(sample_index)!r}]
try:
    main()
except SystemExit as end:
    assert end.code == 0, end.code
"""
    found = loaded(code)
    assert found & {"llama_index", "openai", "chromadb", "bm25s", "scipy", "rich", "httpx"} == set()
    assert {"numpy", "onnxruntime"} <= found


NO_SOCKETS = """
import socket, sys

def refuse(*args, **kwargs):
    raise AssertionError(f"the network was tried: {args}")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.gethostbyname = refuse
socket.create_connection = refuse
from rag.cli import main

papers, index = sys.argv[1:]
for words in (["ingest", papers], ["ask", "By how much does SpecPrefill improve TTFT?"]):
    sys.argv = ["rag", "--index", index, *words]
    try:
        main()
    except SystemExit as end:
        assert end.code in (0, None), end.code
"""


def test_ingest_and_ask_need_no_network(tmp_path: Path, own_home: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            NO_SOCKETS,
            str(ROOT / "rag/data/icml2025-sample.jsonl"),
            str(tmp_path / "index"),
        ],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(own_home), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"},
        check=False,
    )
    assert (done.returncode, "7.66" in done.stdout) == (0, True), done.stdout + done.stderr
    assert "the network was tried" not in done.stderr
