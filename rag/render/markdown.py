"""Markdown for notes and issues: the answer with [n], then a numbered list of references.

Everything that came from a paper or a model is escaped, so that it can neither make links, images, HTML nor
headings. The only links are the references' own addresses, http or https.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.records import Answer, Hit, Mode, Paper, Reference, Sentence
from rag.render import layout, safe
from rag.render.marks import numbers, runs
from rag.text.marks import split_end, without_marks

# The colon and the full stop after "www" keep GitHub from linking bare addresses, "@" from linking names.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&$@^])|(?<=\w)(:)(?=//)|(?<=www)(\.)", re.IGNORECASE)
_OPENING = re.compile(r"^(\s*)(?:([-+=:])|(\d+)([.)]))")


def answer(result: Answer, quotes: bool = False) -> str:
    """Return an answer as Markdown, with its question as the heading."""
    parts = [f"## {escaped(result.question)}"]
    if result.status == "abstained":
        parts.append(f"**Not answered from these papers.** {escaped(result.reason or '')}".rstrip())
        parts += ["Nearest papers:", numbered(result.nearest)] if result.nearest else []
        return "\n\n".join(parts) + "\n"
    parts.append(" ".join(sentence(one, result.mode) for one in result.sentences))
    parts += ["### References", numbered(result.references, result if quotes else None)]
    return "\n\n".join(parts) + "\n"


def search(question: str, hits: Sequence[Hit]) -> str:
    """Return ranked papers as a numbered list."""
    rows = [f"{n}. {_paper(hit.paper)}  \n   {escaped(hit.passage.text)}" for n, hit in enumerate(hits, 1)]
    return f"## {escaped(question)}\n\n" + "\n".join(rows) + "\n"


def papers(found: Sequence[Paper]) -> str:
    """Return a list of papers with their keys."""
    return "".join(f"- {_paper(paper)} ({escaped(paper.key)})\n" for paper in found)


def paper(one: Paper) -> str:
    """Return one paper with its abstract."""
    return f"{_paper(one)} ({escaped(one.key)})\n\n{escaped(one.abstract)}\n"


def escaped(text: str) -> str:
    r"""Return ``text`` on one line with everything Markdown would act on disarmed.

    >>> escaped("see [this](http://x) <b>")
    'see \\[this\\](http\\://x) \\<b\\>'
    """
    text = _SPECIAL.sub(lambda m: "\\" + m[0], safe.line(text))
    return _OPENING.sub(lambda m: m[1] + (f"\\{m[2]}" if m[2] else f"{m[3]}\\{m[4]}"), text)


def sentence(one: Sentence, mode: Mode) -> str:
    """Return one sentence with its marks and, where a model wrote it, a doubtful verdict."""
    body, end = split_end(without_marks(safe.line(one.text)))
    body = escaped(body)
    if one.verdict == "unsupported":
        body = f"~~{body}~~"
    refs = escaped("".join(runs(numbers(one))))
    doubtful = mode == "model" and one.verdict in ("weak", "unsupported")
    verdict = f" *({one.verdict})*" if doubtful else ""
    return f"{body} {refs}".rstrip() + verdict + escaped(end)


def numbered(references: Sequence[Reference], quoted: Answer | None = None) -> str:
    """Return references as a list with their own numbers; ``quoted`` adds the words they were cited for."""
    rows = []
    for reference in references:
        rows.append(f"{reference.ref}. {_paper(reference.paper)}")
        if quoted is not None:
            rows += [f"   > {escaped(quote)}" for quote in layout.quotations(quoted, reference.ref)]
    return "\n".join(rows)


def _paper(paper: Paper) -> str:
    title = escaped(layout.heading(paper))
    url = safe.address(paper.url)
    parts = [f"[{title}](<{url}>)" if url else title]
    parts += [escaped(layout.authors(paper.authors))] if paper.authors else []
    parts += [f"*{escaped(layout.where(paper))}*"] if layout.where(paper) else []
    return ". ".join(part.removesuffix(".") for part in parts)
