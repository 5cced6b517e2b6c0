"""True sentences that answer something else are held back."""

from __future__ import annotations

import json

import pytest

from rag.adapters.partial_json import read
from rag.chain import found
from rag.chain.abstain import Decision
from rag.chain.answer import Options, Writer, answer
from rag.chain.pertinent import Waiting
from rag.prompts import Prompts
from rag.records import Answer, Citation, Sentence
from tests.chain_fakes import ScriptedModel, paper, pile_of

VINE = paper("vine", "VinePPO computes unbiased estimates of value. It needs 9x fewer gradient updates.")
EDIT = paper("edit", "AnyEdit decomposes knowledge of long form. It gains 21.5% over MEMIT.")
MORE = [paper(f"m{i}", f"Method {i} trains models.") for i in range(6)]


def said(text: str, key: str) -> Sentence:
    return Sentence(text, "supported", (Citation(1, key, "", 0, 0, 1.0),))


def shown(question: str, *sentences: Sentence) -> tuple[list[int], str | None]:
    """How many sentences were let through after each, and why the rest was refused."""
    waiting = Waiting(question, [VINE, EDIT, *MORE])
    counts = [len(waiting.take(sentence)) for sentence in sentences]
    refused = waiting.refused()
    return counts, refused[0].note if refused else None


WORKS = said("VinePPO computes unbiased estimates.", "vine")
FIGURE = said("It needs 9x fewer updates.", "vine")
OTHER = said("AnyEdit gains 21.5% over MEMIT.", "edit")


@pytest.mark.parametrize(
    ("question", "sentences", "counts", "note"),
    [
        # Nothing in particular is asked for: each sentence at once.
        ("How does VinePPO work?", [WORKS, FIGURE], [1, 1], None),
        # A preamble waits for the figure and comes out before it.
        ("How many updates does VinePPO save?", [WORKS, FIGURE, WORKS], [0, 2, 1], None),
        ("Which GPU was VinePPO trained on?", [WORKS, FIGURE], [0, 0], "does not state which GPU"),
        (
            "How much does VinePPO gain?",
            [OTHER],
            [0],
            "is about another paper than the question",
        ),
        # A second paper may follow once the one asked about has spoken.
        ("What does VinePPO do that others do not?", [OTHER, WORKS, OTHER], [0, 2, 1], None),
        # Others are what is asked for.
        ("What is there besides VinePPO?", [OTHER], [1], None),
        # A name that no paper read has picks out none; whether to answer at all was decided before.
        ("How does WarpNet work?", [OTHER], [1], None),
    ],
)
def test_held_until_it_answers(
    question: str, sentences: list[Sentence], counts: list[int], note: str | None
) -> None:
    assert shown(question, *sentences) == (counts, note)


def test_what_is_refused_is_removed_and_the_answer_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "judge", lambda weighed: Decision(True, 0.9))
    item = {
        "citations": [{"ref": 1, "quote": "VinePPO computes unbiased estimates of value."}],
        "text": "VinePPO computes unbiased estimates of value.",
    }
    model = ScriptedModel([json.dumps({"answerable": True, "sentences": [item]})])
    seen: list[Sentence] = []

    def ask(options: Options) -> Answer:
        writer = Writer(model, Prompts(), read)
        question = "Which GPU was VinePPO trained on?"
        return answer(question, pile_of(VINE, EDIT), writer=writer, options=options, on_sentence=seen.append)

    result = ask(Options())
    assert (result.status, result.reason) == (
        "abstained",
        "What the model wrote does not state which GPU.",
    )
    assert [s.note for s in result.removed] == ["does not state which GPU"]
    assert seen == []
    unchecked = ask(Options(verify="off"))
    assert unchecked.status == "answered"
