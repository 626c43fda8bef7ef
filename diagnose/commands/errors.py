"""Errors that end a command: what is wrong, where, and what to do, in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.catalogue.model import Trouble

_WARNINGS = 5  # troubles in pattern files that are shown before the answer
_INTERNAL = 70  # EX_SOFTWARE: a mistake of this program, apart from all codes that say something of the job


class CommandError(Exception):
    """Ends the command with an exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def one_line(message: str) -> str:
    """Give `message` on one line and without anything that a terminal would act on."""
    from diagnose.report.clean import safe

    return " ".join(safe(message).split())


def did_you_mean(word: str, known: list[str]) -> str:
    """Give a hint that names the most similar of the known words, or an empty text."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def complain(kind: str, message: str) -> None:
    """Print an error or a warning on standard error, in one line."""
    print(f"diagnose: {kind}: {one_line(message)}", file=sys.stderr)


def warn(troubles: Sequence[Trouble]) -> None:
    """Name the first broken pattern files on standard error."""
    for trouble in troubles[:_WARNINGS]:
        hint = f"; {trouble.hint}" if trouble.hint else ""
        where = f"{trouble.path}:{trouble.line}:{trouble.column}"
        complain("warning", f"{where}: {trouble.message}{hint}")
    if len(troubles) > _WARNINGS:
        more = len(troubles) - _WARNINGS
        complain("warning", f"{more} more in pattern files; see `diagnose patterns check`")


def guarded(command: Callable[[], object]) -> int:
    """Run a command and give the exit code; what it raises goes to standard error, one line each."""
    for stream in (sys.stdout, sys.stderr):
        # A log may hold what the terminal's encoding does not.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        code = command()
    except CommandError as error:
        complain("error", str(error))
        return error.exit_code
    except Exception as error:
        complain("error", _internal(error))
        return _INTERNAL
    return code if isinstance(code, int) else 0


def _internal(error: Exception) -> str:
    import traceback

    if os.environ.get("DIAGNOSE_DEBUG"):
        traceback.print_exc()
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return (
        f"internal error, {type(error).__name__}: {error}, in {where}; set DIAGNOSE_DEBUG=1 to see more, and report it"
    )
