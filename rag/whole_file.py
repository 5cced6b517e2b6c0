"""A file that is written whole or not at all: whoever reads it never meets half of it.

    write(path, text)

The text goes to a hidden file beside it, which takes its name in one step once all of it is on the disk. A
device, a pipe or a link is written to instead: a file in the place of /dev/null would break the machine.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path


def write(path: Path, text: str, *, private: bool = False) -> None:
    """Write ``text`` as UTF-8; a ``private`` file can be read by its owner only.

    Raises:
        OSError: it cannot be written; what was there still is, and nothing was left beside it.
    """
    if not _plain(path):
        path.write_text(text, "utf-8")
        return
    part = _beside(path)
    try:
        part.touch(0o600 if private else 0o666, exist_ok=False)
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def check(path: Path) -> None:
    """Raise what ``write`` would, as far as that can be known without writing."""
    if _plain(path):
        part = _beside(path)
        part.touch()
        part.unlink()
    elif path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    elif path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _plain(path: Path) -> bool:
    """Whether an ordinary file is there, or nothing."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True


def _beside(path: Path) -> Path:
    """A name of its own for every write; not made from the file's, which may be as long as names can be."""
    return path.with_name(f".{secrets.token_hex(8)}.part")
