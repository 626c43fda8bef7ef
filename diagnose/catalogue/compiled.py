"""Compiled expressions, kept between starts: taking one back costs a hundredth of compiling it.

`regex` pickles a compiled expression as its own program. Those that a run needed are kept in one file beside the cached
catalogue, under the versions of Python and of `regex`; whatever is wrong with the file, they are compiled anew.
"""

from __future__ import annotations

import marshal
import os
import sys

from diagnose.catalogue import shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import regex

_MOST = 3000  # expressions that are kept


class Expressions:
    """The expressions of one process."""

    def __init__(self) -> None:
        self._ready: dict[str, regex.Pattern[str]] = {}
        self._kept: dict[str, tuple[Any, ...]] | None = None  # the programs in the file; None before it was read
        self._fresh: list[str] = []

    def compiled(self, text: str) -> regex.Pattern[str]:
        """Return an expression compiled; raises regex.error where it is none."""
        found = self._ready.get(text)
        if found is None:
            found = self._ready[text] = self._taken_back(text) or self._compile(text)
        return found

    def save(self) -> None:
        """Keep what had to be compiled; what prevents it is not reported."""
        if not self._fresh:
            return
        import copyreg

        import regex

        program = copyreg.dispatch_table[regex.Pattern]
        fresh = {text: program(self._ready[text])[1] for text in self._fresh}
        self._fresh.clear()
        kept = self._read()  # another process may have added to it meanwhile
        if len(kept) + len(fresh) > _MOST:
            kept = {}
        shelf.store(_path(), marshal.dumps((_identity(), {**kept, **fresh})))

    def _taken_back(self, text: str) -> regex.Pattern[str] | None:
        if self._kept is None:
            self._kept = self._read()
        program = self._kept.get(text)
        if program is None:
            return None
        import copyreg

        import regex

        pattern = regex.Pattern
        build: Any = copyreg.dispatch_table[pattern](regex.compile(""))[0]
        try:
            found = build(*program)
        except (TypeError, ValueError, RuntimeError, regex.error):
            return None
        return found if isinstance(found, pattern) and found.pattern == text else None

    def _compile(self, text: str) -> regex.Pattern[str]:
        from diagnose.catalogue.examine import compile_expression

        found = compile_expression(text)
        self._fresh.append(text)
        return found

    def _read(self) -> dict[str, tuple[Any, ...]]:
        file = shelf.fetch(_path())
        if file is None:
            return {}
        try:
            identity, kept = marshal.loads(memoryview(file[1])[file[2] :])
        except (ValueError, TypeError, EOFError):
            return {}
        return kept if identity == _identity() and isinstance(kept, dict) else {}


def _path() -> str:
    return os.path.join(shelf.folder(), "expressions.re")


def _identity() -> list[Any]:
    import regex

    return [regex.__version__, list(sys.version_info[:3]), sys.byteorder]


EXPRESSIONS = Expressions()
