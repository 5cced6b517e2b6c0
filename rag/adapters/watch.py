"""Waits for changes of files and folders, told by the operating system.

    for _ in changes([Path("papers")], ignore=[Path("my-index")]):
        ...                                       # once at the beginning, then after every burst of changes

A named file is watched through its folder, since most editors save by putting a new file in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import watchfiles

# How soon the first turn comes; what changes while it is taken is not missed.
_START_MS = 200


def changes(paths: Sequence[Path], ignore: Sequence[Path] = ()) -> Iterator[None]:
    """Yield once when watching has begun, and again whenever something under ``paths`` changed.

    Args:
        ignore: folders within ``paths`` whose changes are our own.
    """
    resolved = [path.resolve() for path in paths]
    folders = {path if path.is_dir() else path.parent for path in resolved}
    own = [path.resolve() for path in ignore]

    def ours(_: watchfiles.Change, name: str) -> bool:
        path = Path(name)
        under = next((each for each in resolved if path.is_relative_to(each)), None)
        return (
            under is not None
            and not any(part.startswith(".") for part in path.relative_to(under).parts)
            and not any(path.is_relative_to(each) for each in own)
        )

    began = False
    for changed in watchfiles.watch(
        *sorted(folders),
        watch_filter=ours,
        rust_timeout=_START_MS,
        yield_on_timeout=True,
        debug=False,
    ):
        if changed or not began:
            began = True
            yield
