"""Values as people write them, turned into what the program uses; used for settings and options alike.

>>> years(">=2024"), years("2020-2024"), years("2025")
((2024, 9999), (2020, 2024), (2025, 2025))
>>> flag("off")
False

Every function raises ValueError with an ending for the sentence "Bad top '0': must be ...".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

FIRST_YEAR, LAST_YEAR = 0, 9999
MOST_PRICE = 1e9


def text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a text that is not empty")
    return value.strip()


def legible(words: str) -> str:
    """Return words typed by somebody with "?" for what is no text.

    Bytes that are no UTF-8 arrive from the command line as halves of characters, which can be neither stored,
    searched nor sent. A file's name must stay as it came.
    """
    return words.encode("utf-8", "replace").decode("utf-8")


def url(value: object) -> str:
    address = text(value)
    if not re.match(r"https?://[^\s/]", address):
        raise ValueError("must be an address that starts with http:// or https://")
    if "@" in urlsplit(address).netloc:  # it would be shown in messages, kept in sessions and in results
        raise ValueError("must not hold a name and password; a key has a setting of its own")
    return address.rstrip("/")


def path(value: object) -> Path:
    return Path(value if isinstance(value, Path) else text(value)).expanduser()


def flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    words = dict.fromkeys(("1", "true", "yes", "on"), True)
    words |= dict.fromkeys(("0", "false", "no", "off"), False)
    if not isinstance(value, str) or value.strip().lower() not in words:
        raise ValueError("must be true or false")
    return words[value.strip().lower()]


def number(low: float, high: float, kind: type[int] | type[float]) -> Callable[[object], object]:
    def convert(value: object) -> object:
        expected = f"must be a{' whole' if kind is int else ''} number from {low:g} to {high:g}"
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(expected)
        try:
            number = kind(value)
        except (ValueError, OverflowError):  # infinity as a whole number, or one of 400 digits as a float
            raise ValueError(expected) from None
        if not low <= number <= high or (kind is int and isinstance(value, float) and number != value):
            raise ValueError(expected)
        return number

    return convert


def choice(*choices: str) -> Callable[[object], object]:
    def convert(value: object) -> object:
        if value not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return value

    return convert


def prices(value: object) -> object:
    if not isinstance(value, Mapping):
        raise ValueError("must be a table of model = [prompt, completion]")
    return MappingProxyType({model: _price(model, pair) for model, pair in value.items()})


def _price(model: str, pair: object) -> tuple[float, float]:
    match pair:
        case [int() | float() as prompt, int() | float() as completion] if all(
            0 <= price <= MOST_PRICE for price in (prompt, completion)
        ):
            return float(prompt), float(completion)
    raise ValueError(f"{model} needs two prices in USD per million tokens, as [prompt, completion]")


def years(value: str) -> tuple[int, int]:
    """Return the inclusive range meant by ``2024``, ``2020-2024``, ``2020-``, ``>=2024`` and their like."""
    if match := re.fullmatch(r"\s*(>=|<=|>|<|=)?\s*(\d{4})\s*", value):
        sign, year = match[1] or "=", int(match[2])
        first = {"=": year, ">=": year, ">": year + 1}.get(sign, FIRST_YEAR)
        last = {"=": year, "<=": year, "<": year - 1}.get(sign, LAST_YEAR)
        return first, last
    if match := re.fullmatch(r"\s*(\d{4})?\s*(?:-|–|\.\.)\s*(\d{4})?\s*", value):
        first, last = int(match[1] or FIRST_YEAR), int(match[2] or LAST_YEAR)
        if first <= last and (match[1] or match[2]):
            return first, last
    raise ValueError("must be like 2024, 2020-2024 or >=2024")
