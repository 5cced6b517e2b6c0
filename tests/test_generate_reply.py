"""Reading replies: as they stream in, cut anywhere, and with the slips that models make."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.adapters.partial_json import read
from rag.chain.reply import Reply, repaired, to_draft, unmarked
from rag.records import Claim, Draft

TWO = json.dumps(
    {
        "answerable": True,
        "sentences": [
            {"citations": [{"ref": 2, "quote": "7.66× of {it}"}], "text": 'It is "fast" ].'},
            {"citations": [{"ref": 1, "quote": "b"}, {"ref": 3, "quote": ""}], "text": "It is small."},
        ],
    },
    ensure_ascii=False,
)
DRAFTS = [
    Draft('It is "fast" ].', (Claim(2, "7.66× of {it}"),)),
    Draft("It is small.", (Claim(1, "b"), Claim(3, ""))),
]


def drafts_of(*pieces: str) -> tuple[list[Draft], Reply]:
    reply = Reply(read)
    drafts = [draft for piece in pieces for draft in reply.feed(piece)]
    return [*drafts, *reply.finish()], reply


def test_a_sentence_comes_as_soon_as_it_is_complete() -> None:
    reply = Reply(read)
    end_of_first = TWO.index("].") + 4
    assert list(reply.feed(TWO[: end_of_first - 1])) == []
    assert list(reply.feed(TWO[end_of_first - 1 : end_of_first])) == DRAFTS[:1]
    assert list(reply.feed(TWO[end_of_first:-2])) == DRAFTS[1:]
    assert reply.answerable is True
    assert reply.error is None


@given(st.lists(st.integers(0, len(TWO)), max_size=12))
def test_pieces_may_be_cut_anywhere(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(TWO)]
    assert drafts_of(*(TWO[a:b] for a, b in pairwise(edges)))[0] == DRAFTS


@given(st.integers(0, len(TWO)))
def test_a_reply_cut_off_gives_only_whole_sentences(length: int) -> None:
    drafts, _ = drafts_of(TWO[:length])
    assert drafts == DRAFTS[: len(drafts)]


@given(st.text(alphabet='{}[]",:\\ntrue1 ', max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    drafts, reply = drafts_of(text)
    assert all(draft.text for draft in drafts)
    assert (reply.error is None) == bool(drafts or reply.answerable is False)


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{TWO}\n```",
        f"As [1] and [2] say:\n\n{TWO}\n\nI hope this helps [1]!",
        TWO.replace("}]}", "},],}"),
        TWO.replace("true", "True"),
        TWO[:-2],
        TWO[:-1],
    ],
)
def test_usual_slips_are_forgiven(text: str) -> None:
    drafts, reply = drafts_of(text)
    assert drafts == DRAFTS
    assert reply.error is None


def test_strings_are_mended() -> None:
    drafts, _ = drafts_of('{"sentences": [{"text": "a \\times b\nof \\alpha and \\"c\\"", "citations": []}]}')
    assert drafts == [Draft('a \\times b of \\alpha and "c"')]


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        (r"a $7.66\times$ speedup", r"a $7.66\times$ speedup"),
        (r"\beta, \bar{x}, \begin{x}, \boldsymbol{w}", r"\beta, \bar{x}, \begin{x}, \boldsymbol{w}"),
        (r"\frac{1}{2} and \forall", r"\frac{1}{2} and \forall"),
        (r"\nu, \nabla f, a \neq b, a \ne b", r"\nu, \nabla f, a \neq b, a \ne b"),
        (r"\rho \right) \rightarrow", r"\rho \right) \rightarrow"),
        (r"\tau, \theta_1, \text{x}, \textbf{y}, x \to 0", r"\tau, \theta_1, \text{x}, \textbf{y}, x \to 0"),
        (r"\underline{x}, \upsilon and \u12", r"\underline{x}, \upsilon and \u12"),
        (r"\\times and \\nu, escaped as they should be", r"\times and \nu, escaped as they should be"),
        (r"one\nThe other\r\nline\tand \u00d7, \ud83d\ude00", "one The other line and ×, 😀"),
        (r"one\ne.g. two\nnotes\tthe third\/ \"x\"", 'one e.g. two notes the third/ "x"'),
    ],
)
def test_macros_are_no_escapes(written: str, read_as: str) -> None:
    source = f'{{"sentences": [{{"text": "{written}", "citations": [1]}}]}}'
    assert drafts_of(source)[0] == [Draft(read_as, (Claim(1),))]
    for cut in range(len(source)):
        assert drafts_of(source[:cut], source[cut:])[0] == [Draft(read_as, (Claim(1),))]


def test_repair_leaves_good_json_alone() -> None:
    assert repaired(TWO) == TWO


@pytest.mark.parametrize(
    ("item", "draft"),
    [
        ("Bare words [2].", Draft("Bare words.", (Claim(2),))),
        ({"sentence": "Other name.", "citation": 4}, Draft("Other name.", (Claim(4),))),
        ({"text": "S.", "citations": ["[1]", "paper 3", 2.0]}, Draft("S.", (Claim(1), Claim(3), Claim(2)))),
        (
            {"text": "S [1, 2].", "citations": [{"paper": 1, "text": "q"}]},
            Draft("S.", (Claim(1, "q"), Claim(2))),
        ),
        ({"text": "S.", "citations": [{"quote": "without number"}, None, True]}, Draft("S.")),
        ({"text": "S.", "citations": {"ref": "1"}}, Draft("S.", (Claim(1),))),
        ({"text": "  "}, None),
        ({"text": 5}, None),
        (7, None),
    ],
)
def test_items_of_other_shapes(item: object, draft: Draft | None) -> None:
    assert to_draft(item) == draft


def test_only_marks_are_taken_out_of_a_sentence() -> None:
    assert unmarked("It beats (3) others (paper 2) by 5 [1; 4].") == ("It beats (3) others by 5.", [2, 1, 4])


@pytest.mark.parametrize(
    "text",
    [
        "The score is normalised to [0, 1].",
        "It takes values in [1, 5].",
        "The rating lies in the range [1; 10] (paper-wise).",
        "The gain was 13% (95% CI [12, 15]).",
        "It starts at x[0].",
    ],
)
def test_an_interval_is_no_mark(text: str) -> None:
    assert unmarked(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "bare", "refs"),
    [
        ("It wins [1, 3].", "It wins.", [1, 3]),
        ("As shown in [1, 2] it wins.", "As shown in it wins.", [1, 2]),
        ("The score reported in [1, 2] wins.", "The score reported in wins.", [1, 2]),
        ("It wins in the range [0, 1] [2][3].", "It wins in the range [0, 1].", [2, 3]),
        ("It is clipped to the range [4].", "It is clipped to the range.", [4]),
    ],
)
def test_what_may_be_a_citation_is_one(text: str, bare: str, refs: list[int]) -> None:
    assert unmarked(text) == (bare, refs)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("I do not know.", "no valid JSON"),
        ('{"answerable": true, "sentences": []}', '"sentences" is empty'),
        ('{"answerable": true}', 'there is no "sentences"'),
    ],
)
def test_errors_say_what_is_wrong(text: str, error: str) -> None:
    assert (drafts_of(text)[1].error or "").startswith(error)


def test_declining_is_no_error() -> None:
    drafts, reply = drafts_of('{"answerable": false, "sentences": []}')
    assert (drafts, reply.error, reply.answerable) == ([], None, False)


def test_a_restart_forgets() -> None:
    reply = Reply(read)
    assert list(reply.feed(TWO)) == DRAFTS
    reply.restart()
    assert list(reply.feed(TWO)) == DRAFTS
