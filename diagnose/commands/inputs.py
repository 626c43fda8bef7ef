"""What the command line says is to be read."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence

from diagnose.commands.errors import CommandError, did_you_mean
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.reason.result import Diagnosis

_UNREADABLE = 3


def piped() -> bool:
    """Is standard input something that holds a log: a pipe, a socket or a file? A terminal and /dev/null are not."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)


def given(paths: Sequence[str]) -> list[str]:
    """Give the paths to read: those named, or standard input where a log is piped in.

    Raises click's UsageError where there is neither.
    """
    if paths:
        return list(paths)
    if piped():
        return ["-"]
    from click import UsageError

    raise UsageError("Name a log, a folder, or - for standard input.")


def require_readable(diagnosis: Diagnosis, paths: Sequence[str]) -> None:
    """Raise CommandError (3) where not one of the inputs could be read."""
    if any(item.bytes or not item.problems for item in diagnosis.inputs):
        return
    from diagnose.commands.names import COMMANDS

    problems = [f"{item.path}: {problem}" for item in diagnosis.inputs for problem in item.problems[:1]]
    message = "; ".join(problems[:3]) or f"nothing to read in {' '.join(paths)}"
    more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
    hint = did_you_mean(paths[0], list(COMMANDS)) if paths and paths[0].isalpha() else ""
    raise CommandError(f"{message}{more}{hint}", _UNREADABLE)
