"""What a recorded message would be now that its prompt has changed: values out of the old, into the new.

>>> filled("## user\\nAsk: $q", "## user\\nPlease ask: $q", ["Ask: why?"])
('Ask: why?', 'Please ask: why?')
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

PLACE = re.compile(r"\$(\$|\{?([A-Za-z_]\w*)\}?)")


def filled(old: str, new: str, messages: Sequence[str]) -> tuple[str, str]:
    """Return a recorded message and what it would be now: the old template's values put into the new one.

    If no message was made from the old template, the templates themselves.
    """
    olds, news = _sections(old), _sections(new)
    for role, text in olds.items():
        for message in messages if news.get(role, text) != text else ():
            found = re.fullmatch(_pattern(text), message, re.DOTALL)
            if found:
                return message, _substituted(news[role], found.groupdict())
    return old, new


def _substituted(template: str, values: Mapping[str, str]) -> str:
    """Like ``string.Template``, but a placeholder without a value stays."""
    return PLACE.sub(lambda found: "$" if found[1] == "$" else values.get(found[2], found[0]), template)


def _sections(text: str) -> dict[str, str]:
    pieces = re.split(r"^## (\w+)\n", text, flags=re.MULTILINE)
    return {role: body.strip() for role, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def _pattern(template: str) -> str:
    """A pattern of the template's messages with a group for each placeholder."""
    seen: set[str] = set()
    parts = re.split(r"(\$\$|\$\{?[A-Za-z_]\w*\}?)", template)
    for place, part in enumerate(parts):
        name = part.strip("${}")
        if part == "$$":
            parts[place] = r"\$"
        elif part.startswith("$"):
            parts[place] = f"(?P={name})" if name in seen else f"(?P<{name}>.*)"
            seen.add(name)
        else:
            parts[place] = re.escape(part)
    return "".join(parts)
