"""Measures the memory that an ingest takes as the pile grows, with an embedder that costs nothing.

    python eval/benchmarks/ingest_memory.py [100000 300000] [--limit-mib 1024] [--keep DIR]

Each size is ingested through ``wiring.ingest`` in a process of its own from JSON lines that are written
first: made-up abstracts of about 120 words from a vocabulary with the long tail of real text. Prints the peak
of resident memory and the seconds passed when everything is read, when everything is embedded, and at the
end, and between two sizes the slope in bytes a record. Fails if a peak is above the limit.

Chroma's local index keeps every vector in memory while it is open: 4 bytes a dimension and a few hundred for
its graph. The embedder here makes 32 dimensions; ``--dimensions 384`` shows what the bundled one's take.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from rag import settings, wiring
from rag.adapters.embed_fake import FakeEmbedder
from rag.wiring import index as wiring_index

WORDS = 120
VOCABULARY = 50_000


def write(file: Path, records: int) -> None:
    """Write ``records`` distinct made-up papers."""
    chance = random.Random(7)
    words = [f"{chance.choice('bcdfgklmnprst')}{chance.choice('aeiou')}{n:x}" for n in range(VOCABULARY)]
    with file.open("w", encoding="utf-8") as out:
        for number in range(records):
            # Log-uniform ranks: frequencies fall with the rank as in text (Zipf).
            drawn = [words[int(VOCABULARY ** chance.random()) - 1] for _ in range(WORDS)]
            title = f"Paper {number} on {drawn[0]} and {drawn[1]}"
            abstract = (
                f"We study {drawn[2]}. " + " ".join(drawn[3:]) + f". It gains {number % 97}.{number % 10}%."
            )
            row = {
                "title": title,
                "abstract": abstract,
                "authors": [f"Ann {drawn[4]}", f"Bo {drawn[5]}"],
                "year": 2025,
            }
            out.write(json.dumps(row) + "\n")


def peak_mib() -> float:
    """Peak of resident memory of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def ingest(file: Path, index: Path, dimensions: int) -> None:
    """Ingest ``file`` in this process and print what was measured as JSON."""
    peaks: dict[str, tuple[float, float]] = {}

    def mark(stage: str) -> None:
        peaks.setdefault(stage, (peak_mib(), time.monotonic() - began))

    class Stages:
        """Stands in for the progress bar: the first call comes after reading, the last after embedding."""

        def __enter__(self) -> Stages:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def __call__(self, done: int, total: int) -> None:
            if total:
                mark("read")
            if total and done == total:
                mark("embedded")

    wiring_index.embedder = lambda _: FakeEmbedder(dimensions)  # type: ignore[assignment]
    wiring_index.progress = lambda *_, **__: Stages()  # type: ignore[assignment]
    began = time.monotonic()
    given = settings.load({"index": index}, environ={"RAG_EMBEDDER": "fake"}, files=())
    report = wiring.ingest(given, [file], lambda _: None)
    mark("end")
    print(json.dumps({"papers": report.papers, "peaks": peaks}))


def measured(records: int, folder: Path, dimensions: int) -> dict[str, list[float]]:
    """Ingest ``records`` papers in a process of its own; return (MiB, seconds) by stage."""
    file = folder / f"{records}.jsonl"
    if not file.exists():
        write(file, records)
    words = ["--child", str(file), str(folder / f"index-{records}"), "--dimensions", str(dimensions)]
    done = subprocess.run([sys.executable, __file__, *words], stdout=subprocess.PIPE, check=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    if found["papers"] != records:
        raise SystemExit(f"{records} records made {found['papers']} papers")
    peaks: dict[str, list[float]] = found["peaks"]
    return peaks


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="*", type=int, default=[100_000, 300_000])
    parser.add_argument("--limit-mib", type=float, default=1024)
    parser.add_argument("--dimensions", type=int, default=32)
    parser.add_argument("--keep", type=Path, help="write files and indexes here and leave them")
    parser.add_argument("--child", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        ingest(*options.child, options.dimensions)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for size in sorted(options.sizes):
            rows.append((size, measured(size, folder, options.dimensions)))
            stages = (f"{name} {mib:5.0f} MiB {at:6.0f} s" for name, (mib, at) in rows[-1][1].items())
            print(f"{size:>9,} records   {'   '.join(stages)}", flush=True)
    for (size, before), (larger, after) in pairwise(rows):
        for stage, (mib, _) in after.items():
            slope = (mib - before[stage][0]) * 2**20 / (larger - size)
            print(f"{size:,} to {larger:,}, {stage}: {slope:.0f} bytes a record")
    sys.exit(max(peaks["end"][0] for _, peaks in rows) > options.limit_mib)


if __name__ == "__main__":
    main()
