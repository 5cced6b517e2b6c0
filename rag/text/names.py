"""Names of systems, datasets and models: which words are names, and whether a text has a name.

    >>> [name.text for name in find("Does μCODE beat Llama-3.1-405B on SWE-bench with RL?")]
    ['μCODE', 'Llama-3.1-405B', 'SWE-bench', 'RL']
    >>> lexicon = Lexicon("muCODE runs on Llama 3.1 405B, using reinforcement learning.")
    >>> [lexicon.has(name) for name in find("μCODE, Llama-3.1-405B, GPT-4, RL")]
    [True, True, False, True]

A name is a word with a capital or a digit where ordinary words have none; a word with a first capital counts
where no sentence begins. Spellings are compared without case, hyphens, spaces and the plural s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rag.text.acronyms import ACRONYMS
from rag.text.normalise import plain, spell_greek
from rag.text.stem import stem
from rag.text.tokens import STOP
from rag.text.words import word_set


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written, its key for comparing, and where it stands in ``plain(text)``.

    ``strong`` names are unmistakable (inner capital, digit, all capitals); the others are capitalised words.
    """

    text: str
    key: str
    strong: bool
    start: int
    end: int


_WORD = re.compile(r"[^\W_](?:[\w.+'/-]*[\w+])?")
# "Qwen2.5" and "Qwen 2.5" have one spelling, and neither has a piece "Qwen2".
_PIECE = re.compile(r"(?:\d+(?:[.,]\d+)*[^\W_]*|[^\W_]+\d(?:\.\d+)+[^\W_]*|[^\W_]+)\+*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]['\")\]]* |[\"(\[]|^\d+[.)] |[*•] )\Z")
_ROMAN = re.compile(r"[IVX]+")
_VERSIONED = re.compile(r"[a-z]+\d|[a-z]+-\d+\.\d")
# After a space only "3.1" and its kind is a version: "BLEU 28.4" and "HR 0.75" are measures and values.
_VERSION = re.compile(
    r"(?:(?:-\d+(?:\.\d+)+| [1-9]\.\d(?:\.\d+)*|[ -](?:\d+(?:\.\d+)?[BbMK]|[vV]\d+))(?![\w%×]|\.\d))+"
)
_MEASURES = word_set(
    "bleu rouge rouge-l meteor chrf comet f1 auc auroc auprc map mrr ndcg em wer cer ppl psnr ssim fid mse",
    "mae rmse nll bpb elo or hr rr sd ci acc top-1 top-5 pass@1",
)
_EXPLAINED = re.compile(r"(?<![^\W_])(?P<words>(?:[^\W_]+[ -]){2,8})\((?P<short>[A-Z]{2,6}s?)\)")
_DATED = re.compile(r"([a-z]{3,})([012]\d)")
_TAIL = re.compile(
    r"-(?:[a-z]+ed|like|style|level|free|aware|driven|only|specific|generated|written|sized)\Z"
)
_LONGEST = 5
# Capitalised for reasons other than being a name.
_NOT_NAMES = word_set(
    "i we our the this that these those it its in on for to",
    "a an and or of by with from as at is are what which",
    "who how why when where does do did can compare list name show tell explain describe give find",
    "background methods method results result conclusion conclusions objective objectives purpose aim aims",
    "design setting patients participants introduction discussion abstract english",
)


# One question looks at the same dozen papers, their titles and sentences several times.
@lru_cache(maxsize=1024)
def find(text: str) -> tuple[Name, ...]:
    """Return the names of ``text`` in order."""
    folded = plain(text)
    return tuple(_joined(folded, list(_candidates(folded))))


def _candidates(text: str) -> Iterator[Name]:
    titled = _is_titled(text)
    for match in _WORD.finditer(text):
        for part in re.finditer(r"[^/]+", match[0]):
            word = part[0].removesuffix("'s").removesuffix("'")
            start = match.start() + part.start()
            end = start + len(word)
            if word.lower() in _NOT_NAMES or not any(c.isalpha() for c in word):
                continue
            if _is_strong(word) and text[end : end + 1] != ":":
                yield Name(word, key(word), True, start, end)
            elif word[0].isupper() and len(word) > 1 and not titled and _is_capital_telling(text, start, end):
                yield Name(word, key(word), False, start, end)


def _is_capital_telling(text: str, start: int, end: int) -> bool:
    """Whether a first capital makes a name: not where a sentence begins, unless a version follows."""
    return not _starts_sentence(text, start) or _with_version(text, end) > end


def _is_strong(word: str) -> bool:
    """Whether a word is written like no ordinary word: AnyEdit, μCODE, LLMs, GPT-4o, o1, Q-RM."""
    if word[0].isdigit():
        return False
    if any(c.isdigit() for c in word):
        return any(c.isupper() for c in word) or bool(_VERSIONED.match(word))
    rest = word[1:].removesuffix("s") if word[1:2].isupper() else word[1:]
    if not any(c.isupper() for c in rest):
        return False
    if "-" in word:
        return any(
            _is_strong(part) or (len(part) == 1 and part.isupper()) for part in word.split("-") if part
        )
    return not _ROMAN.fullmatch(word)


