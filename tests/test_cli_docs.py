"""docs/cli.md says what the commands say."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import cli_docs  # noqa: E402


def test_json_is_short_for_a_format_only_where_there_are_formats() -> None:
    sections = cli_docs.FILE.read_text(encoding="utf-8").split("\n## ")
    with_json = [section for section in sections if "  --json " in section]
    assert len(with_json) > 8
    for section in with_json:
        short = "Short for --format json." in section
        assert short == ("  -f, --format FORMAT" in section), section.partition("\n")[0]


def test_the_page_of_commands_is_up_to_date() -> None:
    assert cli_docs.FILE.read_text(encoding="utf-8") == cli_docs.page(), "run: make docs"
