"""Cleaning: LaTeX, Markdown, entities and broken text become readable, and no number is ever lost."""

from __future__ import annotations

import html
import re

import ftfy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rag.corpus import clean, latex, markup

READABLE = [
    (r"up to 7$\times$ maximal and 7.66$\times$ TTFT", "up to 7× maximal and 7.66× TTFT"),
    (r"we propose \textbf{AnyEdit}, a", "we propose AnyEdit, a"),
    (r"achieving $R^2$ of $\geq 0.9$ across", "achieving R² of ≥ 0.9 across"),
    (r"approach, $\mu$CODE, that", "approach, μCODE, that"),
    (
        r"a $\textit{\textbf{C}ritic-\textbf{D}iscernment \textbf{G}ame}~(\textbf{CDG})$ in which",
        "a Critic-Discernment Game (CDG) in which",
    ),
    (r"at: \url{https://github.com/j/Any_Edit%20x}.", "at: https://github.com/j/Any_Edit%20x."),
    ("datasets [here](https://huggingface.co/M-P-O).", "datasets here (https://huggingface.co/M-P-O)."),
    (r"\href{https://a.org/c}{the \emph{code}}", "the code (https://a.org/c)"),
    (r"a 60\% ratio, 60% of it and 5% more", "a 60% ratio, 60% of it and 5% more"),
    (r"rate $1/T$, $53.0\%$ and $7.3$ points", "rate 1/T, 53.0% and 7.3 points"),
    ("term as ``efficacy barrier''. To", "term as “efficacy barrier”. To"),
    ("between $5 and $10 a day, US$3-US$4", "between $5 and $10 a day, US$3-US$4"),
    (r"cost \$5 to \$10, $3\times$ less", "cost $5 to $10, 3× less"),
    (r"workflow of {\it replacing} all", "workflow of replacing all"),
    (
        "**Non-Stationary (NS-DPO)** is *critically vulnerable*",
        "Non-Stationary (NS-DPO) is critically vulnerable",
    ),
    (
        "A* and D* search, 5 * 3 * 2, foo_bar and __init__",
        "A* and D* search, 5 * 3 * 2, foo_bar and __init__",
    ),
    (r"Erd\H{o}s and {\"O}zg{\"u}r \'Etienne", "Erdős and Özgür Étienne"),
    (r"$\tilde{O}(T^{1/2})$ and $10^{-3}$, $\ell_2$", "Õ(T^(1/2)) and 10⁻³, ℓ₂"),
    (r"$\tilde{\mathcal{O}}(\sqrt{dT})$ w.p. $1-\delta$, i.e.\ here", "Õ(√(dT)) w.p. 1-δ, i.e. here"),
    (
        r"\emph{$O(n^2)$} (\S 3), Theorem~\ref{t:main}, \cite{doe2020}",
        "O(n²) (§ 3), Theorem t:main, [doe2020]",
    ),
    (r"$71.2\%\pm0.3$ to \textbf{$75.4\%$} ($p<10^{-5}$)", "71.2%±0.3 to 75.4% (p<10⁻⁵)"),
    (r"Erd{\H o}s--R\'enyi, na\"{\i}ve, \AA{}ngstr\"om, 5 \textmu m", "Erdős–Rényi, naïve, Ångström, 5 µm"),
    (
        "<p>IC<sub>50</sub> of 3.2&nbsp;&mu;M (1.1&ndash;4.5; <i>P</i>&lt;.001)</p>",
        "IC₅₀ of 3.2 μM (1.1–4.5; P<.001)",
    ),
    (r"$\frac{a+b}{c}$ of $\mathcal{O}(n\log n)$", "(a+b)/c of O(n log n)"),
    (r"10\,000 and 10{,}000 and $10\,000$", "10,000 and 10,000 and 10,000"),
    ("it has not -- to the best -- 3--5 with --verbose", "it has not – to the best – 3–5 with --verbose"),
    ("see Figure~3, about ~5%", "see Figure 3, about ~5%"),
    (r"at C:\Users\name, \method{} is", r"at C:\Users\name, method is"),
    ("sets {0, 1} and $\\{0,1\\}^n$", "sets {0, 1} and {0,1}ⁿ"),
    ("https://a.org/~joe/x_y_z*a* is", "https://a.org/~joe/x_y_z*a* is"),
    (r"\begin{itemize}\item one 1 \item two\end{itemize}", "• one 1 • two"),
    ("x < 5 and y > 3 &amp; R&D at AT&T &lt; 2", "x < 5 and y > 3 & R&D at AT&T < 2"),
    (
        "<jats:p>In <jats:italic>vivo</jats:italic> H<sub>2</sub>O, 5 m<sup>2</sup></jats:p>",
        "In vivo H₂O, 5 m²",
    ),
    ("naÃ¯ve â€œmodelâ€\x9d 5â€“6 Î²", "naïve “model” 5–6 β"),
    (
        "trans-\nformers of state-of-\nthe-art self-\nsupervised",
        "transformers of state-of-the-art self-supervised",
    ),
    ("pre-train and pre-\ntrain 10-\n20", "pre-train and pre-train 10-20"),
    (
        "the ﬁrst ef\u00adfect,\u200b  doubled   spaces\tand\x1btabs",
        "the first effect, doubled spaces andtabs",
    ),
    ("Abstract—We do", "We do"),
    ("ABSTRACT\nWe do", "We do"),
    ("Abstract: We do", "We do"),
    ("Abstract-We do", "We do"),
    ("**Abstract**\r\n\r\n$x$ grows", "x grows"),
    ("Abstract reasoning is hard", "Abstract reasoning is hard"),
    ("Abstract-to-text works", "Abstract-to-text works"),
    ("Summary-based evaluation is common", "Summary-based evaluation is common"),
    ("escaped\\n\\nNext line", "escaped Next line"),
    ("a lone \ud800 surrogate", "a lone � surrogate"),
]


