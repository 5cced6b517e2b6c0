"""Bytes to text: UTF-8, UTF-32 and (if Latin) UTF-16 with or without a mark, else Windows-1252 line by line.

A file that is nearly all UTF-8 with one stray Latin-1 line is read right, line for line. Bytes that are no
text at all are recognised as such and refused by the caller.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO

LINE_LIMIT = 32 * 2**20  # bytes; a longer line is no record of one paper
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TEXT_CONTROLS = frozenset(b"\t\n\r\x0b\x0c\x1b\x85\x1a")


def guess(head: bytes) -> str | None:
    """Return the encoding of a file that starts with ``head``; None when it does not look like text."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if b"\0" in head:
        return _wide(head)
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in head)
    return None if controls > len(head) / 100 else "utf-8"


def _wide(head: bytes) -> str | None:
    """UTF-16 and UTF-32 without their mark: every other byte of Latin text is zero, or three of four are."""
    for name in ("utf-32-le", "utf-32-be"):
        if _is_utf32(head, name):
            return name
    for name, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if len(zeros) > 1 and zeros.count(0) > 0.6 * len(zeros) and head.count(0) < 0.6 * len(head):
            return name
    return None


def _is_utf32(head: bytes, name: str) -> bool:
    """Whether all of it are characters of text, which few bytes of anything else are.

    Two of four bytes are zero in every character but emoji and their like.
    """
    try:
        text = head[: len(head) // 4 * 4].decode(name)
    except UnicodeDecodeError:
        return False
    controls = sum(ord(char) < 32 and ord(char) not in _TEXT_CONTROLS for char in text)
    return len(text) > 1 and controls <= len(text) / 100 and head.count(0) > 0.45 * len(head)


def decode(data: bytes) -> str:
    """Return one line (or a short text) as text: UTF-8, else Windows-1252, never an error."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        # Five bytes are undefined in Windows-1252; Latin-1 has control characters there, cleaned away later.
        return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in data)


def lines(source: BinaryIO, encoding: str) -> Iterator[str]:
    """Yield the lines of ``source`` without their ends; a line above ``LINE_LIMIT`` is cut there."""
    if encoding.startswith(("utf-16", "utf-32")):
        with io.TextIOWrapper(source, encoding=encoding, errors="replace") as wrapper:
            yield from (line.rstrip("\n") for line in wrapper)
        return
    first = True
    while data := source.readline(LINE_LIMIT):
        whole = data.endswith(b"\n") or len(data) < LINE_LIMIT
        if first and data.startswith(codecs.BOM_UTF8):
            data = data[len(codecs.BOM_UTF8) :]
        first = False
        yield from decode(data).rstrip("\r\n").split("\r")
        while not whole:
            rest = source.readline(LINE_LIMIT)
            whole = not rest or rest.endswith(b"\n")
