"""What was found out about expressions, kept between starts: examining two thousand of them takes three seconds.

An edited pattern file, or one more folder of patterns, then costs only its own expressions.
"""

from __future__ import annotations

import os
import sys

from diagnose import __version__, shelf
from diagnose.catalogue import examine, expression, literals
from diagnose.catalogue.literals import Literals, required_literals
from diagnose.extension import extension_identity
from diagnose.typed import Any

_MOST = 20_000  # expressions that are kept


class Examined:
    """The expressions of one process, by their text; nothing is kept of those that have a fault."""

    def __init__(self) -> None:
        self._groups: dict[str, tuple[str, ...]] = {}
        self._literals: dict[str, tuple[tuple[str, ...], bool] | None] = {}
        self._fetched = False
        self._fresh = False

    def examine(self, text: str) -> tuple[frozenset[str], list[examine.Fault]]:
        """As the function of that name."""
        self._fetch()
        known = self._groups.get(text)
        if known is not None:
            return frozenset(known), []
        groups, faults = examine.examine(text)
        if not faults:
            self._groups[text] = tuple(sorted(groups))
            self._fresh = True
        return groups, faults

    def literals(self, text: str) -> Literals | None:
        """As `required_literals`."""
        self._fetch()
        if text not in self._literals:
            found = required_literals(text)
            self._literals[text] = None if found is None else (found.values, found.nocase)
            self._fresh = True
        known = self._literals[text]
        return None if known is None else Literals(*known)

    def save(self) -> None:
        """Keep what was found out; what prevents it is not reported."""
        if self._fresh and max(len(self._groups), len(self._literals)) <= _MOST:
            shelf.store(_path(), shelf.head_of(_identity(), self._groups, self._literals))
            self._fresh = False

    def _fetch(self) -> None:
        if self._fetched:
            return
        self._fetched = True
        kept = shelf.fetch(_path())
        found = kept.values(_identity(), 2) if kept else None
        if found and all(isinstance(each, dict) for each in found):
            self._groups, self._literals = found


def _identity() -> list[Any]:
    modules = (examine, expression, literals, sys.modules[__name__])
    try:
        sources = [(status.st_mtime_ns, status.st_size) for status in (os.stat(str(m.__file__)) for m in modules)]
    except OSError:
        sources = []
    return [__version__, sys.version, extension_identity("regex", "_regex"), sources]


def _path() -> str:
    return os.path.join(shelf.folder(), "expressions.examined")


EXAMINED = Examined()
