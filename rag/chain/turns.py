"""The turns of a conversation as later questions see them, and which of their papers a word may stand for.

context = Context(turns)          # oldest first, at least one
context.main()                    # the paper that "it" stands for
context.listed[1]                 # "the second one"
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from types import MappingProxyType

from rag.chain.calling import called
from rag.chain.fence import fence
from rag.records import Paper
from rag.text.names import Lexicon, Name, find, key
from rag.text.normalise import fold
from rag.text.stem import stem
from rag.text.tokens import content

# Chinese, Japanese, Thai and their neighbours write no spaces: there each letter may begin or end a name.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+\+*")

Shown = Mapping[int, Paper]
"""The papers of a conversation by the numbers they were printed with."""
NOTHING: Shown = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Cited:
    """A paper of the conversation: its number there, what to call it, how many sentences rest on it."""

    ref: int
    paper: Paper
    name: str
    sentences: int = 1

    @classmethod
    def of(cls, ref: int, paper: Paper, spoken: str = "", sentences: int = 1) -> Cited:
        """Name ``paper``; ``spoken`` is what was said about it. The name is fit for a prompt."""
        return cls(ref, paper, fence(called(paper, spoken)).text, sentences)

    def is_called(self, words: str) -> bool:
        """Whether the words call the paper by its name, or all that say something stand in name or title."""
        wanted = stems(words)
        return mentions(words, self) or (
            bool(wanted) and wanted <= stems(f"{self.name} {self.paper.title or ''}")
        )

    @property
    def is_title(self) -> bool:
        """Whether the paper has no name of its own, so that its title stands for it."""
        return self.name.startswith("“")


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn, reduced to what later ones may need.

    ``cited`` are the papers of its answer in the order shown; after an abstention (``answered`` false) the
    nearest ones, if they were shown.
    """

    question: str
    standalone: str
    answer: str = ""
    cited: tuple[Cited, ...] = ()
    answered: bool = True


