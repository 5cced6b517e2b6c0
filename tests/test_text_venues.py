"""Venues written out meet their acronyms, and nothing else does."""

from __future__ import annotations

import pytest

from rag.text.venues import same

LONG = "International Conference on Machine Learning"


@pytest.mark.parametrize(
    ("wanted", "venue"),
    [
        ("ICML", LONG),
        ("icml", f"Proceedings of the 42nd {LONG}"),
        ("ICML", f"Forty-second {LONG}"),
        ("ICML", f"{LONG} (ICML)"),
        ("ICML", "ICML 2025 poster"),
        ("ICML 2025", "ICML 2025"),
        ("ICML 2025", f"{LONG} (ICML 2025)"),
        (LONG, "ICML"),
        (f"the {LONG.lower()}", "ICML"),
        ("NIPS", "NeurIPS"),
        ("NeurIPS", "Advances in Neural Information Processing Systems 37"),
        ("NeurIPS", "Thirty-eighth Annual Conference on Neural Information Processing Systems"),
        ("CVPR", "2024 IEEE/CVF Conference on Computer Vision and Pattern Recognition (CVPR)"),
        (
            "ACL",
            "Proceedings of the 62nd Annual Meeting of the Association for Computational Linguistics"
            " (Volume 1: Long Papers)",
        ),
        ("EMNLP", "Proceedings of the 2023 Conference on Empirical Methods in Natural Language Processing"),
        ("KDD", "ACM SIGKDD International Conference on Knowledge Discovery & Data Mining"),
        ("PNAS", "Proceedings of the National Academy of Sciences"),
        ("nature methods", "Nature Methods"),
    ],
)
def test_same(wanted: str, venue: str) -> None:
    assert same(wanted, venue)


@pytest.mark.parametrize(
    ("wanted", "venue"),
    [
        ("ICML", "International Conference on Machine Learning and Applications"),
        ("ICML", "Asian Conference on Machine Learning"),
        ("ICML", "ICML 2025 Workshop on Tables"),
        ("ICML 2025", "ICML 2024"),
        ("ICML 2025", LONG),
        ("EMNLP", "Findings of the Association for Computational Linguistics: EMNLP 2023"),
        ("ICCV", "European Conference on Computer Vision"),
        ("ICML", "ICLR"),
        ("Nature", "Nature Methods"),
        ("", "ICML"),
        ("", "The"),
    ],
)
def test_not_the_same(wanted: str, venue: str) -> None:
    assert not same(wanted, venue)