@pytest.mark.parametrize(("raw", "expected"), READABLE, ids=range(len(READABLE)))
def test_text_is_readable(raw: str, expected: str) -> None:
    assert clean.text(raw) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("{The} {BERT} Model.", "The BERT Model"),
        (r"A {\'E}tude of {$\alpha$}", "A Étude of α"),
        ("Learning in the U.S.", "Learning in the U.S."),
        ("What is X?", "What is X?"),
        ("Abstract\n  Reasoning Is Hard", "Abstract Reasoning Is Hard"),
    ],
)
def test_title(raw: str, expected: str) -> None:
    assert clean.title(raw) == expected


FRAGMENTS = st.sampled_from(
    re.findall(
        r"\S+",
        r"""$ $$ \ { } % # & ~ ^ _ * ** ` '' -- --- [ ] ( ) \textbf{ \frac{1}{2} \sqrt[3]{4} \cite{a2020}
        \hspace{3cm} \begin{x} \end{x} \item \SI{3}{\m} \url{http://a/1}
        http://b.c/2 <b> <sup>2</sup> ^2 ^{10} _1 \,
        {,}000 60\% $5 \unknown{7} \unknown8 \alpha9 ² ₃ 12 3.5 -4 word""",
    )
)


@given(st.lists(st.one_of(FRAGMENTS, st.sampled_from(" \n")), max_size=14).map("".join))
def test_markup_keeps_every_digit(raw: str) -> None:
    assert latex.digits(markup.to_text(raw)) == latex.digits(raw)


@given(st.text(max_size=200))
def test_clean_keeps_every_digit_and_is_stable_to_store(raw: str) -> None:
    assume(ftfy.fix_encoding(raw) == raw)  # "Î²" is a broken "β": its digit never was one
    cleaned = clean.text(raw)
    assert latex.digits(cleaned) == latex.digits(html.unescape(raw) if "&" in raw else raw)
    cleaned.encode("utf-8")
    assert "\n" not in cleaned
    assert "\x1b" not in cleaned


@pytest.mark.parametrize(
    "piece", ["{\\it ", "$", "\\textbf{", "*a ", "`", "[", "~", "\\begin{x}", "-", "&lt;"]
)
def test_long_hostile_text_is_read_in_linear_time(piece: str) -> None:
    raw = piece * (clean.LIMIT // len(piece) // 10)
    assert len(clean.text(raw)) <= len(raw)


def test_a_thin_space_inside_a_number_stays() -> None:
    for space in "\u00a0\u2009\u202f":
        said = clean.text(f"In 2024{space}we saw 12{space}345 patients.")
        assert said == "In 2024 we saw 12\u202f345 patients."
        assert clean.text(said) == said
