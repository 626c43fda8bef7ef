"""The command line: thin, one command a file, nothing imported before it is needed."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from diagnose import __version__
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.modules import Modules

__all__ = ["entry", "main"]

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_GARBAGE = (100_000, 50, 100)  # a short run makes few cycles; looking for them costs a tenth of the start


def main(arguments: Sequence[str] | None = None, *, modules: Modules | None = None) -> int:
    """Run the command line and give its exit code.

    `arguments` come without the program's name; None takes those of the process. `modules` are there where this process
    is the program: it may start another that works ahead.
    """
    gc.set_threshold(*_GARBAGE)
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        # Scripts ask for it often, and the rest of the command line takes longer to load than to answer.
        print(f"diagnose {__version__}")
        return 0
    from diagnose.commands.plain import plain

    ahead = None
    try:
        known = plain(given)
        if known is None:
            from diagnose.commands.group import run

            return run(given)
        if modules is not None:
            from diagnose.ahead import look_ahead

            ahead = look_ahead(known, modules.keep)
        from diagnose.commands.answer import answer
        from diagnose.commands.errors import guarded

        return guarded(lambda: answer(**known, ahead=ahead))
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        if ahead is not None:
            ahead.close()


def entry() -> int:
    """Be the program: run the process's command line and give its exit code, or leave with it."""
    try:
        if sys.argv[1:] == ["--version"]:
            return main()
        from diagnose.modules import install

        modules = install()
        code = main(modules=modules)
        if "click" in sys.modules:
            return code
        if code != INTERRUPTED:
            modules.keep()
    except KeyboardInterrupt:  # the second one, or one while modules were read or kept
        code = INTERRUPTED
    # A plain call leaves nothing that needs an end of its own; taking all objects apart takes a tenth of its time.
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        return code
    os._exit(code)
