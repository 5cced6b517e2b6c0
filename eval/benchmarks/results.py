"""What a run measured -> the rows, ratios, verdicts and words of the page.

made(json.loads(Path("raw.json").read_text()))["targets"]
"""

from __future__ import annotations

import importlib.metadata
import statistics
from typing import Any

from causes import HASHED, MINILM, causes, middle
from page import slope

ARXIV = 3_000_000
TOKENS = 230  # of a title and an abstract
# Memory that Chroma adds for each passage of 384 numbers, from 204 MiB at 1,000 to 673 MiB at 100,000.
CHROMA_BYTES = 4_970
HOSTED_USD = 0.02  # per million tokens, text-embedding-3-small
HEAD = (
    "# Benchmarks",
    "Written by `make bench`. What takes longer is in [benchmarks-large.md](benchmarks-large.md), what was"
    " tried to get here in [performance-log.md](performance-log.md), quality of retrieval in"
    " [retrieval.md](retrieval.md).",
)
LARGE_HEAD = (
    "# Benchmarks that take longer",
    "Written by `make bench-full`: piles of up to 300,000 papers, ingest with the model beside LlamaIndex,"
    " and the peers that bring gigabytes. The rest is in [benchmarks.md](benchmarks.md).",
)
SHOWN = ("citerag", "chromadb", "llama-index-core", "onnxruntime", "bm25s")


def made(raw: dict[str, Any]) -> dict[str, Any]:
    growth = {int(size): row for size, row in raw["growth"].items()}
    lines, targets = _lines(growth), _targets(raw, growth)
    return {
        "head": LARGE_HEAD if raw["large"] else HEAD,
        "machine": raw["machine"], "when": raw["when"], "runs": raw["runs"],
        "versions": {**_versions(), **{f"{k} (peer)": v for k, v in raw["peers"].items()}},
        "targets": targets, "causes": causes(raw, growth, targets),
        "processes": _processes(raw["processes"]),
        "inside_text": _inside_text(raw), "inside_head": INSIDE_HEAD,
        "inside": [_inside(size, row["query"]) for size, row in growth.items()],
        "growth_text": GROWTH_TEXT, "growth": [_grown(size, row, raw) for size, row in growth.items()],
        "slopes": {name: found for name, line in lines.items() if (found := slope(line)) is not None},
        "drawn": _drawn(lines), "outlook": _outlook(raw, growth),
    }  # fmt: skip


def _versions() -> dict[str, str]:
    found = {}
    for name in SHOWN:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "from source"
    return found


def _ratio(raw: dict[str, Any], case: str, ours: str, theirs: str, what: int = 0) -> float | None:
    """Median of the ratios run by run, since neighbouring runs saw the same machine."""
    found = raw["processes"].get(case, {})
    pairs = (found.get(ours), found.get(theirs))
    if not all(isinstance(each, list) and each for each in pairs):
        return None
    return statistics.median(a[what] / b[what] for a, b in zip(*pairs, strict=True))


def _row(what: str, target: str, found: float | None, good: bool | None, unit: str = "") -> list[str]:
    if found is None:
        return [what, target, "not run", "–"]
    return [what, target, f"{found:.3g}{unit}", "–" if good is None else "yes" if good else "no"]


def _at_most(what: str, limit: float, found: float | None, unit: str = "") -> list[str]:
    return _row(what, f"≤ {limit:g}{unit}", found, found is not None and found <= limit, unit)


def _at_least(what: str, limit: float, found: float | None, unit: str = "") -> list[str]:
    return _row(what, f"≥ {limit:g}{unit}", found, found is not None and found >= limit, unit)


def _inverse(ratio: float | None) -> float | None:
    return 1 / ratio if ratio else None


def _targets(raw: dict[str, Any], growth: dict[int, Any]) -> list[list[str]]:
    """The rows of the targets that this run was for."""
    rows = _all_targets(raw, growth)
    return [row for row in rows if row[2] != "not run"] if raw["large"] else rows


