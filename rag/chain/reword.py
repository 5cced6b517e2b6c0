"""What a question in a conversation means: reworded by the model in model mode, else by rules.

    understood("Is that hard to implement?", turns, writer).question  ->  "Is PILAF hard to implement?"

The model's wording is used if it is one question made of what was said. If it is an answer or a page of text,
or has a name or number that stands neither in the question nor in the turns, the rules decide. The last turns
are sent in short form, so that the request stays small however long the conversation is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rag.chain.converse import Cited, Resolved, Rewrite, Turn, says_which, standalone
from rag.chain.fence import fence
from rag.chain.setup import Writer
from rag.chain.turns import NOTHING, Context, Shown, mentions
from rag.ports import ChatRequest
from rag.records import Paper
from rag.text.names import Lexicon, find
from rag.text.tokens import content

TURNS = 4  # that a question may point back to
_ANSWER = 400  # characters of an answer that are sent
_TOKENS = 120
_LONGEST = 400
_LABEL = re.compile(r"^(?:(?:the\s+)?(?:rewritten|standalone|stand-alone)?\s*question\s*:)\s*", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def understood(
    question: str, turns: Sequence[Turn], writer: Writer | None = None, shown: Shown = NOTHING
) -> Rewrite:
    """Return the question as it would be asked alone.

    Of turns before the last ``TURNS`` only the numbers of their papers are known.

    Args:
        shown: papers by number that ``turns`` need not have any more.

    Raises:
        ProviderError: the writer's model cannot be had.
    """
    shown = {cited.ref: cited.paper for turn in turns for cited in turn.cited} | dict(shown)
    turns = turns[-TURNS:]
    by_rules = standalone(question, turns, shown)
    # The model is shown neither numbers nor years, so it could only guess which paper one of them is.
    if writer is None or not turns or says_which(question) or _says_it_all(by_rules, turns):
        return by_rules
    wording = _asked(question, turns, writer)
    if not _usable(wording, question, by_rules.question, turns):
        return by_rules
    if wording.casefold() == " ".join(question.split()).casefold():
        return by_rules  # small models often repeat a question, whatever it says
    named = [cited for cited in Context(turns).every if mentions(wording, cited)]
    return Rewrite(wording, (Resolved("", tuple(named)),) if named else (), "model")


def turns_of(history: Iterable[tuple[str, str, Sequence[str]]], papers: Mapping[str, Paper]) -> list[Turn]:
    """Make turns of plain records (question, answer, keys of the papers cited), oldest first.

    Papers get their numbers in the order in which they come up, as in a conversation.
    """
    refs: dict[str, int] = {}
    turns: list[Turn] = []
    for question, answer, keys in history:
        cited = tuple(
            Cited.of(refs.setdefault(key, len(refs) + 1), papers[key], f"{question} {answer}")
            for key in keys
            if key in papers
        )
        meant = understood(question, turns).question
        turns.append(Turn(question, meant, answer, cited, answered=bool(cited)))
    return turns


def _says_it_all(by_rules: Rewrite, turns: Sequence[Turn]) -> bool:
    """Whether the question names something new and has no word that points back: nothing to reword."""
    return by_rules.by is None and bool(Context(turns).foreign(by_rules.question))


def _asked(question: str, turns: Sequence[Turn], writer: Writer) -> str:
    prompt = writer.prompts.load("rewrite")
    messages = prompt.messages(history="\n".join(map(_short, turns)), question=question)
    text = ""
    for delta in writer.model.stream(ChatRequest(messages, _TOKENS)):
        text = delta.text if delta.restart else text + delta.text
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return _LABEL.sub("", lines[0]).strip("\"“”'` ") if len(lines) == 1 else ""


def _short(turn: Turn) -> str:
    answer = fence(turn.answer).text
    if len(answer) > _ANSWER:
        answer = answer[:_ANSWER].rsplit(" ", 1)[0] + " …"
    parts = [f"Asked: {turn.standalone}", f"Answered: {answer or '(the papers do not say)'}"]
    parts += [f"About: {'; '.join(cited.name for cited in turn.cited[:3])}"] if turn.cited else []
    return "\n".join(parts)


def _usable(wording: str, question: str, by_rules: str, turns: Sequence[Turn]) -> bool:
    """One question on the same thing, no longer than need be, made of names and numbers said before."""
    if not wording or len(wording) > max(_LONGEST, 2 * len(question)):
        return False
    asks = wording.endswith("?") or not question.rstrip().endswith("?")
    wanted = {token.stem for token in content(question)}
    kept = {token.stem for token in content(wording)} & wanted
    if not asks or wording[-1] in ".!" or set("{}<>[]") & set(wording) or 2 * len(kept) < len(wanted):
        return False
    said = " ".join([question, by_rules, *(f"{turn.standalone} {turn.answer}" for turn in turns)])
    said += " ".join(cited.paper.text for turn in turns for cited in turn.cited)
    lexicon = Lexicon(said)
    names = all(lexicon.has(name) for name in find(wording) if name.strong)
    return names and set(_NUMBER.findall(wording)) <= set(_NUMBER.findall(said))
