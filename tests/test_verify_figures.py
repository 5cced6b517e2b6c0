"""The check of figures: every usual spelling of the right one passes, another figure does not."""

from __future__ import annotations

import pytest

from rag.chain.verify import Checker
from rag.records import Claim, Draft, Evidence, Hit, Paper, Passage, Sentence, Source

GOOD = ("supported", "verbatim")


def judged(abstract: str, text: str) -> Sentence:
    paper = Paper("key", abstract, Source("f", 1), title="Title")
    passage = Passage("key-0", "key", abstract, 0, len(abstract))
    outcome = Checker([Evidence(1, paper, Hit(paper, passage, 1.0))]).check(Draft(text, (Claim(1),)))
    (sentence,) = (*outcome.sentences, *outcome.removed)
    return sentence


SIGNED = "TinyBits changes memory use by -16.49% compared with the baseline."
RAISED = "TinyBits changes memory use by +16.49% compared with the baseline."


@pytest.mark.parametrize(
    ("abstract", "text"),
    [
        (SIGNED, "TinyBits reduces memory use by 16.49% compared with the baseline."),
        (SIGNED, "TinyBits uses 16.49% less memory than the baseline."),
        (SIGNED, "With TinyBits, memory use changes by -16.49%."),
        (RAISED, "TinyBits increases memory use by 16.49% over the baseline."),
        (RAISED, "TinyBits changes the memory use by 16.49%."),
        ("Age and score had a correlation of -0.45.", "Age and score had a negative correlation of 0.45."),
        ("The trial enrolled 12\u202f345 patients.", "In the trial, 12,345 patients were enrolled."),
        ("The trial enrolled 12 345 patients.", "In the trial, 12345 patients enrolled."),
        ("The hazard ratio was 0·75 in adults.", "In adults, the hazard ratio was 0.75."),
        ("It was significant (p<10⁻⁵) in adults.", "In adults, it was significant (p < 0.00001)."),
        ("It was significant (p<10⁻⁵) in adults.", "In adults, it was significant (p<1e-5)."),
        ("Surgery took 5½ hours on average.", "On average, surgery took 5.5 hours."),
        ("It needs three hundred labels.", "It needs 300 labels."),
        ("It needs 25 labels.", "It needs twenty-five labels."),
        ("We collect three hundred dialogues from nurses.", "We collect 300 dialogues from the nurses."),
        ("There are about 10^500 string vacua.", "About 10⁵⁰⁰ string vacua are there."),
        ("SkimRead gives a 7.66× speedup on long prompts.", r"SkimRead gives a $7.66\times$ speedup."),
        (
            "GPT-4 (score 85) outperforms Llama (score 72) on the test.",
            "On the test GPT-4 (score 85) outperforms Llama (score 72).",
        ),
        ("GPT-4 (9) outperforms Llama (7) on the test.", "On the test GPT-4 (9) outperforms Llama (7)."),
        ("Older people (n = 40) slept well.", "Older people slept well (n = 40)."),
    ],
)
def test_the_right_figure_passes_in_any_spelling(abstract: str, text: str) -> None:
    sentence = judged(abstract, text)
    assert sentence.verdict in GOOD, sentence.note


@pytest.mark.parametrize(
    ("abstract", "text"),
    [
        (SIGNED, "TinyBits increases memory use by 16.49% over the baseline."),
        (SIGNED, "TinyBits uses 16.49% more memory than the baseline."),
        (RAISED, "TinyBits reduces memory use by 16.49% compared with the baseline."),
        ("The trial enrolled 12\u202f345 patients.", "The trial enrolled 345 patients."),
        ("The trial enrolled 12 345 patients.", "The trial enrolled 345 patients."),
        ("The hazard ratio was 0·75 in adults.", "The hazard ratio was 75 in adults."),
        ("It was significant (p<10⁻⁵) in adults.", "It was significant (p<10⁻⁴) in adults."),
        ("It was significant (p<10⁻⁵) in adults.", "It was significant in 5 adults."),
        ("Surgery took 5½ hours on average.", "Surgery took 51 hours on average."),
        ("We collect three hundred dialogues.", "We collect three dialogues."),
        ("Nurses saw twenty-five patients.", "Nurses saw twenty patients."),
        ("There are about 10^500 string vacua.", "There are about 10^400 string vacua."),
        ("Older people (mean age 36) slept well.", "Older people (mean age 63) slept well."),
        ("GPT-4 (score 85) outperforms Llama (score 72).", "GPT-4 (score 58) outperforms Llama (score 72)."),
        ("It has two steps: (1) read and (2) write.", "It has two steps: (1) read and (5) write."),
    ],
)
def test_another_figure_is_removed(abstract: str, text: str) -> None:
    sentence = judged(abstract, text)
    assert sentence.verdict == "unsupported", sentence


@pytest.mark.parametrize(
    ("abstract", "text"),
    [
        (SIGNED, "TinyBits changes memory use by 16.49% compared with its baseline."),
        ("Age and score had a correlation of -0.45.", "Age and score had a correlation of 0.45."),
    ],
)
def test_a_minus_left_out_is_a_doubt(abstract: str, text: str) -> None:
    sentence = judged(abstract, text)
    assert (sentence.verdict, sentence.note) == (
        "weak",
        f"{'16.49%' if '%' in text else '0.45'} has another sign in the cited text",
    )


@pytest.mark.parametrize("number", ["10^500", "10⁵⁰⁰", "2^1024", "1e400", "0^-1", "9" * 5000])
def test_no_number_in_an_abstract_stops_the_check(number: str) -> None:
    abstract = f"There are {number} vacua. SkimRead improves latency by 7.66×."
    assert judged(abstract, "SkimRead improves the latency by 7.66×.").verdict in GOOD
    assert judged(abstract, f"There are {number} vacua.").verdict in GOOD
