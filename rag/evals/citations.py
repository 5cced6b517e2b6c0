"""Citation recall, citation precision and quote validity, after ALCE (Gao et al. 2023, arXiv 2305.14627).

    recall    = sentences with at least one citation, all valid, whose cited text supports them / sentences
    precision = citations that are valid and needed / citations

A citation is *needed* unless it does not support the sentence alone and the others support it without it. An
invalid one (a key that is not in the pile) is a false positive and also fails its sentence.

Deviations from ALCE: ids come as data and not as "[n]" in text, so nothing is parsed and no sentence
splitter decides; the cited text is the paper's title and abstract; and support is decided by ``supports``,
by words and figures, where ALCE asks a natural-language-inference model. That makes the score repeatable
and free, and blind to a sentence that uses the paper's words to say something else: it is an upper bound,
which the judge is there for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rag.evals.recognise import content_words, numbers
from rag.records import Citation, Paper, Sentence

SUPPORT = 0.6
"""Least share of a sentence's content words that must stand in the cited text. Fixed, never tuned."""

Papers = Mapping[str, Paper]


def recall(sentences: Sequence[Sentence], papers: Papers) -> float | None:
    """Return the share of sentences that their citations carry; None when there is no sentence."""
    if not sentences:
        return None
    return sum(_carried(sentence, papers) for sentence in sentences) / len(sentences)


def precision(sentences: Sequence[Sentence], papers: Papers) -> float | None:
    """Return the share of citations that are valid and needed; None when there is no citation."""
    total = sum(len(sentence.citations) for sentence in sentences)
    if not total:
        return None
    needed = sum(
        _needed(sentence, place, papers) for sentence in sentences for place in range(len(sentence.citations))
    )
    return needed / total


def quote_validity(sentences: Sequence[Sentence], papers: Papers) -> float | None:
    """Return the share of citations whose quote is to the letter ``abstract[start:end]`` of its paper."""
    cited = [citation for sentence in sentences for citation in sentence.citations]
    if not cited:
        return None
    return sum(_quoted(citation, papers) for citation in cited) / len(cited)


def supports(sentence: str, texts: Sequence[str]) -> bool:
    """Return whether the texts together carry the sentence: enough of its words and all of its numbers."""
    if not texts:
        return False
    joined = " ".join(texts)
    there = figures(joined)
    if any(figure not in there and not _bare(figure, there) for figure in figures(sentence)):
        return False
    words = content_words(sentence)
    return bool(words) and len(words & content_words(joined)) / len(words) >= SUPPORT


def figures(text: str) -> set[tuple[float, str]]:
    """Return the numbers of a text by magnitude and unit: "falls by 12.9 %" is what "(−12.9 %)" says."""
    return {(abs(value), unit) for value, unit in numbers(text)}


def _bare(figure: tuple[float, str], there: Collection[tuple[float, str]]) -> bool:
    """A number whose "unit" is merely the next word ("5 datasets") counts by its value."""
    return figure[0] in {value for value, _ in there} and figure[1] not in ("%", "x", "points")


def _carried(sentence: Sentence, papers: Papers) -> bool:
    keys = [citation.key for citation in sentence.citations]
    return bool(keys) and all(key in papers for key in keys) and supports(sentence.text, _texts(keys, papers))


def _needed(sentence: Sentence, place: int, papers: Papers) -> bool:
    keys = [citation.key for citation in sentence.citations]
    if keys[place] not in papers:
        return False
    if supports(sentence.text, _texts([keys[place]], papers)):
        return True
    rest = [key for other, key in enumerate(keys) if other != place and key in papers]
    together = supports(sentence.text, _texts([*rest, keys[place]], papers))
    return together and not supports(sentence.text, _texts(rest, papers))


def _texts(keys: Sequence[str], papers: Papers) -> list[str]:
    return [papers[key].text for key in dict.fromkeys(keys)]


def _quoted(citation: Citation, papers: Papers) -> bool:
    paper = papers.get(citation.key)
    return (
        paper is not None
        and bool(citation.quote)
        and paper.abstract[citation.start : citation.end] == citation.quote
    )
