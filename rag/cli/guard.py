"""The command group that turns every failure into what a user should see, with its exit code.

    RagError           one line on stderr with its remedy; its own exit code
    KeyboardInterrupt  130, quietly
    a closed pipe      0, quietly (``rag papers | head -1``)
    anything else      a bug: the traceback stays

``--debug``, ``--quiet`` and ``--chroma-url URL`` are understood anywhere on the command line, not just before
the command.
"""

from __future__ import annotations

import os
import sys
from itertools import islice
from typing import Any

import typer
from typer.core import TyperGroup

from rag.cli import output
from rag.errors import RagError

ANYWHERE = ("--debug", "--quiet", "-q")
ANYWHERE_WITH_VALUE = "--chroma-url"
INTERRUPTED = 130


class Guarded(TyperGroup):
    """Parses and runs like any group, but lets nothing of the error family out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, hoisted(args))

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except RagError as error:
            if ctx.params.get("debug"):
                raise
            output.error(error)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Python flushes stdout once more at its end; give it somewhere to go.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


def hoisted(args: list[str]) -> list[str]:
    """Move the options of the whole program to the front; what follows ``--`` is left alone.

    >>> hoisted(["ask", "why?", "--debug"])
    ['--debug', 'ask', 'why?']
    """
    stop = args.index("--") if "--" in args else len(args)
    ours: list[str] = []
    others: list[str] = []
    words = iter(args[:stop])
    for word in words:
        if word == ANYWHERE_WITH_VALUE:
            ours += [word, *islice(words, 1)]
        else:
            chosen = ours if word in ANYWHERE or word.startswith(f"{ANYWHERE_WITH_VALUE}=") else others
            chosen.append(word)
    return ours + others + args[stop:]
