"""The bundled digests, and the script that checks them against the seed abstracts."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

REPO = Path(__file__).resolve().parent.parent
SHARED = REPO.parent / "shared"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_digests", REPO / "eval" / "check_digests.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


digests = _load()

ABSTRACT = (
    "We present **TinyMill** (v2), a mill for flour-based doughs that grinds 12,500 grains with $R^2$ of "
    r"$\geq 0.9$, a 7.66$\times$ gain and 60\% less dust than GPT-4 at https://example.org/mill."
)
DIGEST = (
    "TinyMill v2 grinds 12,500 grains; compared with GPT-4 it leaves 60% less dust. "
    "R² ≥ 0.9 and a 7.66× gain are reached (https://example.org/mill)."
)
FILLER = " ".join(
    f"{a}{b}" for a in "bcdfghjklm" for b in ("aal", "eel", "iil", "ool", "uul", "aam", "eem", "oom")
)
GOOD = f"{DIGEST} {FILLER}"


def test_a_good_digest_has_no_fault() -> None:
    assert digests.text_faults(GOOD, ABSTRACT, [ABSTRACT]) == []


def test_shared_run_of_eight_words_is_caught() -> None:
    stolen = "it is a Mill for flour based doughs, that grinds well"
    assert digests.shared_runs(stolen, ABSTRACT) == ["a mill for flour based doughs that grinds"]
    assert any(
        "shares 8 words" in fault for fault in digests.text_faults(f"{GOOD} {stolen}", ABSTRACT, [ABSTRACT])
    )


def test_seven_shared_words_are_allowed() -> None:
    assert digests.shared_runs("a mill for flour-based doughs that crushes", ABSTRACT) == []


def test_a_run_from_another_abstract_is_caught() -> None:
    other = "Bread rises slowly in a cold and damp kitchen at night."
    quoting = f"{GOOD} bread rises slowly in a cold and damp place"
    assert digests.text_faults(quoting, ABSTRACT, [ABSTRACT]) == []
    assert len(digests.text_faults(quoting, ABSTRACT, [ABSTRACT, other])) == 1


@pytest.mark.parametrize(
    ("digest", "abstract"),
    [
        ("one pretraining run two three four five six", "one pre-training run two three four five six"),
        ("one pre training run two three four five", "one pretraining run two three four five six"),
        ("a b c d the model's e f", r"a \textbf{b} c, *d* — the models (e) \emph{f}"),
    ],
)
def test_neither_hyphens_nor_markup_hide_a_run(digest: str, abstract: str) -> None:
    assert digests.shared_runs(digest, abstract)


@pytest.mark.parametrize(
    ("old", "new", "missing"),
    [
        ("60%", "60", "60%"),
        ("7.66×", "7.6×", "7.66×"),
        ("12,500", "many", "12500"),
        ("R²", "R", "2"),
        ("0.9", "0.8", "0.9"),
        ("GPT-4", "GPT", "4"),
    ],
)
def test_missing_number_is_caught(old: str, new: str, missing: str) -> None:
    digest = GOOD.replace(old, new).replace("v2", "v" if missing == "2" else "v2")
    assert missing in digests.missing_numbers(digest, ABSTRACT)
    assert f"number missing: {missing}" in digests.text_faults(digest, ABSTRACT, [ABSTRACT])


def test_numbers_carry_units_and_list_marks_do_not_count() -> None:
    assert digests.numbers("(1) 3/8/32B and 10x faster; 2) 1.5-2x over o1, top 5") == {
        "3",
        "8",
        "32B",
        "10×",
        "1.5",
        "2×",
        "1",
        "5",
    }


@pytest.mark.parametrize("name", ["TinyMill", "GPT-4", "R²", "v2", "https://example.org/mill"])
def test_missing_name_is_caught(name: str) -> None:
    digest = GOOD.replace(name, "it")
    lacking = "R2" if name == "R²" else name
    assert digests.missing_names(digest, ABSTRACT) == [lacking]
    assert f"name missing: {lacking}" in digests.text_faults(digest, ABSTRACT, [ABSTRACT])


def test_names_are_found_in_every_shape() -> None:
    text = r"LLMs, ReVISE's NS-DPO (OLMo-7B) ProX-refined $\mu$CODE, Pass@1 on LLM-as-a-Judge; end.The top-k"
    assert digests.names(text) == {
        "LLM",
        "ReVISE",
        "NS-DPO",
        "OLMo-7B",
        "ProX",
        "μCODE",
        "Pass@1",
        "LLM-as-a-Judge",
    }


def test_part_of_a_longer_name_does_not_count() -> None:
    assert digests.missing_names("MoE-SVD2 and LLMs", "SVD for LLM") == ["SVD"]


@pytest.mark.parametrize(("digest", "length"), [(DIGEST, 23), (f"{GOOD} {FILLER} {FILLER}", 263)])
def test_wrong_length_is_caught(digest: str, length: int) -> None:
    assert len(digest.split()) == length
    assert digests.text_faults(digest, ABSTRACT, [ABSTRACT]) == [f"{length} words, not 90 to 200"]


def test_markup_is_caught() -> None:
    assert digests.text_faults(f"{GOOD} **bold**", ABSTRACT, [ABSTRACT]) == ["LaTeX or Markdown: '**'"]


def test_differing_metadata_is_caught() -> None:
    record = {"title": "A", "authors": ["B"], "venue": "ICML", "year": 2025, "url": "u", "abstract": GOOD}
    entry = {"file": "s.txt", "record": 1, "title": "A", "authors": ["C"], "url": "u"}
    faults = digests.check([record], {("s.txt", 1): ABSTRACT}, [entry])
    assert faults == ["sample: 1 records, not 38", "s.txt#1: authors is ['B'], not ['C']"]


def test_shipped_sample_is_whole() -> None:
    sample = digests.read_jsonl(digests.SAMPLE)
    assert len(sample) == digests.EXPECTED
    for record in sample:
        assert set(record) == {"title", "authors", "venue", "year", "url", "abstract"}
        assert digests.MIN_WORDS <= len(record["abstract"].split()) <= digests.MAX_WORDS


@pytest.mark.skipif(
    not (SHARED / "seeds").is_dir(), reason="the seed abstracts are not part of the repository"
)
def test_shipped_sample_against_the_abstracts(capsys: pytest.CaptureFixture[str]) -> None:
    status = digests.main([str(SHARED / "seeds"), str(SHARED / "catalog" / "seeds.jsonl")])
    assert (status, capsys.readouterr().out) == (0, "38 digests, 0 faults\n")


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert digests.main([]) == 2
    assert "usage" in capsys.readouterr().err
