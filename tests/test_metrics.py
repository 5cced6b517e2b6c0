"""Metrics by mutation: each fault put into a right answer lowers the metric meant for it, and no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from evals_fakes import ANSWER, CASE, DECLINED, GATE, PAPERS, UNANSWERABLE, cite

from rag.adapters.ir_scores import scores as rank_scores
from rag.evals.abstention import Answered, area, coverage_at, curve
from rag.evals.cases import Case, Fact, Number, parse
from rag.evals.citations import supports
from rag.evals.metrics import METRICS, score
from rag.evals.recognise import has_number, numbers, occurs, states
from rag.records import Answer, Sentence

Mutation = Callable[[Answer], Answer]


def shown(answer: Answer) -> str:
    return " ".join(sentence.text for sentence in answer.sentences)


def scored(case: Case, answer: Answer) -> dict[str, float | None]:
    return score(case, answer, PAPERS, shown(answer))


def first(answer: Answer, **changes: object) -> Answer:
    """The answer with its first sentence changed."""
    return replace(answer, sentences=(replace(answer.sentences[0], **changes), *answer.sentences[1:]))  # type: ignore[arg-type]


def drop_okay_fact(answer: Answer) -> Answer:
    return first(answer, text=GATE.replace(" and halves memory use", ""))


def flip_digit(answer: Answer) -> Answer:
    return first(answer, text=GATE.replace("7.4", "4.7"))


def swap_citation(answer: Answer) -> Answer:
    wrong = cite("diaz2025tides", "Errors fall by 18% on coastal stations.")
    return first(answer, citations=(wrong,))


def invent_id(answer: Answer) -> Answer:
    return first(answer, citations=(replace(answer.sentences[0].citations[0], key="nobody2025none"),))


def needless_citation(answer: Answer) -> Answer:
    extra = cite("diaz2025tides", "Errors fall by 18% on coastal stations.")
    return first(answer, citations=(*answer.sentences[0].citations, extra))


def bend_quote(answer: Answer) -> Answer:
    bent = replace(answer.sentences[0].citations[0], quote=GATE.replace("halves", "doubles"))
    return first(answer, citations=(bent,))


def uncited_sentence(answer: Answer) -> Answer:
    return replace(answer, sentences=(*answer.sentences, Sentence("Both are popular.", "unsupported", ())))


def wrong_first_paper(answer: Answer) -> Answer:
    return replace(answer, references=(replace(answer.references[0], paper=PAPERS["diaz2025tides"]),))


@pytest.mark.parametrize(
    ("mutation", "lowered"),
    [
        (drop_okay_fact, {"fact_recall"}),
        (
            flip_digit,
            {"fact_recall", "vital_recall", "number_accuracy", "citation_recall", "citation_precision"},
        ),
        (swap_citation, {"citation_recall", "citation_precision", "paper_recall", "paper_precision"}),
        (
            invent_id,
            {"citation_recall", "citation_precision", "quote_validity", "paper_recall", "paper_precision"},
        ),
        (needless_citation, {"citation_precision", "paper_precision"}),
        (bend_quote, {"quote_validity"}),
        (uncited_sentence, {"citation_recall", "verbatim", "unsupported"}),
        (wrong_first_paper, {"first_paper_right"}),
    ],
)
def test_each_fault_lowers_what_is_meant_for_it(mutation: Mutation, lowered: set[str]) -> None:
    before, after = scored(CASE, ANSWER), scored(CASE, mutation(ANSWER))
    changed = {name for name in before if before[name] != after[name]} - {"right", "answered_right"}
    assert changed == lowered
    for name in changed - {"verbatim"}:
        was, now = before[name], after[name]
        assert was is not None
        assert now is not None
        assert (now - was) * METRICS[name].better < 0


def test_a_right_answer_has_full_marks() -> None:
    found = scored(CASE, ANSWER)
    full = "right fact_recall vital_recall number_accuracy paper_recall paper_precision first_paper_right"
    assert {name: found[name] for name in full.split()} == dict.fromkeys(full.split(), 1.0)
    assert (found["citation_recall"], found["citation_precision"], found["quote_validity"]) == (1.0, 1.0, 1.0)
    assert (found["false_refusal"], found["false_answer"]) == (0.0, None)


def test_a_missing_vital_fact_makes_it_wrong_and_an_okay_one_does_not() -> None:
    assert scored(CASE, flip_digit(ANSWER))["right"] == 0.0
    assert scored(CASE, drop_okay_fact(ANSWER))["right"] == 1.0


def test_answering_the_unanswerable_is_a_false_answer_only() -> None:
    declined, answered = scored(UNANSWERABLE, DECLINED), scored(UNANSWERABLE, ANSWER)
    assert (declined["false_answer"], declined["right"], declined["nearest_right"]) == (0.0, 1.0, 1.0)
    assert (answered["false_answer"], answered["right"]) == (1.0, 0.0)
    assert answered["false_refusal"] is None


def test_an_abstention_leaves_facts_and_citations_unscored() -> None:
    found = scored(CASE, DECLINED)
    assert (found["false_refusal"], found["right"]) == (1.0, 0.0)
    assert "fact_recall" not in found
    assert found["citation_recall"] is None
    assert found["quote_validity"] is None
    assert found["verbatim"] is None


def test_an_unknown_price_is_unscored() -> None:
    assert scored(CASE, ANSWER)["cost_usd"] is None


def test_every_score_is_a_documented_metric() -> None:
    assert set(scored(CASE, ANSWER)) <= set(METRICS)


def test_counts_and_lists_are_right_without_facts() -> None:
    base: dict[str, object] = {"question": "How many?", "kind": "pile", "split": "test", "answerable": True}
    counted = parse({**base, "id": "n", "count": 2})
    two = replace(ANSWER, sentences=(Sentence("2 papers match.", "supported", ()),))
    three = replace(ANSWER, sentences=(Sentence("3 papers match.", "supported", ()),))
    assert (scored(counted, two)["right"], scored(counted, three)["right"]) == (1.0, 0.0)
    listed = parse({**base, "id": "l", "kind": "list", "papers": ["lee2025gate", "diaz2025tides"]})
    assert scored(listed, ANSWER)["right"] == 0.0
    assert scored(listed, ANSWER)["paper_recall"] == 0.5


class TestRecognition:
    @pytest.mark.parametrize(
        "text", ["7.4%", r"7.4\%", "7.4 percent", "by $7.4\\%$ on", "7.40 %", "from 7.4% to 9%", "(7.4%)"]
    )
    def test_spellings_of_one_number(self, text: str) -> None:
        assert has_number(text, Number(7.4, "%", 0.05))

    @pytest.mark.parametrize("text", ["4.7%", "17.4%", "7.4x", "7.48%", "-7.4%", "7,400%", "GPT-7.4%"])
    def test_other_numbers(self, text: str) -> None:
        assert not has_number(text, Number(7.4, "%", 0.05))

    @pytest.mark.parametrize("text", ["3.1x", "3.1×", "3.1 times", "3.1-fold", r"3.1$\times$", "3.1 fold"])
    def test_spellings_of_times(self, text: str) -> None:
        assert has_number(text, Number(3.1, "x"))

    def test_magnitudes_words_and_points(self) -> None:
        assert has_number("7 billion parameters", Number(7e9, ""))
        assert has_number("eight experts", Number(8, ""))
        assert has_number("4 percentage points", Number(4, "points"))
        assert not has_number("4 percentage points", Number(4, "%"))
        assert (1300.0, "papers") in set(numbers("1,300 papers"))

    def test_aliases_match_from_the_start_of_a_word(self) -> None:
        assert occurs("verif", "Self-Verification")
        assert not occurs("verif", "unverified")
        assert occurs("naïve", "NAIVE Bayes")
        assert not occurs("31", "310")
        assert not occurs("31", "31.5")

    def test_one_alias_of_several_and_all_parts_of_one(self) -> None:
        fact = Fact("it checks itself", aliases=(("verify", "own"), ("self-check",)))
        assert states("They verify their own output.", fact)
        assert states("By self-checks.", fact)
        assert not states("They verify.", fact)


class TestAbstentionCurve:
    def test_curve_and_coverage(self) -> None:
        answers = [Answered(0.9, True), Answered(0.8, True), Answered(0.8, False), Answered(0.2, False)]
        assert [(p.coverage, p.risk) for p in curve(answers)] == [(0.25, 0.0), (0.75, 1 / 3), (1.0, 0.5)]
        assert coverage_at(answers, 0.05) == 0.25
        assert coverage_at(answers, 0.4) == 0.75

    def test_no_threshold_may_reach_the_risk(self) -> None:
        assert coverage_at([Answered(0.9, False)], 0.05) == 0.0
        assert coverage_at([], 0.05) is None
        assert area([]) is None

    def test_a_better_order_has_a_smaller_area(self) -> None:
        good = [Answered(0.9, True), Answered(0.1, False)]
        bad = [Answered(0.1, True), Answered(0.9, False)]
        assert (area(good), area(bad)) == (0.25, 0.75)


class TestRetrieval:
    def test_duplicates_never_push_a_score_above_one(self) -> None:
        found = rank_scores({"q": ["a"]}, {"q": ["a", "a", "a"]})["q"]
        assert found == {"recall@1": 1.0, "recall@5": 1.0, "recall@10": 1.0, "ndcg@10": 1.0, "mrr@10": 1.0}

    def test_an_empty_retrieval_scores_zero_and_no_gold_is_unscored(self) -> None:
        found = rank_scores({"q": ["a"], "none": []}, {"q": [], "none": ["a"]})
        assert set(found) == {"q"}
        assert set(found["q"].values()) == {0.0}

    def test_a_lower_rank_lowers_the_scores(self) -> None:
        found = rank_scores({"q": ["a"]}, {"q": ["x", "y", "a"]})["q"]
        assert found["mrr@10"] == pytest.approx(1 / 3)
        assert found["ndcg@10"] == pytest.approx(0.5)
        assert (found["recall@1"], found["recall@5"]) == (0.0, 1.0)


def test_a_drop_is_the_figure_with_a_minus() -> None:
    assert supports(
        "The model drops by 12.9% on the hard set.", ["On the hard set the model drops (−12.9%)."]
    )
    assert not supports(
        "The model drops by 12.6% on the hard set.", ["On the hard set the model drops (−12.9%)."]
    )
