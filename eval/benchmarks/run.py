"""Measures this program beside its peers in one run, and writes a page in docs/ with its plots.

    python eval/benchmarks/run.py               docs/benchmarks.md, under 20 minutes on two cores (make bench)
    python eval/benchmarks/run.py --large       docs/benchmarks-large.md: what takes longer, which is 300,000
                                                papers, ingest with the model beside LlamaIndex, and the peers
                                                that take gigabytes (make bench-full runs both)
    python eval/benchmarks/run.py --work DIR    keep peers and indexes there, and use them again

Peers are installed from the package registry into environments of their own. Nothing leaves the machine but
that: models are replaced by a stub on 127.0.0.1 that answers at once. What cannot be run is shown as such.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import composed
import envs
import results
import stub
from causes import HASHED, MINILM
from page import page, plot
from timing import Command, Failed, alternate, interpreter, once

# The larger of the two piles that are asked one-shot; RAG_BENCH_LARGE makes it smaller to try a change.
LARGE = int(os.environ.get("RAG_BENCH_LARGE", "3000"))
BARE = min(300, LARGE)
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SAMPLE = ROOT / "rag" / "data" / "icml2025-sample.jsonl"
ASKED = "By how much did SpecPrefill improve time-to-first-token for Llama-3.1-405B?"
INSIDE = [sys.executable, str(HERE / "inside.py")]
RAG = [sys.executable, "-m", "rag"]
LLAMA = str(HERE / "peers" / "llama.py")
ANSWERED = (0, 5)  # a stub's answer may not satisfy the checks, which is no failure of the run


class Run:
    """One run: where things are kept, what was found so far."""

    def __init__(self, work: Path, runs: int, peers: dict[str, envs.Peer], url: str) -> None:
        self.work, self.runs, self.peers, self.url = work, runs, peers, url
        self.raw: dict[str, Any] = {"processes": {}, "growth": {}, "peers": {}}
        self.home = work / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self.environ = {
            "HOME": str(self.home),
            "RAG_DATA_DIR": str(self.home / "rag"),
            "PYTHONPATH": str(ROOT),
            "OPENAI_API_KEY": "",
            "PQA_HOME": str(self.home),
            "ANONYMIZED_TELEMETRY": "false",
        }

    def command(
        self, *words: object, allowed: tuple[int, ...] = (0,), before: object = None, **more: str
    ) -> Command:
        return Command([str(word) for word in words], {**self.environ, **more}, allowed, before)

    def peer(self, name: str) -> str:
        """The interpreter of a peer; running it says why it is missing."""
        return interpreter(self.peers[name].folder)

    def program(self, name: str, file: str) -> str:
        return str(self.peers[name].folder / "bin" / file)

    def compare(self, case: str, commands: dict[str, Command]) -> None:
        told(f"{case}: {', '.join(commands)}")
        for name, samples in alternate(commands, self.runs).items():
            self.raw["processes"].setdefault(case, {})[name] = (
                samples if isinstance(samples, str) else [[s.wall, s.cpu, s.mib] for s in samples]
            )

    def inside(self, task: str, *words: object) -> dict[str, Any]:
        told(f"inside a process: {task} {' '.join(map(str, words))}")
        sample = once(self.command(*INSIDE, task, *words))
        return {**json.loads(sample.out.splitlines()[-1]), "process_mib": sample.mib, "wall": sample.wall}


def told(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)


def start_up(run: Run) -> None:
    """Ours beside those of the peers of this run."""
    theirs = {
        "llm --help": ("llm", lambda: [run.program("llm", "llm"), "--help"]),
        "pqa --help": ("pqa", lambda: [run.program("pqa", "pqa"), "--help"]),
        "haiku-rag --help": ("haiku", lambda: [run.program("haiku", "haiku-rag"), "--help"]),
        "import txtai": ("txtai", lambda: [run.peer("txtai"), "-c", "import txtai"]),
    }
    run.compare(
        "start-up",
        {
            "rag --help": run.command(*RAG, "--help"),
            "rag --version": run.command(*RAG, "--version"),
            **{name: run.command(*words()) for name, (peer, words) in theirs.items() if peer in run.peers},
        },
    )


def papers_3000(run: Run) -> None:
    """Ingest 3,000 with the bundled embedder, once; the bare embedder on some of them for its rate."""
    index = run.work / "minilm-3000"
    if not index.exists():
        file = composed.write(run.work / f"{LARGE}.jsonl", LARGE)
        run.raw["minilm_3000"] = run.inside("ingest", file, index)
        (run.work / "minilm_3000.json").write_text(json.dumps(run.raw["minilm_3000"]))
    else:
        run.raw["minilm_3000"] = json.loads((run.work / "minilm_3000.json").read_text())
    bare(run)


def bare(run: Run) -> None:
    """The embedder alone, for the share that it has of an ingest."""
    run.raw["bare"] = run.inside("bare", composed.write(run.work / f"{BARE}.jsonl", BARE))


def ingest(run: Run, case: str, size: int, embedder: str) -> None:
    """Both programs ingest the same records, whole processes, into a new folder each time."""
    file = composed.write(run.work / f"{size}.jsonl", size)
    new, other = run.work / "new-rag", run.work / "new-llama"
    run.compare(
        case,
        {
            "rag": run.command(*INSIDE, "ingest", file, new, "--embedder", embedder, before=emptied(new)),
            "LlamaIndex": run.command(
                run.peer("llamaindex"), LLAMA, "ingest", file, other, "--embedder", embedder,
                before=emptied(other),
            ),
        },
    )  # fmt: skip


def emptied(folder: Path) -> Callable[[], None]:
    return lambda: shutil.rmtree(folder, ignore_errors=True)


def ask(run: Run) -> None:
    """One question, whole processes: quoted answers, then answers of a model that replies at once."""
    small, large = run.work / "sample", run.work / "minilm-3000"
    once(run.command(*RAG, "ingest", SAMPLE, "--index", small))
    hashed = {38: run.work / "hashed-38", 3000: run.work / "hashed-3000"}
    theirs = {38: run.work / "llama-38", 3000: run.work / "llama-3000"}
    files = {38: SAMPLE, 3000: run.work / f"{LARGE}.jsonl"}
    for size, file in files.items():
        if not hashed[size].exists():
            once(run.command(*INSIDE, "ingest", file, hashed[size], "--embedder", "hashed"))
        if not theirs[size].exists():
            once(run.command(run.peer("llamaindex"), LLAMA, "ingest", file, theirs[size]))
    wanted = {38: ASKED, 3000: composed.question(17)}
    for size, index in ((38, small), (3000, large)):
        commands = {
            "rag": run.command(*RAG, "--index", index, "ask", wanted[size], allowed=ANSWERED),
            "rag, hashed words": run.command(
                *INSIDE, "ask", hashed[size], wanted[size], "--embedder", "hashed", allowed=ANSWERED
            ),
            "LlamaIndex": run.command(run.peer("llamaindex"), LLAMA, "ask", theirs[size], wanted[size]),
        }
        if size == 38:
            commands["pqa"] = pqa(run)
        run.compare(f"one question to {size:,} papers", commands)
    run.compare(
        "one question to 38 papers, stub model",
        {
            "rag": run.command(
                *RAG, "--index", small, "ask", ASKED, "--model", "stub", "--base-url", run.url, "--fresh",
                allowed=ANSWERED,
            ),
            "LlamaIndex": run.command(
                run.peer("llamaindex"), LLAMA, "ask", theirs[38], ASKED, "--base-url", run.url
            ),
        },
    )  # fmt: skip


def pqa(run: Run) -> Command:
    """paper-qa over the same 38 abstracts as text files, indexed beforehand through the stub."""
    papers, index = run.work / "pqa-papers", run.work / "pqa-index"
    papers.mkdir(exist_ok=True)
    for number, line in enumerate(SAMPLE.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        (papers / f"{number:03}.txt").write_text(f"{row.get('title') or ''}\n\n{row['abstract']}", "utf-8")
    dials = {
        "llm": "openai/stub", "summary_llm": "openai/stub", "embedding": "openai/stub",
        "agent.agent_llm": "openai/stub", "agent.agent_type": "fake", "parsing.use_doc_details": "false",
        "agent.index.name": "bench", "agent.index.paper_directory": str(papers),
        "agent.index.index_directory": str(index),
    }  # fmt: skip
    words = [run.program("pqa", "pqa"), *(each for k, v in dials.items() for each in (f"--{k}", v))]
    reach = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": run.url, "OPENAI_API_BASE": run.url}
    if not index.exists() and not run.peers["pqa"].fault:
        told("paper-qa indexes the 38 abstracts")
        once(run.command(*words, "-i", "bench", "index", papers, **reach))
    return run.command(*words, "--agent.rebuild_index", "false", "ask", ASKED, **reach)


def growth(run: Run, sizes: list[int]) -> None:
    """Ingest, ingest again, ask: at each size, with hashed words in place of a model's vectors."""
    for size in sizes:
        file, index = composed.write(run.work / f"{size}.jsonl", size), run.work / f"growth-{size}"
        row: dict[str, Any] = {}
        kept = run.work / f"growth-{size}.json"
        if index.exists() and kept.exists():
            row["ingest"] = json.loads(kept.read_text())
        else:
            shutil.rmtree(index, ignore_errors=True)
            row["ingest"] = run.inside("ingest", file, index, "--embedder", "hashed")
            kept.write_text(json.dumps(row["ingest"]))
        row["query"] = run.inside("query", index)
        row["again"] = [
            run.inside("again", file, index, "--embedder", "hashed")
            for _ in range(run.runs if size == 100_000 else 1)
        ]
        run.raw["growth"][str(size)] = row
        run.compare(
            f"one question to {size:,} papers, hashed words",
            {
                "rag": run.command(
                    *INSIDE, "ask", index, composed.question(17), "--embedder", "hashed", allowed=ANSWERED
                )
            },
        )
        save(run)


