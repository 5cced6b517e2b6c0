"""Rendering: what a reader sees, what scripts get, and what untrusted text cannot do."""

from __future__ import annotations

import io
import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from rag.records import (
    Answer,
    Citation,
    Hit,
    IndexInfo,
    Paper,
    Passage,
    PromptInfo,
    Reference,
    Sentence,
    Source,
)
from rag.render import bibtex, contract, layout, markdown, plain, safe, terminal
from rag.render.marks import numbers
from rag.text.marks import marked

INFO = IndexInfo(38, 41, "fake", "f00d")
ABSTRACT = "SpecPrefill speeds up prefill. It gives a 7.66× TTFT improvement."


def paper(key: str = "liu2025spec", **changes: object) -> Paper:
    values: dict[str, object] = {
        "title": "Speculative Prefill",
        "authors": ("Jingyu Liu", "Beidi Chen", "Ce Zhang", "A. Fourth"),
        "venue": "ICML",
        "year": 2025,
        "url": "https://icml.cc/virtual/2025/poster/44706",
    }
    return Paper(key, ABSTRACT, Source("/f.txt", 3), **(values | changes))  # type: ignore[arg-type]


def sentence(text: str, verdict: str = "verbatim", ref: int = 1, quote: str = "") -> Sentence:
    return Sentence(text, verdict, (Citation(ref, "liu2025spec", quote or text, 0, 5, 1.0),))  # type: ignore[arg-type]


def answer(*sentences: Sentence, mode: str = "extractive", one: Paper | None = None) -> Answer:
    return Answer(
        "How fast is it?",
        "answered",
        mode,  # type: ignore[arg-type]
        None,
        sentences,
        (Reference(1, one or paper()),),
        (),
        INFO,
        prompt=PromptInfo("answer", "ab"),
    )


def abstained() -> Answer:
    return Answer(
        "Bread?", "abstained", "extractive", None, (), (), (Reference(1, paper()),), INFO, "Nothing on bread."
    )


def hit() -> Hit:
    return Hit(paper(), Passage("p1", "liu2025spec", ABSTRACT, 0, len(ABSTRACT)), 0.91, {"dense": 1})


def on_terminal(lines: list[layout.Line], width: int = 40) -> str:
    console = Console(
        file=io.StringIO(), width=width, force_terminal=True, color_system="truecolor", highlight=False
    )
    terminal.show(console, lines)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


# What a reader sees


def test_plain_answer() -> None:
    text = plain.text(layout.answer(answer(sentence("It gives a 7.66× TTFT improvement."))))
    assert text == (
        "It gives a 7.66× TTFT improvement [1].\n\nReferences\n[1] Speculative Prefill\n"
        "    Jingyu Liu, Beidi Chen, Ce Zhang et al. · ICML 2025 · liu2025spec\n"
        "    https://icml.cc/virtual/2025/poster/44706\n"
    )


def test_quotes_stand_below_their_paper_once() -> None:
    twice = answer(sentence("It is fast.", quote="a 7.66×"), sentence("Really.", quote="a 7.66×"))
    text = plain.text(layout.answer(twice, quotes=True))
    assert text.count("“a 7.66×”") == 1
    assert text.endswith("      “a 7.66×”\n")


def test_what_was_counted_quotes_nothing() -> None:
    counted = Sentence("One paper is by Liu.", "verbatim", (Citation(1, "liu2025spec", "", 0, 0, 1.0),))
    lines = plain.text(layout.answer(answer(counted), quotes=True))
    assert "“" not in lines
    assert lines == plain.text(layout.answer(answer(counted)))
    assert markdown.answer(answer(counted), True) == markdown.answer(answer(counted))


def test_quoted_words_of_the_question_are_marked() -> None:
    pieces = list(layout.highlighted("It speeds up prefill, TTFT included.", "How much does TTFT speed up?"))
    assert [piece.text for piece in pieces if piece.style == "match"] == ["speeds", "up", "TTFT"]
    assert "".join(piece.text for piece in pieces) == "It speeds up prefill, TTFT included."


def test_verdicts_show_in_model_mode_only() -> None:
    doubtful = (sentence("It flies.", "weak"), sentence("It sings.", "unsupported"))
    assert "It flies [1] (weak). It sings [1] (unsupported)." in plain.text(
        layout.answer(answer(*doubtful, mode="model"))
    )
    assert "(weak)" not in plain.text(layout.answer(answer(*doubtful)))


def test_abstention_names_the_nearest_papers() -> None:
    text = plain.text(layout.answer(abstained()))
    assert text.startswith(
        "Not answered from these papers. Nothing on bread.\n\nNearest papers\n[1] Speculative"
    )


