"""Retrieval scores by ir-measures (which wraps trec_eval), one row a question.

>>> scores({"q1": ["a", "b"]}, {"q1": ["b", "x"]})["q1"]["recall@5"]
0.5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ir_measures
from ir_measures import RR, R, nDCG

MEASURES = {
    "recall@1": R @ 1,
    "recall@5": R @ 5,
    "recall@10": R @ 10,
    "ndcg@10": nDCG @ 10,
    "mrr@10": RR @ 10,
}


def scores(
    gold: Mapping[str, Sequence[str]], ranked: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Score rankings of papers.

    Args:
        gold: relevant paper keys by question id; a question without any is not scored. ranked: paper keys
        by question id, best first. A key that comes again (a second passage of one paper) is
            dropped: counted twice it would push nDCG above 1. A question without a ranking scores 0: it was
            asked and nothing was found. Positions are what is scored, since trec_eval breaks ties of scores
            by name.

    Returns:
        By question id, Recall@k = found / relevant among the first k; nDCG@10 with binary gain and log2
        discount; RR@10 = 1 / rank of the first relevant one, 0 below rank 10. All in [0, 1].
    """
    asked = {question: keys for question, keys in gold.items() if keys}
    qrels = [ir_measures.Qrel(q, key, 1) for q, keys in asked.items() for key in dict.fromkeys(keys)]
    run = [
        ir_measures.ScoredDoc(q, key, -float(place))
        for q in asked
        for place, key in enumerate(dict.fromkeys(ranked.get(q, ())))
    ]
    table = {question: dict.fromkeys(MEASURES, 0.0) for question in asked}
    names = {measure: name for name, measure in MEASURES.items()}
    for row in ir_measures.iter_calc(list(MEASURES.values()), qrels, run):
        table[row.query_id][names[row.measure]] = row.value
    return table
