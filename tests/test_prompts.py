"""Prompts: the shipped ones are sound, overrides are checked, placeholders are neither lost nor invented."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from rag import prompts
from rag.errors import UsageError
from rag.ports import Message
from rag.prompts import Prompts

SHIPPED = Path(prompts.__file__).parents[1] / "prompts"


def write(folder: Path, name: str, text: str) -> Prompts:
    (folder / name).write_text(text, encoding="utf-8")
    return Prompts(folder)


def test_every_shipped_prompt_loads_and_has_its_digest() -> None:
    digests = prompts.digests(Prompts())
    assert {"answer", "answer-plain", "repair", "entail"} <= set(digests)
    for name, digest in digests.items():
        assert digest == hashlib.sha256((SHIPPED / f"{name}.md").read_bytes()).hexdigest()


def test_no_shipped_prompt_shows_a_citation_mark_to_copy() -> None:
    for name in Prompts().names():
        for _, text in Prompts().load(name).sections:
            assert not any(f"[{n}]" in text for n in range(10))


def test_sections_become_messages_and_the_preface_is_not_sent(tmp_path: Path) -> None:
    loaded = write(
        tmp_path, "repair.md", "For the reader.\n\n## System\nBe $tone.\n\n## user\nAsk $$5: $error\n"
    )
    assert loaded.load("repair").messages(tone="kind", error="$tone") == (
        Message("system", "Be kind."),
        Message("user", "Ask $5: $tone"),
    )


def test_an_override_replaces_one_prompt_only(tmp_path: Path) -> None:
    loaded = write(tmp_path, "answer.md", "## user\n$evidence $question")
    assert loaded.load("answer").path.parent == tmp_path
    assert loaded.load("repair").path.parent == SHIPPED
    assert loaded.load("answer").info.sha256 != Prompts().load("answer").info.sha256


def test_line_ends_do_not_change_the_digest(tmp_path: Path) -> None:
    text = (SHIPPED / "answer.md").read_bytes().replace(b"\n", b"\r\n")
    (tmp_path / "answer.md").write_bytes(text)
    assert Prompts(tmp_path).load("answer").info == Prompts().load("answer").info


def test_a_lost_placeholder_is_an_error(tmp_path: Path) -> None:
    loaded = write(tmp_path, "answer.md", "## user\n$question $evidnce")
    with pytest.raises(UsageError, match=r"lacks \$evidence and has unknown \$evidnce") as caught:
        loaded.load("answer").messages(question="q", evidence="e")
    assert caught.value.remedy == "Its placeholders are $evidence, $question."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("No sections.", "has no section '## user'"),
        ("## user\n5$ only", "has a '\\$' that starts no placeholder"),
    ],
)
def test_a_malformed_prompt_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        write(tmp_path, "answer.md", text).load("answer")


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        Prompts(tmp_path).load("answer")


def test_a_misspelt_override_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"replaces no prompt.*Did you mean answer.md"):
        write(tmp_path, "awnser.md", "## user\n")


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        Prompts(tmp_path / "nowhere")