def test_papers_without_title_or_authors() -> None:
    bare = paper(title=None, authors=(), venue=None, year=None, url=None)
    text = plain.text(layout.answer(answer(sentence("Yes."), one=bare)))
    assert (
        "[1] “SpecPrefill speeds up prefill. It gives a 7.66× TTFT improvement.”\n    liu2025spec\n" in text
    )


def test_narrow_terminal_wraps_with_hanging_indent() -> None:
    text = without_colour(
        on_terminal(layout.answer(answer(sentence("It gives a 7.66× TTFT improvement.")), True))
    )
    assert max(len(row) for row in text.splitlines() if "https" not in row) <= 40
    assert "et\n    al. · ICML 2025 · liu2025spec\n    https://icml.cc/virtual/2025/poster/44706\n" in text


def test_wide_characters_fit_the_width() -> None:
    title = "基于大型语言模型的检索增强生成系统的忠实性评估方法与实践研究综述"
    text = without_colour(on_terminal(layout.answer(answer(sentence("Yes."), one=paper(title=title)))))
    cells = [
        sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in row) for row in text.splitlines()
    ]
    assert max(c for c, row in zip(cells, text.splitlines(), strict=True) if "https" not in row) <= 40
    assert "".join(text.split()).count("综述") == 1


def test_search_lists_rank_title_score_and_passage() -> None:
    text = plain.text(layout.search("TTFT", [hit()]))
    assert text.splitlines()[0] == " 1 Speculative Prefill  0.91"
    assert ABSTRACT in text


def test_table_of_papers_is_tab_separated() -> None:
    assert plain.table([paper(title="A\tB\nC")]) == "liu2025spec\t2025\tICML\tA B C\n"


def test_show_gives_every_field() -> None:
    text = plain.text(layout.paper(paper(doi="10.1/x", also=(Source("/g.bib", 7),))))
    assert "doi     10.1/x" in text
    assert "source  /f.txt, record 3\nsource  /g.bib, record 7\n" in text
    assert text.endswith(ABSTRACT + "\n")


# The contract with scripts


def test_ask_json_has_the_documented_fields() -> None:
    result = contract.answer(answer(sentence("It gives a 7.66× TTFT improvement.")))
    assert json.loads(contract.dumps(result)) == result
    assert result["answer"] == "It gives a 7.66× TTFT improvement [1]."
    documented = (
        "question status mode model answer sentences references nearest reason usage timings prompt index"
    )
    assert set(documented.split()) <= set(result)
    cited = {
        "ref": 1,
        "key": "liu2025spec",
        "quote": "It gives a 7.66× TTFT improvement.",
        "start": 0,
        "end": 5,
    }
    assert result["sentences"][0]["citations"][0] == {**cited, "support": 1.0}  # type: ignore[index]
    assert set(result["references"][0]) == {
        "ref",
        "key",
        "title",
        "authors",
        "venue",
        "year",
        "url",
        "source",
    }  # type: ignore[index]
    assert result["index"] == {"papers": 38, "passages": 41, "embedder": "fake", "fingerprint": "f00d"}
    assert set(result["timings"]) == {"load_s", "retrieve_s", "generate_s", "verify_s", "first_s"}  # type: ignore[call-overload]
    assert set(result["usage"]) == {"prompt_tokens", "completion_tokens", "cost_usd"}  # type: ignore[call-overload]


def test_search_and_papers_json() -> None:
    found = contract.search("TTFT", [hit()], INFO)
    assert found["hits"][0]["rank"] == 1  # type: ignore[index]
    assert found["hits"][0]["source"] == {"file": "/f.txt", "record": 3}  # type: ignore[index]
    listed = contract.papers([paper()])["papers"][0]  # type: ignore[index]
    assert set(listed) == {"key", "title", "authors", "venue", "year", "url", "source"}


# Citation marks


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It works.", "It works [1]."),
        ("“It works.”", "“It works [1].”"),
        ("Does it?!", "Does it [1]?!"),
        ("no stop", "no stop [1]"),
        ("它有效。", "它有效 [1]。"),
        ("As shown in [3] it works.", "As shown in (3) it works [1]."),
        ("in the interval [0, 1].", "in the interval [0, 1] [1]."),
    ],
)
def test_marks_go_before_the_stop_and_only_ours_count(text: str, shown: str) -> None:
    assert marked(text, [1]) == shown


def test_several_marks_are_distinct_and_in_order() -> None:
    several = Sentence("Yes.", "supported", tuple(Citation(n, "k", "q", 0, 1, 1.0) for n in (2, 1, 2)))
    assert marked(several.text, numbers(several)) == "Yes [2][1]."


# Untrusted text

