"""docs/cli.md says what the commands say."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import cli_docs  # noqa: E402


def test_the_page_of_commands_is_up_to_date() -> None:
    assert cli_docs.FILE.read_text(encoding="utf-8") == cli_docs.page(), "run: make docs"
