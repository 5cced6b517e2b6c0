"""Write rag/data/glossary.txt: what the titles of a field have often and everyday English has not.

    pip install wordfreq
    python tools/glossary.py titles.jsonl [more.jsonl ...]     # records with a "title"

A word is kept that stands in three titles or more and at least ten times as often, among their words, as in
English at large; of two words side by side, whatever stands in two titles or more. What is written is counted
vocabulary; no title is kept, and none is needed to run or test the program.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path

from wordfreq import zipf_frequency

from rag.chain.support import COMMON
from rag.text.glossary import FILE, side_by_side
from rag.text.stem import stem
from rag.text.tokens import STOP, tokens
from rag.text.words import word_set

LEAST_WORD, LEAST_PAIR = 3, 2
# log10 of how much more often than in English at large
RARER = 1.0
# "based" and its kind join any two words; a pair with one of them is no term.
JOINTS = word_set(
    "based aware driven guided augmented enhanced wise efficient beyond across towards non re via and new",
    "better improving enhancing accelerating understanding exploring revisiting rethinking unlocking",
    "unveiling navigating overcoming demystifying elucidating unleashing enabling",
)
EMPTY = STOP | COMMON | JOINTS | set(map(stem, COMMON | JOINTS))
HEADER = """\
# Terms of machine learning: a word or two words a line, the most common first. That no paper read has them
# tells that a question is about something else (rag/text/glossary.py). Counted in {count:,} titles by
# tools/glossary.py.
"""


def main(paths: list[str]) -> None:
    lines = [line for path in paths for line in Path(path).read_text("utf-8").splitlines() if line.strip()]
    titles = sorted({json.loads(line)["title"] for line in lines})
    words: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    forms: dict[object, Counter[str]] = defaultdict(Counter)
    total = 0
    for title in titles:
        found = tokens(title)
        total += sum(token.word not in STOP for token in found)
        here = {token.stem: token.word for token in found if not EMPTY & {token.word, token.stem}}
        both = {
            (a.stem, b.stem): f"{a.word} {b.word}"
            for a, b in side_by_side(found, title)
            if not {a.word, b.word} & (STOP | JOINTS) and not {a.stem, b.stem} <= EMPTY
        }
        words.update(here.keys())
        pairs.update(both.keys())
        for key, form in (*here.items(), *both.items()):
            forms[key][form] += 1

    def excess(key: str) -> float:
        at_large = max(zipf_frequency(form, "en") for form in forms[key])
        return math.log10(words[key] / total * 1e9) - at_large

    kept = [(-n, forms[key].most_common(1)[0][0]) for key, n in pairs.items() if n >= LEAST_PAIR]
    kept += [
        (-n, forms[key].most_common(1)[0][0])
        for key, n in words.items()
        if n >= LEAST_WORD and excess(key) > RARER
    ]
    text = HEADER.format(count=len(titles)) + "".join(f"{form}\n" for _, form in sorted(kept))
    FILE.write_text(text, "utf-8")
    print(f"{len(kept)} terms of {len(titles)} titles")


if __name__ == "__main__":
    main(sys.argv[1:])
