"""The error family: every failure a user can meet, with the exit code of the process and the remedy.

    RagError
    ├── UsageError        2   the command's words, a file or a value given by the user
    ├── EnvironmentFault  4   this machine: an unreadable index, a full disk, a missing package
    │   ├── IndexMissing      no index where one was named
    │   └── IndexMismatch     an index made with another format or embedder
    ├── ProviderError     4   a model server: unreachable, refusing, answering nonsense
    └── TapeError         3   a recorded response is missing or stale

Vendor exceptions are translated into these at the border (in ``rag.adapters``); nothing else is shown to a
user in one line. An exception outside the family is a bug and keeps its traceback.
"""

from __future__ import annotations


class RagError(Exception):
    """A failure with a remedy.

    Args:
        message: what is wrong, in one line, naming the file, value or address concerned.
        remedy: what the user can do about it, in one line; empty when nothing can be done.
    """

    exit_code = 4

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".rstrip()


class UsageError(RagError):
    """The user's words, files or values are off."""

    exit_code = 2


class EnvironmentFault(RagError):
    """Something about this machine is off: disk, permissions, packages, a stored index."""


class IndexMissing(EnvironmentFault):
    """There is no index in the folder that was named."""


class IndexMismatch(EnvironmentFault):
    """The index was made with another format version or another embedder."""


class ProviderError(RagError):
    """A model server did not give a usable response."""


class TapeError(RagError):
    """A recorded response is missing or stale."""

    exit_code = 3