def _all_targets(raw: dict[str, Any], growth: dict[int, Any]) -> list[list[str]]:
    ask38, ask3000 = "one question to 38 papers", "one question to 3,000 papers"
    rows = [
        _at_most("`rag --help` / `llm --help`", 0.5, _ratio(raw, "start-up", "rag --help", "llm --help")),
        _at_most(
            "`rag --version` / `llm --help`", 0.5, _ratio(raw, "start-up", "rag --version", "llm --help")
        ),
        _at_most(
            "quoted answer, 38 papers / LlamaIndex script", 0.4, _ratio(raw, ask38, "rag", "LlamaIndex")
        ),
        _at_most(
            "the same, hashed words on both sides", 0.4, _ratio(raw, ask38, "rag, hashed words", "LlamaIndex")
        ),
        _at_most("quoted answer, 38 papers / `pqa`", 0.25, _ratio(raw, ask38, "rag", "pqa")),
        _at_most(
            "quoted answer, 3,000 papers / LlamaIndex script", 0.4, _ratio(raw, ask3000, "rag", "LlamaIndex")
        ),
        _at_most(
            "answer of a stub model, 38 papers / LlamaIndex script", 0.6,
            _ratio(raw, "one question to 38 papers, stub model", "rag", "LlamaIndex"),
        ),
        _at_least(
            "rate of ingest, 3,000 abstracts, hashed words / LlamaIndex", 1.3,
            _inverse(_ratio(raw, HASHED, "rag", "LlamaIndex")),
        ),
        _at_least("rate of ingest, 3,000 abstracts, MiniLM / the bare embedder", 0.9, _against_bare(raw)),
    ]  # fmt: skip
    if raw["large"]:
        against = _inverse(_ratio(raw, MINILM, "rag", "LlamaIndex"))
        rows.append(_at_least("rate of ingest, 200 abstracts, MiniLM / LlamaIndex", 1.3, against))
    big = growth.get(100_000)
    if big:
        query = big["query"]
        rows += [
            _at_most("ingest again, 100,000 records, nothing changed", 5, _again(big), " s"),
            _at_most("question inside a process, 100,000 papers, p50", 20, query["search"]["p50"], " ms"),
            _at_most("the same, p95", 45, query["search"]["p95"], " ms"),
            _at_most("the same with a filter that keeps 10 %, p50", 60, query["filtered"]["p50"], " ms"),
            _at_least("recall@10 of Chroma as the program asks it (top 400)", 0.99, query["recall_top400"]),
        ]
    if "verify" in raw:
        rows += [
            _at_most("verification of ten sentences, by words", 30, raw["verify"]["lexical"]["p50"], " ms"),
            _at_most(
                "the same with cosines, as model answers are",
                30,
                raw["verify"]["with_similarity"]["p50"],
                " ms",
            ),
        ]
    return rows


def _against_bare(raw: dict[str, Any]) -> float | None:
    if "minilm_3000" not in raw or "bare" not in raw:
        return None
    return (raw["minilm_3000"]["added"] / raw["minilm_3000"]["seconds"]) / (
        raw["bare"]["texts"] / raw["bare"]["seconds"]
    )


def _again(row: dict[str, Any]) -> float:
    return statistics.median(each["seconds"] for each in row["again"])


def _processes(processes: dict[str, Any]) -> list[list[str]]:
    rows = []
    for case, programs in processes.items():
        for name, samples in programs.items():
            if isinstance(samples, str):
                rows.append([case, name, "–", "–", "–", f"not run: {samples.replace('|', '/')[:110]}"])
                continue
            wall, cpu, mib = (statistics.median(s[n] for s in samples) for n in range(3))
            spread = f"{min(s[0] for s in samples):.2f} to {max(s[0] for s in samples):.2f} s"
            rows.append([case, name, f"{wall:.2f}", f"{cpu:.2f}", f"{mib:.0f}", spread])
    return rows


INSIDE_HEAD = (
    "answered by", "p50 / p95 ms", "10 % filter p50", "embed", "BM25", "Chroma top 20", "top 400",
    "filtered", "exact top 400", "exact filtered", "recall@10 of top 10 / 400", "peak MiB",
)  # fmt: skip
GROWTH_TEXT = (
    "Composed records of about 125 words (`eval/benchmarks/composed.py`), vectors of hashed words in 384"
    " dimensions: real text of that size is not at hand, and embedding it would take an hour per 100,000."
    " Ingest therefore shows everything but the model; the question's embedding is the real model's."
)


def _inside(size: int, query: dict[str, Any]) -> list[str]:
    p50 = {
        name: f"{value['p50']:.1f}"
        for name, value in query.items()
        if isinstance(value, dict) and "p50" in value
    }
    return [
        f"{size:,}", query["answers"], f"{p50['search']} / {query['search']['p95']:.1f}", p50["filtered"],
        p50["embed"], p50["keywords"], p50["chroma_top20"], p50["chroma_top400"], p50["chroma_filtered"],
        p50["exact_top400"], p50["exact_filtered"],
        f"{query['recall_top10']:.3f} / {query['recall_top400']:.3f}", f"{query['mib']:.0f}",
    ]  # fmt: skip


def _inside_text(raw: dict[str, Any]) -> str:
    hnsw = next((row["query"]["hnsw"] for row in raw["growth"].values()), {})
    said = ", ".join(f"{name} {value}" for name, value in hnsw.items())
    return (
        "An opened pile, 200 different questions, milliseconds (medians). *answered by* is what finds"
        " the nearest passages in a process that goes on asking: the matrix up to 150,000 passages, Chroma's"
        " index above, the matrix again under a filter. A command that asks once uses the matrix. Chroma's"
        f" parameters: {said}; the program asks it for 400, which widens its search beyond `ef_search`."
        " Recall is that of hashed words, whose vectors crowd together where abstracts share their patterns:"
        " harder than a model's, for which docs/retrieval.md has figures."
    )