def rest(run: Run, sizes: list[int]) -> None:
    run.raw["verify"] = run.inside("verify", run.work / "sample")
    biggest = max(size for size in sizes if size <= 100_000)
    try:
        run.raw["server"] = {"papers": biggest, **run.inside("server", run.work / f"growth-{biggest}")}
    except Failed as error:
        run.raw["server"] = {"papers": biggest, "fault": str(error)}


def machine() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        f"{os.cpu_count()} cores of {model}, {memory:.0f} GiB, {platform.system()} {platform.release()},"
        f" Python {platform.python_version()}; load before the run {load}"
    )


def save(run: Run) -> None:
    (run.work / "raw.json").write_text(json.dumps(run.raw, indent=1))


def publish(raw: dict[str, Any], docs: Path) -> Path:
    """Write the page and its plots."""
    made = results.made(raw)
    name = "benchmarks-large" if raw["large"] else "benchmarks"
    folder = docs / name
    folder.mkdir(parents=True, exist_ok=True)
    for drawn, (title, series, unit) in made["drawn"].items():
        (folder / f"{drawn}.svg").write_text(plot(title, series, unit), encoding="utf-8")
    plots = [f"{name}/{drawn}.svg" for drawn in made["drawn"]]
    written = docs / f"{name}.md"
    written.write_text(page({**made, "plots": plots}), encoding="utf-8")
    return written


