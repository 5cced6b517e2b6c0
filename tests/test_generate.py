"""Writing with a model: JSON, asked again, plain text, loops, broken streams."""

from __future__ import annotations

import json

import pytest

from rag.adapters.partial_json import read
from rag.chain.generate import Writing, plain_sentences, reply_schema
from rag.errors import ProviderError
from rag.ports import Delta
from rag.prompts import Prompts
from rag.records import Claim, Draft
from tests.chain_fakes import ScriptedModel


def said(*texts: str, answerable: bool = True) -> str:
    sentences = [{"citations": [{"ref": 1, "quote": "q"}], "text": text} for text in texts]
    return json.dumps({"answerable": answerable, "sentences": sentences})


def write(*replies: object) -> tuple[list[str], Writing, ScriptedModel]:
    model = ScriptedModel(replies)  # type: ignore[arg-type]
    writing = Writing(model, Prompts(), read, max_tokens=50)
    drafts = [draft.text for draft in writing.drafts("Why?", "<paper>", refs=[1, 2])]
    return drafts, writing, model


def test_sentences_of_a_json_reply() -> None:
    drafts, writing, model = write(said("One.", "Two."))
    assert drafts == ["One.", "Two."]
    assert (writing.declined, writing.plain) == (False, False)
    assert writing.prompt == Prompts().load("answer").info
    assert model.requests[0].max_tokens == 50
    assert model.requests[0].schema == reply_schema([1, 2])
    assert "Question: Why?" in model.requests[0].messages[-1].content


def test_a_schema_admits_only_the_numbers_given() -> None:
    text = json.dumps(reply_schema([1, 2, 3]))
    assert '"enum": [1, 2, 3]' in text
    assert text.count('"additionalProperties": false') == 3


def test_declining() -> None:
    drafts, writing, model = write(said(answerable=False))
    assert (drafts, writing.declined, len(model.requests)) == ([], True, 1)


def test_sentences_count_more_than_the_flag() -> None:
    drafts, writing, _ = write(said("One.", answerable=False))
    assert (drafts, writing.declined) == (["One."], False)


def test_no_json_is_asked_again_once_with_the_error() -> None:
    drafts, writing, model = write("Well, it is so.", said("One."))
    assert drafts == ["One."]
    again = model.requests[1].messages
    assert again[:-2] == model.requests[0].messages
    assert (again[-2].role, again[-2].content) == ("assistant", "Well, it is so.")
    assert "no valid JSON" in again[-1].content
    assert not writing.plain


def test_an_empty_list_is_asked_again_and_then_taken_for_declining() -> None:
    drafts, writing, model = write('{"answerable": true, "sentences": []}')
    assert (drafts, writing.declined, writing.plain, len(model.requests)) == ([], True, False, 2)


def test_a_model_that_cannot_write_json_is_read_as_plain_text() -> None:
    drafts, writing, model = write("Sure.", "Sure.", "It halves the cost [2]. It is fast. [1]")
    assert drafts == ["It halves the cost.", "It is fast."]
    assert writing.plain
    assert writing.prompt == Prompts().load("answer-plain").info
    assert model.requests[2].schema is None


def test_declining_in_plain_text() -> None:
    drafts, writing, _ = write("No.", "No.", "NOT STATED")
    assert (drafts, writing.declined) == ([], True)


def test_a_reply_cut_at_the_limit_keeps_its_whole_sentences() -> None:
    drafts, _, model = write(said("One.", "Two.")[:-20])
    assert (drafts, len(model.requests)) == (["One."], 1)


def test_repeated_sentences_are_shown_once_and_a_loop_is_left() -> None:
    drafts, _, _ = write(said("One.", "Two.", *["two."] * 50, "Three."))
    assert drafts == ["One.", "Two."]


def test_a_loop_inside_a_sentence_is_left() -> None:
    pieces = iter([Delta('{"sentences": [{"text": "'), *[Delta("and so on ")] * 500])
    model = ScriptedModel([pieces])  # one stream for all requests: what is left of it tells what was read
    writing = Writing(model, Prompts(), read, max_tokens=50)
    assert list(writing.drafts("Why?", "", refs=[1])) == []
    assert len(list(pieces)) > 400


def test_a_restarted_stream_does_not_repeat_what_was_shown() -> None:
    whole = said("One.", "Two.")
    broken = [Delta(whole[:80]), Delta(restart=True), Delta(whole), Delta(finish_reason="stop")]
    drafts, _, _ = write(broken)
    assert drafts == ["One.", "Two."]


def test_the_models_error_is_passed_on() -> None:
    with pytest.raises(ProviderError, match="gone"):
        write(ProviderError("gone"))


def test_plain_sentences_and_their_marks() -> None:
    text = "It is 7.66× faster [1, 3]. **It** helps e.g. coding.[2]\n- A point [2].\n2. Another.\n[1]"
    assert plain_sentences(text) == [
        Draft("It is 7.66× faster.", (Claim(1), Claim(3))),
        Draft("**It** helps e.g. coding.", (Claim(2),)),
        Draft("A point.", (Claim(2),)),
        Draft("Another.", (Claim(1),)),
    ]
