"""Files of an eval, written whole or not at all; what is wrong with one is told in one line.

check(path)                   # before the hours of work whose outcome goes there
write(path, text)
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag import whole_file
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
        path.parent.mkdir(parents=True, exist_ok=True)
        whole_file.write(path, text)


def append(path: Path, text: str) -> None:
    """Add ``text`` at the end of a file; raises what ``write`` does."""
    with _told(path, "written"), path.open("a", encoding="utf-8") as file:
        file.write(text)


def check(path: Path) -> None:
    """Raise what ``write`` would, as far as that can be known; the folders above ``path`` are made."""
    with _told(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        whole_file.check(path)


def read(path: Path) -> str:
    """Return the text of a file.

    Raises:
        UsageError: it is missing, a folder, or not UTF-8.
        EnvironmentFault: it may not be read.
    """
    with _told(path, "read"):
        return path.read_text("utf-8")


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
