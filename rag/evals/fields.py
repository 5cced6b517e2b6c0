"""Typed access to the fields of a JSON object; what does not fit is refused by name.

>>> Fields({"id": "a", "tags": []}, "case", "id tags").text("id")
'a'
"""

from __future__ import annotations


class Fields:
    """One object. ``known`` lists the allowed names; every fault is a ValueError that names the field."""

    def __init__(self, record: object, what: str, known: str) -> None:
        if not isinstance(record, dict):
            raise ValueError(f"{what} is not an object")
        unknown = set(record) - set(known.split())
        if unknown:
            raise ValueError(f"{what}: unknown field {sorted(unknown)[0]!r} (known: {known})")
        self.record: dict[str, object] = record
        self.what = what

    def text(self, name: str, default: str | None = None) -> str:
        value = self.record.get(name, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise ValueError(f"{self.what}: {name} is missing or not a text")
        return value

    def flag(self, name: str, default: bool | None = None) -> bool:
        value = self.record.get(name, default)
        if not isinstance(value, bool):
            raise ValueError(f"{self.what}: {name} is missing or not true or false")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        value = self.record.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{self.what}: {name} is missing or not a number")
        return float(value)

    def whole(self, name: str) -> int | None:
        value = self.record.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise ValueError(f"{self.what}: {name} is not a whole number")
        return value

    def items(self, name: str) -> list[object]:
        value = self.record.get(name, [])
        if not isinstance(value, list):
            raise ValueError(f"{self.what}: {name} is not a list")
        return value

    def words(self, name: str) -> tuple[str, ...]:
        items = self.items(name)
        if not all(isinstance(item, str) and item for item in items):
            raise ValueError(f"{self.what}: {name} is not a list of texts")
        return tuple(str(item) for item in items)

    def objects(self, name: str) -> list[dict[str, object]]:
        items = self.items(name)
        if not all(isinstance(item, dict) for item in items):
            raise ValueError(f"{self.what}: {name} is not a list of objects")
        return [item for item in items if isinstance(item, dict)]
