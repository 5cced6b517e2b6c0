"""Finds the files to read: those named, and in folders all that could hold papers, in a stable order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from rag.errors import UsageError
from rag.text.words import word_set

STDIN = Path("-")
_INDEX = "papers.sqlite"  # as rag.index.database.PAPERS, which is not to be imported here
# Content decides what a file is; these are skipped in folders (never when named) to spare a warning for each.
_FOREIGN = word_set(
    ".png .jpg .jpeg .gif .svg .webp .ico .bmp .tif .tiff .mp3 .mp4 .mov .avi .wav .py .pyc .ipynb .js",
    ".ts .css .c .h .cpp .rs .go .java .class .jar .so .dll .exe .o .a .sh .toml .yaml .yml .ini .cfg",
    ".lock .log .sqlite .db .bin .npy .npz .pt .onnx .gguf .safetensors .doc .docx .ppt .pptx .xls",
    ".xlsx .odt .tar .tgz .7z .rar .whl .html .htm .sty .cls .bst .aux .bbl",
)


def is_pipe(path: Path) -> bool:
    """Whether what is there can be read once only: standard input, or a pipe with a name (``<(...)``)."""
    return path == STDIN or path.is_fifo()


def discover(paths: Iterable[Path | str]) -> list[Path]:
    """Return the absolute paths of the files under ``paths``, each once, folders in sorted order.

    Hidden files and folders, folders that hold an index, files of foreign kinds (images, programs), pipes
    and sockets are skipped in folders; no file is when named. ``-`` stands for standard input and is returned
    as it is.

    Raises:
        UsageError: a path does not exist, or a folder holds nothing that could be read.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        found.update(dict.fromkeys([path] if path == STDIN else _under(path)))
    return list(found)


def _under(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(file for file in _walk(path) if file.suffix.lower() not in _FOREIGN)
        if not files:
            raise UsageError(
                f"There are no papers in the folder {path}.",
                "Name a folder or file with abstracts (text, JSON, BibTeX, RIS, CSV, ...).",
            )
        return files
    if not path.exists():
        raise UsageError(
            f"There is no file or folder {path}.", "Check the spelling; relative paths count from here."
        )
    return [Path(os.path.abspath(path))]


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(os.path.abspath(folder)):
        if _INDEX in names:  # its parts are text about papers, which would be read as papers
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        files = (Path(root, name) for name in names if not name.startswith("."))
        # Opening a pipe that nobody writes to waits for ever.
        yield from (file for file in files if file.is_file() or not file.exists())