HOSTILE = (
    "a\x1b[31mb\x1b]0;title\x07c\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\d\x9b31me\x90q\x9cf\u202eg\u2066h\u200bi"
    "\ufeffj\x00k\x7fl\x85m\u2028n\U000e0041o\ud800p\x1bPq\x1b\\r\x1b[?1049hs\rt\x08u[bold]v[/bold][1]"
)


JOINED = re.compile("(?<=[\u0600-\u109f\u1780-\u18af\U00011000-\U000114ff])[\u200c\u200d]")


def dangerous(text: str) -> list[str]:
    text = JOINED.sub("", text)  # the only invisible characters that may stay
    return [c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co"}]


def test_nothing_a_terminal_obeys_comes_through() -> None:
    assert safe.line(HOSTILE) == "abclinkdefghijkl m noprs tu[bold]v[/bold][1]"
    assert dangerous(safe.block(HOSTILE)) == []


def test_an_unclosed_escape_does_not_hide_the_rest() -> None:
    assert safe.line("before \x1b]0;after, to the end") == "before 0;after, to the end"


@pytest.mark.parametrize(
    "invisible",
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u180b\u180e\u180f\u200b\u200c\u200d\u2060\u2065\u3164\ufe0f\ufeff\uffa0\ufff1"
    "\U0001bca0\U0001d173\U000e0001\U000e0002\U000e0041\U000e0100\U000e0fff",
)
def test_invisible_characters_are_dropped(invisible: str) -> None:
    assert safe.line(f"a{invisible}b") == "ab"
    assert safe.line(f"नम{invisible} b") == "नम b"


@pytest.mark.parametrize(
    ("mark", "kept"),
    [("\u0301", 3), ("\u20dd", 3), ("\u0e49", 6), ("\u05b4", 6), ("\u064b", 6), ("\u0f71", 6), ("\u1161", 6)],
)
def test_marks_do_not_pile_up_on_one_letter(mark: str, kept: int) -> None:
    assert safe.line("a" + mark * 200 + "b") == "a" + mark * kept + "b"
    mixed = safe.line("ก" + f"{mark}\u200c\u0e31\u0302\u200d" * 70 + "b")
    assert len(mixed) == 1 + 6 + 1


@pytest.mark.parametrize(
    "text",
    [
        "น้ำแข็งที่นี่",
        "Nguye\u0302\u0303n Vie\u0302\u0323t",
        "שִּׁ֣ירֽ",
        "क्षत्रियों",
        "ကျွန်ုပ်တို့မြွှေ",
        "한국",
        "\u1112\u1161\u11ab\u1100\u116e\u11a8",
        "می\u200cخواهم",
        "ශ්\u200dරී",
        "क्\u200dष",
    ],
)
def test_scripts_are_shown_as_they_are_written(text: str) -> None:
    assert safe.line(text) == text


def test_an_emoji_is_shown_in_its_plain_form() -> None:
    assert safe.line("❤️ 👩\u200d🔬") == "❤ 👩🔬"


@given(st.text(st.sampled_from("aक\u094d\u200c\u200d\u0301\u0e49س \n"), max_size=40))
def test_making_text_safe_twice_changes_nothing(text: str) -> None:
    assert safe.block(safe.block(text)) == safe.block(text)


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_safe_text_is_safe_whatever_comes(text: str) -> None:
    assert dangerous(safe.block(text)) == []
    assert safe.block(safe.block(text)) == safe.block(text)


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_json_is_safe_and_says_the_same(text: str) -> None:
    shown = contract.dumps({"text": text})
    assert dangerous(shown) == []
    assert json.loads(shown) == {"text": text}


def everything_hostile() -> Answer:
    bad = paper("k\x1b[31m", title=HOSTILE, authors=(HOSTILE,), venue=HOSTILE, url="javascript:alert(1)")
    bad = Paper(**{name: getattr(bad, name) for name in Paper.__slots__} | {"abstract": HOSTILE})
    return answer(sentence(HOSTILE), one=bad)


def test_hostile_papers_on_every_output() -> None:
    hostile = everything_hostile()
    one = hostile.references[0].paper
    outputs = [
        plain.text(layout.answer(hostile, True)),
        plain.text(layout.paper(one)),
        plain.table([one]).replace("\t", ""),
        without_colour(on_terminal(layout.answer(hostile, True))),
        markdown.answer(hostile, True),
        markdown.papers([one]),
        markdown.paper(one),
        bibtex.entries([one]),
        contract.dumps(contract.answer(hostile)),
    ]
    assert [dangerous(output) for output in outputs] == [[]] * len(outputs)
    assert "javascript" not in "".join(outputs[:8])


def test_rich_markup_is_text() -> None:
    text = on_terminal(
        layout.answer(answer(sentence("[red]Not red[/red] and [link=http://x]no link[/link]."))), 90
    )
    assert "[red]Not red[/red] and [link=http://x]no link[/link]" in without_colour(text)
    assert "\x1b]8" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a](http://x)", r"\[a\](http\://x)"),
        ("<script>", r"\<script\>"),
        ("![i](u)", r"\!\[i\](u)"),
        ("# no heading", r"\# no heading"),
        ("1. no list", r"1\. no list"),
        ("- no list", r"\- no list"),
        ("see www.evil.com", r"see www\.evil.com"),
        ("line\n\n# two", r"line \# two"),
        ("`code` *b* _i_", r"\`code\` \*b\* \_i\_"),
        ("$x$ & y", r"\$x\$ \& y"),
    ],
)
def test_markdown_is_disarmed(text: str, shown: str) -> None:
    assert markdown.escaped(text) == shown


