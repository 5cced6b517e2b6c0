"""Check the bundled digests against the abstracts they were written from.

Usage::

    python eval/check_digests.py SEEDS_DIR CATALOG_JSONL

The corpus that ships with the package (``rag/data/icml2025-sample.jsonl``) holds one digest per seed
abstract, in our own words.  SEEDS_DIR holds the seed files: text files whose first paragraph is a heading
and whose other paragraphs are abstracts, separated by blank lines.  CATALOG_JSONL holds one line per
abstract with the fields ``file``, ``record`` (1-based), ``title``, ``authors`` and ``url``.  Neither is part
of the repository, because the abstracts are other people's sentences.

For every record the script verifies that

* title, authors and URL are those of the catalog, and the venue and the year are right;
* the digest has 90 to 200 words and contains no LaTeX or Markdown;
* it shares no run of 8 consecutive words with *any* seed abstract;
* every number, every name and every URL of its abstract stands in it.

It prints one line per fault and exits with 1, or prints "38 digests, 0 faults" and exits with 0.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).resolve().parent.parent / "rag" / "data" / "icml2025-sample.jsonl"
EXPECTED = 38
MIN_WORDS, MAX_WORDS = 90, 200
RUN = 8
VENUE, YEAR = "ICML", 2025

_SYMBOLS = {"times": "×", "mu": "μ", "theta": "θ", "geq": "≥", "leq": "≤", "Gamma": "Γ", "Delta": "Δ"}
_URL = re.compile(r"https?://[^\s)\]}>]+")
_ENUMERATOR = re.compile(r"(?:(?<=[\s:;,])|^)\(?\d\)(?=\s|$)")
_NUMBER = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_UNIT = re.compile(r"\s?(?:(%)|(×|x(?!\w))|([BMK])(?!\w))")
_DESCRIPTIVE = ("based", "refined", "sized", "tuned", "trained", "style")
_MARKUP = re.compile(r"\\[a-zA-Z]+|\$|\*\*|__|`|\]\(")


def plain(text: str) -> str:
    """The text without LaTeX commands and Markdown marks, in compatibility form (R² and $R^2$ give R2)."""
    text = re.sub(r"\[[^\]]*\]\((https?://[^)\s]+)\)", r" \1 ", text)  # [here](url)
    text = re.sub(
        r"\\([a-zA-Z]+|.)",
        lambda m: _SYMBOLS.get(m[1], "" if m[1][0].isalpha() else m[1]),
        text,
    )
    text = re.sub(r"\^\{?(\w+)\}?", r"\1", text)
    text = text.replace("~", " ").replace("``", '"').replace("∆", "Δ")
    text = re.sub(r"[${}*`]", "", text)
    text = unicodedata.normalize("NFKC", text)
    return re.sub(r"[\u2010-\u2015\u2212]", "-", text).replace("’", "'")


def urls(text: str) -> list[str]:
    """Every web address of the text, without the punctuation that follows it."""
    return [url.rstrip(".,;:") for url in _URL.findall(plain(text))]


def words(text: str) -> list[str]:
    """Case-folded words; hyphens and punctuation separate, a URL is one word, an apostrophe vanishes."""
    text = plain(text).casefold().replace("'", "")
    text = _URL.sub(lambda m: " " + re.sub(r"\W|_", "", m[0]) + " ", text)
    return re.findall(r"[^\W_]+(?:\.\d[^\W_]*)*", text)


def shared_runs(digest: str, abstract: str, size: int = RUN) -> list[str]:
    """Runs of ``size`` words that the digest shares with the abstract.

    The words are compared as one unbroken stream of characters, so that "pre-training", "pretraining" and
    "pre training" are the same, from whichever of the two sides the words are counted.
    """
    found: list[str] = []
    for one, other in ((words(digest), words(abstract)), (words(abstract), words(digest))):
        stream = "".join(other)
        for start in range(len(one) - size + 1):
            run = one[start : start + size]
            if "".join(run) in stream and " ".join(run) not in found:
                found.append(" ".join(run))
    return found


def numbers(text: str) -> set[str]:
    """Every number of the text, with its %, × or B (M, K) where it has one; thousands separators are dropped.

    Numbers inside names and addresses count (GPT-4, Llama-3.1-405B); list marks such as "(1)" or "2)" do not.
    """
    text = _ENUMERATOR.sub(" ", plain(text))
    found: set[str] = set()
    for match in _NUMBER.finditer(text):
        unit = _UNIT.match(text, match.end())
        found.add(match[0].replace(",", "") + ("×" if unit and unit[2] else unit[0].strip() if unit else ""))
    return found


def names(text: str) -> set[str]:
    """Tokens that look like names: inner capitals, or letters with digits (ReVISE, NS-DPO, OLMo-7B).

    A plural "s" after a capital, a possessive and a descriptive tail ("ProX-refined") are not part of it.
    """
    found: set[str] = set()
    text = re.sub(r"(?<=[a-z])\.(?=[A-Z][a-z])", " ", _URL.sub(" ", plain(text)))  # "end.The next"
    for token in re.split(r"[\s/,;:()\[\]\"“”—]+", text):
        name = re.sub(r"'s?$", "", token.strip(".,;:!?'-"))
        head, _, tail = name.rpartition("-")
        if head and tail in _DESCRIPTIVE:
            name = head
        name = re.sub(r"(?<=[A-Z])s$", "", name)
        if not name or not name[0].isalpha():
            continue
        inner_capital = any(ch.isupper() for ch in name[1:])
        if inner_capital or any(ch.isdigit() for ch in name):
            found.add(name)
    return found


def missing_numbers(digest: str, abstract: str) -> list[str]:
    """The abstract's numbers that the digest lacks."""
    return sorted(numbers(abstract) - numbers(digest))