def phases(run: Run, sizes: list[int], *, large: bool) -> dict[str, Callable[[], None]]:
    """What a run consists of, in order."""
    if large:
        return {
            "start": lambda: start_up(run),
            "bare": lambda: bare(run),
            "ingest": lambda: ingest(run, MINILM, min(200, LARGE), "minilm"),
            "growth": lambda: growth(run, sizes),
        }
    return {
        "start": lambda: start_up(run),
        "papers": lambda: papers_3000(run),
        "ask": lambda: ask(run),
        "ingest": lambda: ingest(run, HASHED, LARGE, "hashed"),
        "growth": lambda: growth(run, sizes),
        "rest": lambda: rest(run, sizes),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="what takes longer, on a page of its own")
    parser.add_argument("--work", type=Path, help="kept; a temporary folder otherwise")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="*", help="of the growth")
    parser.add_argument("--peers", nargs="*", help="only these (default: those of the run)")
    parser.add_argument("--phases", nargs="*", help="only these, added to what DIR holds (default: all)")
    parser.add_argument("--again", type=Path, help="write the page anew from this raw.json")
    given = parser.parse_args()
    if given.again:
        publish(json.loads(given.again.read_text()), given.docs)
        return
    sizes = given.sizes or ([10_000, 100_000, 300_000] if given.large else [1000, 10_000, 100_000])
    with tempfile.TemporaryDirectory() as temporary, stub.running() as url:
        work = (given.work or Path(temporary)).absolute()
        work.mkdir(parents=True, exist_ok=True)
        names = ["llm", "llamaindex", *(["txtai", "haiku"] if given.large else ["pqa"])]
        names = names if given.peers is None else given.peers
        began, about = time.time(), machine()
        run = Run(work, given.runs, envs.installed(work / "peers", names), url)
        if given.phases and (work / "raw.json").exists():
            run.raw |= json.loads((work / "raw.json").read_text())
        run.raw |= {
            "large": given.large,
            "machine": about,
            "runs": given.runs,
            "when": time.strftime("%Y-%m-%d"),
        }
        run.raw["peers"] = {
            name: peer.version or f"not run: {peer.fault}" for name, peer in run.peers.items()
        }
        todo = phases(run, sizes, large=given.large)
        for name in given.phases or todo:
            todo[name]()
            save(run)
        written = publish(json.loads((work / "raw.json").read_text()), given.docs)
        told(f"done in {(time.time() - began) / 60:.1f} minutes; see {written}")


if __name__ == "__main__":
    main()
