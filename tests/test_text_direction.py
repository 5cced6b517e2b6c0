"""Direction and denial: contradictions are found, other wordings of the same are not taken for one."""

from __future__ import annotations

import pytest

from rag.text.direction import conflict
from rag.text.spelling import corrected
from rag.text.stem import stem
from rag.text.synonyms import concept

EVIDENCE = "The method improves accuracy by 5% and reduces memory use, without retraining."


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("It reduces accuracy.", EVIDENCE),
        ("It increases memory use.", EVIDENCE),
        ("It does not improve accuracy.", EVIDENCE),
        ("It doesn't improve accuracy.", EVIDENCE),
        ("Models don't stay stable.", "Models stay stable."),
        ("The losses can't diverge.", "The losses diverge."),
        ("It needs retraining.", EVIDENCE),
        ("Accuracy drops by 5%.", "Accuracy gains are 5%."),
        ("It underperforms the baseline.", "It outperforms the baseline and is faster."),
        ("AlphaNet outperforms BetaNet.", "BetaNet outperforms AlphaNet by a wide margin."),
        ("Models do not stay stable.", "Models stay stable."),
        ("The losses diverge.", "The losses do not diverge."),
        ("The cost is high.", "The cost is low."),
        ("Training is less efficient.", "It makes training more efficient."),
        ("It is hard to implement.", "It is easy to implement."),
    ],
)
def test_contradictions(claim: str, evidence: str) -> None:
    assert conflict(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("It makes the model more accurate.", EVIDENCE),
        ("It cuts memory use.", EVIDENCE),
        ("It is training-free.", EVIDENCE),
        ("It needs no retraining.", EVIDENCE),
        ("It improves perplexity.", "It decreases perplexity by 48%."),
        ("It is faster.", "Latency is reduced."),
        ("BetaNet is better than AlphaNet.", "BetaNet outperforms AlphaNet."),
        ("Models fail on examples they have not seen.", "Models struggle on unseen examples."),
        ("It eliminates manual rules.", "It works without manual rules."),
        ("Existing losses perform poorly.", "Existing losses cannot perform well."),
    ],
)
def test_same_said_otherwise(claim: str, evidence: str) -> None:
    assert conflict(claim, evidence) is None


def test_words_that_should_meet() -> None:
    for family in (
        "verify verification verifiers",
        "reduce reduction reduced",
        "fast faster",
        "accurate accuracy",
    ):
        assert len({stem(word) for word in family.split()}) == 1, family
    assert stem("model") != stem("mode")
    assert concept("quicker") == concept("acceleration")
    assert concept("improve") != concept("drop")
    assert (corrected("dificult"), corrected("specache"), corrected("verify")) == (
        "difficult",
        "specache",
        "verify",
    )