def _is_titled(text: str) -> bool:
    """Whether Every Word Has A Capital, so that capitals tell nothing."""
    long_words = [w for w in _WORD.findall(text) if len(w) > 3 and w[0].isalpha()]
    return len(long_words) > 3 and sum(w[0].isupper() for w in long_words) > 0.7 * len(long_words)


def _starts_sentence(text: str, start: int) -> bool:
    return bool(_SENTENCE_START.search(text, max(0, start - 6), start)) if start > 5 else _opens(text, start)


def _opens(text: str, start: int) -> bool:
    return not any(c.isalnum() for c in text[:start])


def _joined(text: str, names: list[Name]) -> Iterator[Name]:
    """Put neighbouring words of one name together: "Ladder Residual", "Llama 3.1 405B", "Monte Carlo"."""
    i = 0
    while i < len(names):
        j = i
        while j + 1 < len(names) and text[names[j].end : names[j + 1].start] == " ":
            j += 1
        start, end = names[i].start, _with_version(text, names[j].end)
        strong = any(name.strong for name in names[i : j + 1])
        whole = text[start:end]
        if j > i and strong and not all(n.strong for n in names[i : j + 1]):
            yield from names[i : j + 1]
        else:
            yield Name(whole, key(whole), strong or end > names[j].end, start, end)
        i = j + 1


def _with_version(text: str, end: int) -> int:
    word = re.search(r"[^\s(]*\Z", text[max(0, end - 12) : end])
    if word and word[0].lower() in _MEASURES and text[end : end + 1] == " ":
        return end
    found = _VERSION.match(text, end)
    return found.end() if found else end


def short_forms(text: str) -> dict[str, tuple[str, ...]]:
    """Return the acronyms that a text explains, each with its words in lower case.

    >>> short_forms("Improving time-to-first-token (TTFT) of large language models (LLMs)")
    {'ttft': ('time', 'to', 'first', 'token'), 'llm': ('large', 'language', 'models')}
    """
    found = {}
    for match in _EXPLAINED.finditer(plain(text)):
        letters = match["short"].removesuffix("s").lower()
        words = _PIECE.findall(match["words"].lower())[-len(letters) :]
        if "".join(word[0] for word in words) == letters:
            found[letters] = tuple(words)
    return found


def key(text: str) -> str:
    """Return the spelling that two ways of writing one name share."""
    pieces = [_singular(piece) for piece in _pieces(text)]
    return "".join(pieces)


def _pieces(text: str) -> list[str]:
    return [spell_greek(piece.lower()) for piece in _PIECE.findall(plain(text))]


def _singular(piece: str) -> str:
    return piece[:-1] if len(piece) > 3 and piece.endswith("s") and not piece.endswith("ss") else piece


# "Reinforcement learning from human feedback" is a name, "more and even" none.
_JOINS_NO_NAME = STOP - word_set("of from for to with by in on")


class Lexicon:
    """What a text has: every run of up to five word pieces by its key, and the initials of its words."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = [_singular(piece) for piece in _pieces(text)]

    @cached_property
    def keys(self) -> frozenset[str]:
        words = self._words
        return frozenset(
            "".join(words[i : i + n]) for n in range(1, _LONGEST + 1) for i in range(len(words) - n + 1)
        )

    @cached_property
    def initials(self) -> str:
        """Initials of words that follow one another, apart where a clause ends or a word joins no name."""
        clauses = re.split(r"[.,;:!?()]+(?:\s|$)", plain(self._text))
        words = (word for clause in clauses for word in (*_pieces(clause), "|"))
        return "".join("|" if word in _JOINS_NO_NAME else word[0] for word in words)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(stem(piece) for piece in _pieces(self._text))

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """The acronyms that stand in the text, in lower case."""
        return frozenset(n.key for n in find(self._text) if n.text.rstrip("s").isupper() and n.text.isalpha())

    def has(self, name: Name) -> bool:
        """Return whether the text has the name, as written otherwise, spelled out or as its acronym."""
        if name.key in self.keys or self.spells_out(name) or self._has_stem_of(name):
            return True
        if (dated := _DATED.fullmatch(name.key)) and f"{dated[1]}20{dated[2]}" in self.keys:
            return True  # "WMT14" is "WMT 2014"
        pieces = [p for p in _pieces(name.text) if p not in STOP]
        if len(pieces) < 2:
            return False
        if "".join(p[0] for p in pieces) in self.acronyms:
            return True
        # "Large Language Models" or "Tensor Parallelism" is no proper name: its words need only be there.
        return not name.strong and all(stem(piece) in self._stems for piece in pieces)

    def _has_stem_of(self, name: Name) -> bool:
        """ "ProX-refined" and "Llama-based" have the name that their first part is."""
        tail = _TAIL.search(name.text)
        return tail is not None and key(name.text[: tail.start()]) in self.keys

    def spells_out(self, name: Name) -> bool:
        """Return whether the words that an acronym stands for follow one another in the text."""
        letters = name.text.rstrip("s")
        low = letters.lower()
        if low in ACRONYMS:
            return key(ACRONYMS[low]) in self.keys
        return len(low) > 2 and letters.isalpha() and letters.isupper() and low in self.initials
