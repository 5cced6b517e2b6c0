"""Looks up what a model costs, in ``prices.json`` and in the user's settings, which come first.

>>> price("gpt-4o-mini-2024-07-18", {})
(0.15, 0.6)
>>> price("qwen2.5:7b", {}) is None         # unknown is not free
True
>>> price("qwen2.5:7b", {"qwen2.5:7b": (0.0, 0.0)})
(0.0, 0.0)
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

Price = tuple[float, float]
_TABLE = Path(__file__).with_name("prices.json")
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def price(model: str, extra: Mapping[str, Price]) -> Price | None:
    """Return USD per million tokens of prompt and of completion, None when unknown.

    A dated version ("gpt-4o-2024-08-06") costs what its model does unless it is listed itself.
    """
    table = json.loads(_TABLE.read_text(encoding="utf-8"))["prices"]
    for name in (model, _DATED.sub("", model)):
        if name in extra:
            return extra[name]
        if name in table:
            prompt, completion = table[name]
            return float(prompt), float(completion)
    return None
