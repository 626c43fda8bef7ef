"""The command line: thin, one command a file, nothing imported before it is needed."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code.

    `arguments` come without the program's name; None takes those of the process.
    """
    from diagnose.commands.group import run

    try:
        return run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        return INTERRUPTED
