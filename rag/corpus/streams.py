"""What a reader is given: the head of a file to recognise it by, and its lines, text or bytes to read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from rag.corpus import encoding

HEAD = 64 * 2**10


@dataclass(frozen=True, slots=True)
class Head:
    """The first bytes of a file, and the same as text ('' for what is not text)."""

    data: bytes
    text: str

    @property
    def start(self) -> str:
        """The text from its first visible character on."""
        return self.text.lstrip("\ufeff \t\r\n")

    def lines(self) -> list[str]:
        """The whole lines that lie within the head."""
        return self.text.splitlines()


@dataclass(frozen=True, slots=True)
class Stream:
    """An opened source. ``name`` is the file's name for messages; ``mapping`` names columns by hand."""

    name: str
    open: Callable[[], BinaryIO]
    encoding: str
    mapping: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        with self.open() as source:
            yield from encoding.lines(source, self.encoding)

    def text(self) -> str:
        return "\n".join(self.lines())

    def data(self) -> bytes:
        with self.open() as source:
            return source.read()


def head_of(source: BinaryIO) -> tuple[Head, str | None]:
    """Return the head of ``source`` and its encoding, None for what is not text."""
    data = source.read(HEAD)
    name = encoding.guess(data)
    if name is None:
        return Head(data, ""), None
    if name == "utf-8":
        # The head may end within a character; that must not turn the whole of it into Windows-1252.
        whole = data[: data.rfind(b"\n") + 1] or data
        return Head(data, encoding.decode(whole) if whole != data else _decode_cut(data)), name
    return Head(data, data.decode(name, "ignore")), name


def _decode_cut(data: bytes) -> str:
    for cut in range(4):
        try:
            return data[: len(data) - cut].decode("utf-8")
        except UnicodeDecodeError:
            continue
    return encoding.decode(data)