def test_markdown_answer() -> None:
    assert markdown.answer(answer(sentence("It gives a 7.66× TTFT improvement.")), True) == (
        "## How fast is it?\n\nIt gives a 7.66× TTFT improvement \\[1\\].\n\n### References\n\n"
        "1. [Speculative Prefill](<https://icml.cc/virtual/2025/poster/44706>)."
        " Jingyu Liu, Beidi Chen, Ce Zhang et al. *ICML 2025*\n   > It gives a 7.66× TTFT improvement.\n"
    )


@pytest.mark.parametrize(
    "url", ["javascript:x", "http://a b", "https://x>y", "ftp://x", 'http://x"y', "", None]
)
def test_only_plain_web_addresses_are_shown(url: str | None) -> None:
    assert safe.address(url) is None


# BibTeX


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("Jürgen Łukasz", r"J{\"u}rgen {\L}ukasz"),
        ("Nguyễn Ệ", r"Nguy{\~{\^{e}}}n {\^{\d{E}}}"),
        ("60% of R&D_x #1 $5 ~ ^", r"60{\%} of R{\&}D{\_}x {\#}1 {\$}5 {\textasciitilde} {\textasciicircum}"),
        ("a {b} \\c", r"a {\textbraceleft}b{\textbraceright} {\textbackslash}c"),
        ("7.66× ≥ μ", r"7.66{\texttimes} {\ensuremath{\geq}} {\ensuremath{\mu}}"),
        ("张伟", "张伟"),
    ],
)
def test_latex(text: str, encoded: str) -> None:
    assert bibtex.latex(text) == encoded


@given(st.text(max_size=40))
def test_braces_always_balance(text: str) -> None:
    depth = 0
    for character in bibtex.entry(paper(title=text or "x", authors=(text,), venue=text)):
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0


def test_titles_keep_their_names() -> None:
    entry = bibtex.entry(paper(title="A Study: ReVISE and Q-Learning for LLMs in 3D with Bayes"))
    assert "title = {A Study: {ReVISE} and {Q}-Learning for {LLMs} in {3D} with Bayes}" in entry


def test_entry_types() -> None:
    assert bibtex.entry(paper()).startswith("@inproceedings{liu2025spec,\n")
    journal = bibtex.entry(paper(venue="Journal of Machine Learning Research"))
    assert journal.startswith("@article{")
    assert "  journal = {Journal of Machine Learning Research},\n" in journal
    preprint = bibtex.entry(paper(venue="arXiv", arxiv_id="2502.01234"))
    assert preprint.startswith("@misc{")
    assert "  eprint = {2502.01234},\n  archiveprefix = {arXiv},\n" in preprint


@pytest.mark.parametrize(
    ("venue", "kind"),
    [
        ("International Conference on Data Science and Advanced Analytics", "inproceedings"),
        ("Annual Meeting of the Cognitive Science Society", "inproceedings"),
        ("Conference on Review Mining", "inproceedings"),
        ("Foundations of Computer Science", "inproceedings"),
        ("Nature Physics", "article"),
        ("Science", "article"),
        ("Neural Network Letters", "article"),
    ],
)
def test_conferences_and_journals_are_told_apart(venue: str, kind: str) -> None:
    assert bibtex.entry(paper(venue=venue)).startswith(f"@{kind}{{")


def test_an_author_whose_name_holds_and() -> None:
    assert "author = {{Search and Rescue Group} and Ann Lee}" in bibtex.entry(
        paper(authors=("Search and Rescue Group", "Ann Lee"))
    )


def test_keys_are_valid_and_unique() -> None:
    found = re.findall(
        r"^@\w+\{(.*),$", bibtex.entries([paper("ä b,c"), paper("ABC"), paper("abc"), paper("张")]), re.M
    )
    assert found == ["abc", "ABCa", "abcb", "paper"]
