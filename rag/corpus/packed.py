"""Opens what is packed: .gz, .bz2, .xz and .zip by their content, and standard input, as sources to read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

Open = Callable[[], BinaryIO]
_SINGLE: dict[bytes, Callable[[BinaryIO], BinaryIO]] = {
    b"\x1f\x8b": lambda source: cast(BinaryIO, _Owning(gzip.GzipFile(fileobj=source), source)),
    b"BZh": lambda source: cast(BinaryIO, _Owning(bz2.BZ2File(source), source)),
    b"\xfd7zXZ\0": lambda source: cast(BinaryIO, _Owning(lzma.LZMAFile(source), source)),  # noqa: SIM115
}
# What the unpackers raise on damaged data, beside OSError.
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Source:
    """Something to read: ``member`` is its name within a zip, else ''."""

    open: Open
    member: str = ""


def sources(path: Path) -> Iterator[Source]:
    """Yield what ``path`` holds, unpacked: itself, or a zip's members, sorted, hidden ones skipped."""
    yield from _unpacked(lambda: path.open("rb"), "")


@contextmanager
def standard_input() -> Iterator[Path]:
    """Hold standard input in a temporary file, since readers look at a source more than once."""
    with tempfile.NamedTemporaryFile(prefix="rag-stdin-") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        yield Path(file.name)


def _unpacked(open_: Open, member: str) -> Iterator[Source]:
    with open_() as source:
        magic = source.read(6)
    for mark, unpack in _SINGLE.items():
        if magic.startswith(mark):
            yield from _once(lambda unpack=unpack: unpack(open_()), member)  # type: ignore[misc]
            return
    if magic.startswith(b"PK\x03\x04"):
        yield from _members(open_)
    else:
        yield Source(open_, member)


def _once(open_: Open, member: str) -> Iterator[Source]:
    """What came out of a single-file packing; a zip within it is opened, further nesting is not."""
    with open_() as source:
        zipped = source.read(4) == b"PK\x03\x04"
    yield from _members(open_) if zipped else iter([Source(open_, member)])


def _members(open_: Open) -> Iterator[Source]:
    with open_() as source, zipfile.ZipFile(source) as archive:
        names = sorted(info.filename for info in archive.infolist() if not info.is_dir())
    for name in names:
        if not any(part.startswith((".", "__MACOSX")) for part in name.split("/")):
            yield _member(open_, name)


def _member(open_: Open, name: str) -> Source:
    """One file of a zip, unpacked when it is opened: what is wrong with it must not cost the others."""

    def opened() -> BinaryIO:
        source = open_()
        try:
            return cast(BinaryIO, _Owning(zipfile.ZipFile(source).open(name), source))
        except BaseException:
            source.close()
            raise

    def unpacked() -> BinaryIO:
        with opened() as member:
            magic = member.read(6)
        unpack = next((unpack for mark, unpack in _SINGLE.items() if magic.startswith(mark)), None)
        return unpack(opened()) if unpack else opened()

    return Source(unpacked, name)


class _Owning(io.BufferedIOBase):
    """A reading file that closes the file beneath it as well."""

    def __init__(
        self, file: gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile | IO[bytes], beneath: BinaryIO
    ) -> None:
        self._file, self._beneath = file, beneath

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def read(self, size: int | None = -1, /) -> bytes:
        return self._file.read(-1 if size is None else size)

    def read1(self, size: int = -1, /) -> bytes:
        return self._file.read(size)

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._file.readline(-1 if size is None else size)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._file.close()
            self._beneath.close()