def _grown(size: int, row: dict[str, Any], raw: dict[str, Any]) -> list[str]:
    asked = middle(raw, f"one question to {size:,} papers, hashed words", "rag", 2)
    return [
        f"{size:,}", f"{row['ingest']['seconds']:.0f}", f"{size / row['ingest']['seconds']:.0f}",
        f"{row['ingest']['mib']:.0f}", f"{row['ingest']['disk_mib']:.0f}", f"{_again(row):.2f}",
        f"{row['query']['search']['p50']:.1f}", f"{asked:.0f}" if asked else "–",
    ]  # fmt: skip


def _lines(growth: dict[int, Any]) -> dict[str, list[tuple[float, float]]]:
    def line(get: Any) -> list[tuple[float, float]]:
        return [(size, get(row)) for size, row in growth.items()]

    return {
        "ingest s": line(lambda row: row["ingest"]["seconds"]),
        "ingest memory": line(lambda row: row["ingest"]["mib"]),
        "disk": line(lambda row: row["ingest"]["disk_mib"]),
        "query p50": line(lambda row: row["query"]["search"]["p50"]),
        "filtered p50": line(lambda row: row["query"]["filtered"]["p50"]),
        "query memory": line(lambda row: row["query"]["mib"]),
    }


def _drawn(lines: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any], str]]:
    return {
        "query": (
            "A question inside a process",
            {"all papers": lines["query p50"], "a filter keeps 10 %": lines["filtered p50"]},
            "milliseconds, p50",
        ),
        "ingest": ("Ingest of composed records", {"seconds": lines["ingest s"]}, "seconds"),
        "size": (
            "Memory and disk",
            {"disk": lines["disk"], "ingest": lines["ingest memory"], "asking": lines["query memory"]},
            "MiB",
        ),
    }


def _outlook(raw: dict[str, Any], growth: dict[int, Any]) -> str:
    """When to move to a server, and what 3 million abstracts would take, from the numbers above."""
    if not growth:
        return ""
    size = max(growth)
    row, query = growth[size], growth[size]["query"]
    per = row["ingest"]["disk_mib"] / size
    rate = raw["bare"]["texts"] / raw["bare"]["seconds"] if "bare" in raw else 26.0
    rest = row["ingest"]["seconds"] / size
    days = ARXIV * (1 / rate + rest) / 86400
    money = ARXIV * TOKENS / 1e6 * HOSTED_USD
    disk = row["ingest"]["disk_mib"] / 1024
    most = 8 * 2**30 / CHROMA_BYTES / 1e6
    chroma = CHROMA_BYTES * ARXIV / 2**30
    return "\n\n".join(
        [
            "## What breaks first, and when to move to a Chroma server",
            _server(raw) or "What the same run gave on a server is in [benchmarks.md](benchmarks.md).",
            f"At {size:,} papers all of it works in a folder: {disk:.1f} GiB of disk, "
            f"{query['mib']:.0f} MiB in a process that goes on asking. What grows in memory is "
            "Chroma's index, which is loaded whole at the first unfiltered question to a large pile; "
            f"what grows in time is the ingest, which without a model came to {1 / rest:.0f} papers a "
            "second. So memory breaks first: with 8 GiB to spare at "
            f"about {most:.1f} million papers. Move to a server when several machines or several "
            "writers need the same pile, when the process that asks is short of memory (the index "
            "then lives in the server's), or beyond about a million papers. Speed is little reason: at "
            "100,000 papers comparing vectors is less than half of a question's time.",
            "## On paper: 3 million arXiv abstracts",
            table_of(
                (
                    "embedding with the bundled model",
                    f"{ARXIV / rate / 86400:.1f} days at {rate:.0f} abstracts a second",
                ),
                (
                    "everything else of the ingest",
                    f"{ARXIV * rest / 3600:.0f} hours at the rate of {size:,} papers",
                ),
                ("both", f"{days:.1f} days on a machine like this one"),
                ("disk", f"{ARXIV * per / 1024:.0f} GiB"),
                ("memory of a process that asks through Chroma", f"{chroma:.0f} GiB"),
                ("vectors alone (float32)", f"{ARXIV * 384 * 4 / 2**30:.1f} GiB"),
                (
                    "hosted embeddings instead",
                    f"{ARXIV * TOKENS / 1e6:.0f} million tokens, about {money:.0f} USD at"
                    f" {HOSTED_USD} USD a million",
                ),
            ),
            "An estimate by proportion from the largest size measured; the slopes above say how far that"
            " holds. It was not run.",
        ]
    )


def table_of(*rows: tuple[str, str]) -> str:
    return "\n".join(["| what | estimate |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])


def _server(raw: dict[str, Any]) -> str:
    server = raw.get("server")
    if not server:
        return ""
    if "fault" in server:
        return f"The Chroma server could not be run here: {server['fault']}."
    inside = raw["growth"][str(server["papers"])]["query"]
    return (
        f"The same collection of {server['papers']:,} papers behind `chroma run` on this machine: top 20 in"
        f" {server['top20']['p50']:.1f} ms (in the process {inside['chroma_top20']['p50']:.1f}), top 400 in"
        f" {server['top400']['p50']:.1f} ms ({inside['chroma_top400']['p50']:.1f}), and"
        f" {server['add_rate']:.0f} passages a second when adding."
    )
