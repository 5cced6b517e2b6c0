"""What a command loads, asks of SQLite, opens and embeds, as counts: they do not waver with the machine.

A limit is what was counted when it was set, and a fifth more. One that is exceeded means that a command pays
for something it did not pay for before: find out for what (``python -X importtime -m rag ...``) before
raising it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "rag" / "data" / "icml2025-sample.jsonl"
QUESTION = "By how much does SpecPrefill improve TTFT?"

COUNTING = """
import json, sqlite3, sys

opened, statements, texts = [], [], []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
connect = sqlite3.connect

def traced(*args, **kwargs):
    db = connect(*args, **kwargs)
    db.set_trace_callback(statements.append)
    return db

sqlite3.connect = traced
words = json.loads(sys.argv[1])
if "--help" not in words:
    from rag.adapters.embed_fake import FakeEmbedder
    embed = FakeEmbedder.embed

    def counted(self, given):
        texts.extend(given)
        return embed(self, given)

    FakeEmbedder.embed = counted
modules = set(sys.modules)
from rag.cli import main
sys.argv = ["rag", *words]
code = 0
try:
    main()
except SystemExit as end:
    code = end.code or 0
own = [name for name in opened if not name.endswith((".py", ".pyc", ".so")) and not name.isdigit()]
print("\\n" + json.dumps({
    "code": code, "modules": len(sys.modules), "packages": sorted({m.split(".")[0] for m in sys.modules}),
    "statements": [s.split()[0] for s in statements], "opened": own, "texts": texts,
}), file=sys.stderr)
"""


@dataclass(frozen=True)
class Counts:
    code: int
    modules: int
    packages: list[str]
    statements: list[str]
    opened: list[str]
    texts: list[str]


def counted(*words: object) -> Counts:
    """Run a command in a fresh interpreter, with the embedder that needs no model, and count."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, json.dumps([str(word) for word in words])],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "RAG_EMBEDDER": "fake"},
        check=False,
    )
    assert done.stderr.strip(), done.stdout
    return Counts(**json.loads(done.stderr.strip().splitlines()[-1]))


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled papers as a file of one's own, to change."""
    file = tmp_path_factory.mktemp("counts") / "papers.jsonl"
    file.write_bytes(SAMPLE.read_bytes())
    return file


@pytest.fixture(scope="module")
def index(records: Path) -> Path:
    folder = records.with_name("index")
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "RAG_EMBEDDER": "fake"}
    words = [sys.executable, "-m", "rag", "--index", str(folder), "ingest", str(records)]
    subprocess.run(words, check=True, capture_output=True, env=environ)
    return folder


@pytest.mark.parametrize("words", [["--help"], ["ask", "--help"], ["eval", "--help"]])
def test_modules_for_help(words: list[str]) -> None:
    found = counted(*words)
    assert (found.code, found.statements, found.texts) == (0, [], [])
    assert found.modules <= 300


def test_one_question(index: Path) -> None:
    found = counted("--index", index, "ask", QUESTION)
    assert found.code in {0, 5}
    assert found.modules <= 520
    assert {"chromadb", "llama_index", "bm25s", "scipy", "openai", "pydantic"} & set(found.packages) == set()
    # The question, its bare form, and at most 32 sentences; never a passage.
    assert len(found.texts) <= 34
    assert len(found.statements) <= 61
    inside = {name for name in found.opened if str(index) in name}
    assert len(inside) <= 12


def test_questions_to_a_filtered_pile_ask_sqlite_no_more(index: Path) -> None:
    whole, filtered = (
        counted("--index", index, "search", "model editing", *more).statements
        for more in ([], ["--year", "2025"])
    )
    assert len(filtered) <= len(whole) + 6


def test_ingest_of_the_same_again(index: Path, records: Path) -> None:
    found = counted("--index", index, "ingest", records)
    assert (found.code, found.texts) == (0, [])
    assert {"llama_index", "chromadb", "bm25s", "scipy", "onnxruntime"} & set(found.packages) == set()
    assert str(records) not in found.opened
    assert len(found.statements) <= 44


def test_ingest_of_one_changed_record_embeds_that_one(index: Path, records: Path) -> None:
    lines = records.read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[7])
    lines[7] = json.dumps({**row, "abstract": row["abstract"] + " We also release our code."})
    records.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = counted("--index", index, "ingest", records)
    assert found.code == 0
    assert 1 <= len(found.texts) <= 2
    assert all("release our code" in text for text in found.texts[-1:])
