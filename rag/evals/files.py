"""Files that are written whole or not at all: whoever reads one never meets half of it.

check(path)                   # before the hours of work whose outcome goes there
write(path, text)
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.errors import EnvironmentFault, RagError, UsageError

MISNAMED = frozenset({errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG})
"""What is wrong with the name; anything else is wrong with the place."""
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def write(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, with the folders above it.

    Raises:
        UsageError: no file can have that name.
        EnvironmentFault: the disk is full, or nothing may be written there.
    """
    with _told(path, "written"):
        part = _prepared(path)
        try:
            part.write_text(text, "utf-8")
            if part != path:
                os.replace(part, path)
        except OSError:
            if part != path:
                part.unlink(missing_ok=True)
            raise


def append(path: Path, text: str) -> None:
    """Add ``text`` at the end of a file; raises what ``write`` does."""
    with _told(path, "written"), path.open("a", encoding="utf-8") as file:
        file.write(text)


def check(path: Path) -> None:
    """Raise what ``write`` would, as far as that can be known; the folders above ``path`` are made."""
    with _told(path, "written"):
        part = _prepared(path)
        if part != path:
            part.touch()
            part.unlink()
        elif not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def read(path: Path) -> str:
    """Return the text of a file.

    Raises:
        UsageError: it is missing, a folder, or not UTF-8.
        EnvironmentFault: it may not be read.
    """
    with _told(path, "read"):
        return path.read_text("utf-8")


def _prepared(path: Path) -> Path:
    """Return what to write to: a file beside ``path``; itself if it is a device, a pipe or a link.

    To put a file in the place of /dev/null would break the machine.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = not path.exists() or (path.is_file() and not path.is_symlink())
    return path.with_name(f".{path.name}.{os.getpid()}.part") if plain else path


@contextmanager
def _told(path: Path, done: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise UsageError(f"{path} cannot be {done}: {error.strerror}.", "Check its name.") from error
    except OSError as error:
        raise _fault(error)(f"{path} cannot be {done}: {error.strerror or error}.", _remedy(error)) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not a UTF-8 text file.", "Save it as UTF-8.") from error


def _fault(error: OSError) -> type[RagError]:
    return UsageError if error.errno in MISNAMED else EnvironmentFault


def _remedy(error: OSError) -> str:
    if error.errno in MISNAMED:
        return "Name another file."
    if error.errno in FULL:
        return "Make room there, or name another file."
    return "Check the permissions, or name another file."
