"""Reads a model's JSON reply as it streams in, forgiving what models get wrong.

    >>> from rag.adapters.partial_json import read
    >>> reply = Reply(read)
    >>> pieces = ['{"answerable": true, "sentences": [{"text": "It is fast."', '}, {"text": "It', ' is."}]}']
    >>> [[draft.text for draft in reply.feed(piece)] for piece in pieces]   # as soon as one is complete
    [[], ['It is fast.'], ['It is.']]
    >>> reply.answerable, reply.error
    (True, None)

Forgiven: code fences and prose around the object, trailing commas, raw line breaks, stray backslashes and
LaTeX macros in strings, ``True``/``None``, bare strings instead of objects, references written as "[2]" or
"paper 2".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from rag.records import Claim, Draft
from rag.text.normalise import is_interval
from rag.text.words import word_set

_NUMBER = re.compile(r"\d{1,4}")
_MARKS = re.compile(r"\s*[\[(【]\s*(?:papers?\s*)?(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*[\])】]", re.I)
_START = re.compile(r"\{|\[(?=\s*[{\"])")
_WORDS = {"True": "true", "False": "false", "None": "null"}
_ESCAPES = set('"\\/bfnrtu')
_HEX = re.compile(r"u[0-9A-Fa-f]{4}")
_LETTERS = re.compile(r"[A-Za-z]+")
# Macros that begin like an escape: "\times" is no tab before "imes". Nobody writes \b or \f for what they
# mean in JSON, so behind these two any word is a macro.
_MACROS = word_set(
    "nabla natural ncong ne nearrow neg neq newline nexists ngeq nicefrac nleq nmid noindent nolimits",
    "nonumber norm not notin nparallel nprec nsim nsubseteq nsucc nu num nwarrow",
    "rVert rangle rbrace rbrack rceil real ref renewcommand rfloor rho right rightarrow",
    "rightharpoonup rightleftharpoons rm root rtimes rule rvert",
    "tag tan tanh tau tbinom text textasciitilde textbf textcolor textgreater textit textless textmd",
    "textnormal textpm textquotesingle textrm textsc textsf textsl textstyle textsubscript",
    "textsuperscript texttimes texttt textup textwidth tfrac therefore theta thickapprox thicksim",
    "thinspace tilde times tiny to top triangle triangleleft triangleq triangleright tt",
)


class JsonReader(Protocol):
    """Parses JSON; with ``partial``, what is complete of it. Raises ValueError."""

    def __call__(self, text: str, partial: bool = False) -> object: ...


class Reply:
    """A reply under way. Feed it pieces; ask for ``answerable`` and ``error`` at the end."""

    def __init__(self, read: JsonReader) -> None:
        self._read = read
        self._seen = self._given = 0
        self.text = ""
        self.answerable: bool | None = None

    def feed(self, piece: str) -> Iterator[Draft]:
        """Take a piece, yield the sentences that it completes."""
        self.text += piece
        if "}" in piece or "]" in piece:
            yield from self._fresh()

    def restart(self) -> None:
        """Forget everything: the reply begins anew."""
        self.text, self._seen, self._given, self.answerable = "", 0, 0, None

    def finish(self) -> Iterator[Draft]:
        """Yield what the last pieces completed, also when the object was never closed."""
        yield from self._fresh()

    @property
    def error(self) -> str | None:
        """What is wrong with the whole reply, for the model to read; None if it can be used."""
        if self._given:
            return None
        try:
            value = self._read(repaired(self.text))
        except ValueError as error:
            return f"no valid JSON: {error}"
        if self.answerable is False:
            return None
        items = _items(value)
        return 'there is no "sentences"' if items is None else '"sentences" is empty'

    def _fresh(self) -> Iterator[Draft]:
        source = repaired(self.text)
        try:
            value = self._read(source, partial=True)
        except ValueError:
            return
        if isinstance(value, dict) and isinstance(value.get("answerable"), bool):
            self.answerable = value["answerable"]
        items = _items(value) or []
        complete = len(items) if self._closed(source) else len(items) - 1
        for item in items[self._seen : complete]:
            self._seen += 1
            if (draft := to_draft(item)) is not None:
                self._given += 1
                yield draft

    def _closed(self, source: str) -> bool:
        """Whether the last item of the list has arrived whole."""
        begun = source.rstrip().removesuffix(",")
        for ending in ("", "]}", "}", "]"):
            try:
                self._read(begun + ending)
            except ValueError:
                continue
            return True
        return False


def _items(value: object) -> list[object] | None:
    if isinstance(value, dict):
        value = value.get("sentences", value.get("answer"))
        value = [value] if isinstance(value, str) else value
    return value if isinstance(value, list) else None


def to_draft(item: object) -> Draft | None:
    """Return the sentence meant by one item of the list; None when it has no text."""
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict):
        return None
    said = item.get("text", item.get("sentence"))
    if not isinstance(said, str):
        return None
    text, marked = unmarked(said)
    cited = item.get("citations", item.get("citation", []))
    claims = [claim for one in (cited if isinstance(cited, list) else [cited]) for claim in _claims(one)]
    known = {claim.ref for claim in claims}
    claims += [Claim(ref) for ref in marked if ref not in known]
    return Draft(text, tuple(dict.fromkeys(claims))) if text else None


def unmarked(text: str) -> tuple[str, list[int]]:
    """Split "It wins [1, 3]." into the sentence and the numbers; an interval stays in the sentence."""
    numbers = [
        int(n) for match in _MARKS.finditer(text) if _is_mark(match) for n in _NUMBER.findall(match[1])
    ]
    bare = _MARKS.sub(lambda match: "" if _is_mark(match) else match[0], text)
    return " ".join(bare.split()), numbers


def _is_mark(match: re.Match[str]) -> bool:
    """ "(3)" alone is text as often as not; "[3]" and "(paper 3)" are marks, and no paper has number 0."""
    if "paper" in match[0].lower():
        return True
    cites = all(int(n) for n in _NUMBER.findall(match[1])) and not is_interval(match)
    return "(" not in match[0] and cites


def _claims(cited: object) -> list[Claim]:
    quote = ""
    if isinstance(cited, dict):
        said = cited.get("quote", cited.get("text", ""))
        quote = " ".join(said.split()) if isinstance(said, str) else ""
        cited = next((cited[name] for name in ("ref", "paper", "number", "id") if name in cited), None)
    if isinstance(cited, bool) or cited is None:
        return []
    found = _NUMBER.search(str(cited)) if isinstance(cited, int | float | str) else None
    return [Claim(int(found[0]), quote)] if found else []


def repaired(text: str) -> str:
    """Return the JSON inside ``text`` with the usual slips mended; it may still be incomplete."""
    start = _START.search(text)
    if not start:
        return text
    out: list[str] = []
    i, depth = start.start(), 0
    while i < len(text):
        if text[i] == '"':
            piece, i = _string(text, i)
            out.append(piece)
            continue
        word = re.match(r"True|False|None", text[i : i + 5])
        piece = _WORDS[word[0]] if word else text[i]
        depth += (piece in "{[") - (piece in "}]") if not word else 0
        if piece in "}]" and out:
            _drop_comma(out)
        out.append(piece)
        i += len(word[0]) if word else 1
        if depth == 0:
            break
    return "".join(out)


def _drop_comma(out: list[str]) -> None:
    while out and out[-1].isspace():
        out.pop()
    if out and out[-1] == ",":
        out.pop()


def _string(text: str, start: int) -> tuple[str, int]:
    """The string that begins at ``start``, escaped as JSON wants it, and the offset behind it."""
    out = ['"']
    i = start + 1
    while i < len(text):
        char = text[i]
        if char == "\\":
            following = text[i + 1 : i + 2]
            kept = not following or (following in _ESCAPES and not _is_macro(text, i + 1))
            out.append(char + following if kept else "\\\\" + following)
            i += 2
            continue
        out.append(" " if char < " " else char)
        i += 1
        if char == '"':
            break
    return "".join(out), i


def _is_macro(text: str, at: int) -> bool:
    """Whether the letters at ``at``, behind a backslash, name a LaTeX macro and are no escape of JSON."""
    letters = _LETTERS.match(text, at)
    if letters is None:
        return False
    if text[at] == "u":
        return not _HEX.match(text, at)
    if text[at] in "bf":
        return len(letters[0]) > 1
    after = text[letters.end() : letters.end() + 2]
    return letters[0] in _MACROS and not (letters[0] == "ne" and after.startswith("."))  # a new line "e.g."