class Context:
    """What was said, asked for the papers that a word may stand for.

    ``turns`` may be the last ones only; ``shown`` has the papers of those before as well.
    """

    def __init__(
        self, turns: Sequence[Turn], shown: Shown = NOTHING, subject: tuple[Cited, ...] | None = None
    ) -> None:
        self._turns, self._shown, self._subject = turns, shown, subject

    def about(self, papers: tuple[Cited, ...]) -> Context:
        """The same conversation when it has gone back to ``papers``."""
        return Context(self._turns, self._shown, papers)

    @property
    def last(self) -> Turn:
        return self._turns[-1]

    @cached_property
    def every(self) -> tuple[Cited, ...]:
        """All papers of the conversation, those shown last first."""
        found = {cited.ref: cited for turn in self._turns for cited in turn.cited}
        recent = [cited.ref for turn in reversed(self._turns) for cited in turn.cited]
        return tuple(found[ref] for ref in dict.fromkeys(recent))

    @property
    def listed(self) -> tuple[Cited, ...]:
        """The papers a reader has before them: those of the last turn that showed any."""
        return next((turn.cited for turn in reversed(self._turns) if turn.cited), ())

    def numbered(self, ref: int) -> tuple[Cited, ...]:
        """The paper that was printed with a number; none when the number was never printed."""
        recent = tuple(cited for cited in self.every if cited.ref == ref)
        if recent or ref not in self._shown:
            return recent
        return (Cited.of(ref, self._shown[ref]),)

    @cached_property
    def subject(self) -> tuple[Cited, ...]:
        """The papers the last turn was about; none when it asked about something that no paper is on."""
        if self._subject is not None:
            return self._subject
        if self.last.answered and self.last.cited:
            return self.last.cited
        return tuple(cited for cited in self.every if mentions(self.last.standalone, cited))[:1]

    @property
    def pair(self) -> tuple[Cited, ...]:
        """The two papers spoken of last: those of one answer, or of the last two on different papers."""
        spoken: dict[int, Cited] = {}
        for turn in reversed(self._turns):
            if turn.answered:
                ordered = sorted(turn.cited, key=lambda cited: -cited.sentences)
                spoken |= {cited.ref: cited for cited in ordered[:2] if cited.ref not in spoken}
            if len(spoken) >= 2:
                break
        return tuple(sorted(spoken.values(), key=lambda cited: cited.ref)[:2]) if len(spoken) >= 2 else ()

    def main(self) -> tuple[Cited, ...]:
        """The paper that "it" stands for: the one named last, else the one most sentences rest on."""
        named = [cited for cited in self.subject if mentions(self.last.standalone, cited)]
        return tuple(named[:1] or sorted(self.subject, key=lambda cited: -cited.sentences)[:1])

    def called(self, words: str) -> Cited | None:
        """The paper of the conversation, other than the main one, whose name or title has all the words."""
        others = [cited for cited in self.every if cited not in self.main()]
        return next((cited for cited in others if cited.is_called(words)), None)

    def foreign(self, question: str) -> tuple[Name, ...]:
        """The unmistakable names of a question that no paper it may be about has."""
        known = [Lexicon(cited.paper.text) for cited in self.subject]
        strong = (name for name in find(question) if name.strong)
        return tuple(name for name in strong if not any(lexicon.has(name) for lexicon in known))

    def new_names(self) -> tuple[str, ...]:
        """What the last answer named that its question did not: things of the main paper, not the paper."""
        asked = Lexicon(self.last.standalone)
        found: dict[str, str] = {}
        for name in find(self.last.answer):
            of_it = any(Lexicon(cited.paper.text).has(name) for cited in self.main())
            is_it = any(mentions(name.text, cited) or places(cited.name, name.key) for cited in self.main())
            if name.strong and of_it and not is_it and not asked.has(name):
                found.setdefault(name.key, name.text)
        return tuple(found.values())

    def shared(self, question: str) -> float:
        """Share of the question's words that the main paper has."""
        words = stems(question)
        have = {one for cited in self.main() for one in stems(cited.paper.text)}
        return len(words & have) / len(words) if words else 0.0

    def has_word(self, word: str) -> bool:
        """Whether the main paper has a word, in any form."""
        return any(stem(word.lower()) in stems(cited.paper.text) for cited in self.main())


def stems(text: str) -> frozenset[str]:
    """The stems of the words of a text that say something."""
    return frozenset(token.stem for token in content(text))


def mentions(text: str, cited: Cited) -> bool:
    """Whether ``text`` calls the paper by its name or title."""
    return bool(places(text, key(cited.name)))


def places(text: str, wanted: str) -> tuple[tuple[int, int], ...]:
    """Where whole words of ``text`` make the name with the key ``wanted``, as (start, end), in order.

    "spec prefill", "Spec-Prefill" and "SPECPREFILL" are SpecPrefill; "approximate" is not ProX.
    """
    if not wanted or wanted not in key(text):
        return ()
    folded = fold(text)
    words = [match.span() for match in _WORD.finditer(folded.text)]
    found: list[tuple[int, int]] = []
    past = 0
    for at, (start, _) in enumerate(words):
        end = _end_of(wanted, folded.text, words, at) if start >= past else None
        if end is not None:
            found.append(folded.back(start, end))
            past = end
    return tuple(found)


def _end_of(wanted: str, text: str, words: Sequence[tuple[int, int]], at: int) -> int | None:
    """Where the run of words that begins with number ``at`` and has the key ``wanted`` ends."""
    start, first = words[at]
    if not wanted.startswith(key(text[start:first])):
        return None
    for _, end in islice(words, at, None):
        made = key(text[start:end])
        if len(made) >= len(wanted):
            return end if made == wanted else None
    return None


def together(papers: Sequence[Cited]) -> str:
    """``A, B and C``."""
    names = [cited.name for cited in papers]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""
