"""The three ways to check a written sentence: ``--verify lexical`` (the default), ``model`` and ``off``.

All have ``check(draft) -> Checked``; "lexical" is ``rag.chain.verify.Checker`` itself. "model" asks a model
about what that one let pass, and can only be stricter; "off" checks only that the cited numbers exist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from rag.chain.fence import fence
from rag.chain.verify import Checked
from rag.ports import ChatModel, ChatRequest
from rag.prompts import Prompts
from rag.records import Citation, Draft, Evidence, Paper, Sentence

_YES = re.compile(r"\W*yes\b", re.I)
_REPLY_TOKENS = 40


class DraftChecker(Protocol):
    """Checks one draft against the evidence it was written from."""

    def check(self, draft: Draft) -> Checked: ...


class Unchecked:
    """Lets every sentence pass as "weak"; quotations are located where they stand word for word."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self._papers = {item.ref: item.paper for item in evidence}

    def check(self, draft: Draft) -> Checked:
        """Return the sentence with those of its citations whose paper exists."""
        citations = []
        for claim in draft.claims:
            paper = self._papers.get(claim.ref)
            if paper is not None:
                start = max(paper.abstract.find(claim.quote), 0) if claim.quote else 0
                quote = claim.quote if claim.quote and claim.quote in paper.abstract else ""
                citations.append(Citation(claim.ref, paper.key, quote, start, start + len(quote), 0.0))
        invalid = sum(claim.ref not in self._papers for claim in draft.claims)
        sentence = Sentence(draft.text, "weak", tuple(citations), "not checked")
        return Checked(sentences=(sentence,), invalid_refs=invalid)


class Entailed:
    """Asks a model whether the cited abstracts state what passed the lexical check, unless it is verbatim."""

    def __init__(
        self, inner: DraftChecker, papers: Mapping[str, Paper], model: ChatModel, prompts: Prompts
    ) -> None:
        self._inner, self._papers = inner, papers
        self._model, self._prompts = model, prompts

    def check(self, draft: Draft) -> Checked:
        """Return the inner outcome, a sentence that the model denies moved to ``removed``."""
        checked = self._inner.check(draft)
        kept, removed = [], list(checked.removed)
        for sentence in checked.sentences:
            if sentence.verdict in ("verbatim", "unsupported"):
                kept.append(sentence)
            elif self._stated(sentence):
                kept.append(replace(sentence, verdict="supported"))
            else:
                note = "the model finds it not stated by its source"
                removed.append(replace(sentence, verdict="unsupported", note=note))
        return replace(checked, sentences=tuple(kept), removed=tuple(removed))

    def _stated(self, sentence: Sentence) -> bool:
        keys = dict.fromkeys(citation.key for citation in sentence.citations)
        evidence = "\n".join(fence(self._papers[key].abstract).text for key in keys)
        messages = self._prompts.load("entail").messages(evidence=evidence, statement=sentence.text)
        deltas = self._model.stream(ChatRequest(messages, max_tokens=_REPLY_TOKENS))
        text = ""
        for delta in deltas:
            text = delta.text if delta.restart else text + delta.text
        return bool(_YES.match(text))
