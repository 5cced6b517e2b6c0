"""What a reader is given: the head of a source to recognise it by, and its lines, text or bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from rag.corpus import encoding

HEAD = 64 * 2**10
WHOLE_LIMIT = 2**30  # bytes of a source that a reader needs as a whole


class TooLarge(Exception):
    """A source that cannot be streamed is larger than ``WHOLE_LIMIT``."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first bytes of a source, the same as text ('' if it is none), and the columns named by hand."""

    data: bytes
    text: str
    mapping: Mapping[str, str] = field(default_factory=dict)

    @property
    def start(self) -> str:
        """The text from its first visible character on."""
        return self.text.lstrip("\ufeff \t\r\n")

    def lines(self) -> list[str]:
        """The lines of the head; the last one may be cut."""
        return self.text.splitlines()


@dataclass(frozen=True, slots=True)
class Stream:
    """A source that can be opened again and again. ``mapping`` names columns by hand."""

    open: Callable[[], BinaryIO]
    encoding: str
    mapping: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        with self.open() as source:
            yield from encoding.lines(source, self.encoding)

    def text(self) -> str:
        lines, size = [], 0
        for line in self.lines():
            lines.append(line)
            size += len(line) + 1
            if size > WHOLE_LIMIT:
                raise TooLarge
        return "\n".join(lines)

    def data(self) -> bytes:
        with self.open() as source:
            data = source.read(WHOLE_LIMIT + 1)
        if len(data) > WHOLE_LIMIT:
            raise TooLarge
        return data


def head_of(source: BinaryIO, mapping: Mapping[str, str] | None = None) -> tuple[Head, str]:
    """Return the head of ``source`` and its encoding, "binary" for what is not text."""
    data = source.read(HEAD)
    name = encoding.guess(data)
    if name is None:
        return Head(data, "", mapping or {}), "binary"
    return Head(data, _text(data, name), mapping or {}), name


def _text(data: bytes, name: str) -> str:
    if name != "utf-8":
        return data.decode(name, "ignore")
    for cut in range(4):  # the head may end within a character, which must not turn it into Windows-1252
        try:
            return data[: len(data) - cut].decode("utf-8")
        except UnicodeDecodeError:
            continue
    return "\n".join(map(encoding.decode, data.split(b"\n")))