def missing_names(digest: str, abstract: str) -> list[str]:
    """The abstract's names and addresses that the digest lacks."""
    text = plain(digest)
    lacking = [
        name
        for name in sorted(names(abstract))
        if not re.search(rf"(?<![^\W_]){re.escape(name)}(?:s(?![^\W_])|(?![^\W_]))", text)
    ]
    return lacking + [url for url in urls(abstract) if url not in urls(digest)]


def text_faults(digest: str, abstract: str, all_abstracts: Iterable[str]) -> list[str]:
    """What is wrong with one digest, given its own abstract and all the abstracts it must not quote."""
    faults: list[str] = []
    length = len(digest.split())
    if not MIN_WORDS <= length <= MAX_WORDS:
        faults.append(f"{length} words, not {MIN_WORDS} to {MAX_WORDS}")
    if markup := _MARKUP.search(digest):
        faults.append(f"LaTeX or Markdown: {markup[0]!r}")
    for other in all_abstracts:
        faults += [f"shares {RUN} words with an abstract: {run!r}" for run in shared_runs(digest, other)]
    faults += [f"number missing: {number}" for number in missing_numbers(digest, abstract)]
    faults += [f"name missing: {name}" for name in missing_names(digest, abstract)]
    return faults


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """The records of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def read_seeds(directory: Path) -> dict[tuple[str, int], str]:
    """The abstracts of all seed files, by file name and 1-based record, in order."""
    seeds: dict[tuple[str, int], str] = {}
    for path in sorted(directory.glob("*.txt")):
        paragraphs = [p.strip() for p in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")) if p.strip()]
        for record, abstract in enumerate(paragraphs[1:], start=1):
            seeds[path.name, record] = abstract
    return seeds


def check(
    sample: Sequence[dict[str, Any]],
    seeds: dict[tuple[str, int], str],
    catalog: Iterable[dict[str, Any]],
) -> list[str]:
    """All faults of the sample, one line each."""
    faults: list[str] = []
    listed = {(entry["file"], entry["record"]): entry for entry in catalog}
    if len(sample) != EXPECTED:
        faults.append(f"sample: {len(sample)} records, not {EXPECTED}")
    if len(seeds) != len(sample):
        faults.append(f"sample: {len(sample)} records for {len(seeds)} abstracts")
    for record, (key, abstract) in zip(sample, seeds.items(), strict=False):
        label = f"{key[0]}#{key[1]}"
        expected = {"venue": VENUE, "year": YEAR}
        if key in listed:
            expected |= {field: listed[key][field] for field in ("title", "authors", "url")}
        else:
            faults.append(f"{label}: not in the catalog")
        for field, value in expected.items():
            if record.get(field) != value:
                faults.append(f"{label}: {field} is {record.get(field)!r}, not {value!r}")
        faults += [f"{label}: {what}" for what in text_faults(record["abstract"], abstract, seeds.values())]
    return faults


def main(argv: Sequence[str]) -> int:
    """Run the check; returns the exit status."""
    if len(argv) != 2:
        print("usage: python eval/check_digests.py SEEDS_DIR CATALOG_JSONL", file=sys.stderr)
        return 2
    sample = read_jsonl(SAMPLE)
    faults = check(sample, read_seeds(Path(argv[0])), read_jsonl(Path(argv[1])))
    if faults:
        print("\n".join(faults))
        return 1
    print(f"{len(sample)} digests, 0 faults")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
