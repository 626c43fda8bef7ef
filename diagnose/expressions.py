"""Compiled expressions, kept between starts: taking one back costs a hundredth of compiling it.

What runs needed is kept in one file beside the cached catalogue, under what identifies the engines.
"""

from __future__ import annotations

import os
import re
import zlib

from diagnose import shelf
from diagnose.engines import (
    identity,
    regex_engine,
    regex_program,
    standard_engine,
    standard_program,
)
from diagnose.extension import SURPRISES
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import regex

_MOST = 3000  # expressions of a kind that are kept


def search_within(compiled: regex.Pattern[str], text: str, seconds: float) -> regex.Match[str] | None:
    """Search a text; raises TimeoutError where that takes longer than `seconds` of the whole process's time."""
    # Without `concurrent=False` other threads run meanwhile and use the time up, and what matches is not found.
    return compiled.search(text, timeout=seconds, concurrent=False)


class Expressions:
    """The expressions of one process."""

    def __init__(self) -> None:
        self._ready: dict[str, regex.Pattern[str] | None] = {}
        self._ready_standard: dict[tuple[str | bytes, int], re.Pattern[Any]] = {}
        self._fresh: list[str] = []
        self._fresh_standard: list[tuple[str | bytes, int]] = []
        self._file: _File | None = None

    def prepare(self) -> None:
        """Load what every expression needs: once, before workers part that would load it each."""
        self._kept()
        regex_engine()

    def compiled(self, text: str) -> regex.Pattern[str] | None:
        """Return an expression compiled by `regex`; None where it is none."""
        if text not in self._ready:
            self._ready[text] = self._taken_back(text) or self._compile(text)
        return self._ready[text]

    def standard(self, text: str | bytes, flags: int = 0) -> re.Pattern[Any]:
        """Return an expression compiled by `re`; raises re.error where it is none."""
        key = (text, int(flags))
        if key not in self._ready_standard:
            self._ready_standard[key] = self._standard(key)
        return self._ready_standard[key]

    def _standard(self, key: tuple[str | bytes, int]) -> re.Pattern[Any]:
        text, flags = key
        program = self._kept().standard.get(key)
        if program is not None:
            try:
                found = standard_engine().compile(text, *program)
            except SURPRISES:
                found = None
            if isinstance(found, re.Pattern):
                return found
        compiled = re.compile(text, flags)
        self._fresh_standard.append(key)
        return compiled

    def save(self) -> None:
        """Keep what had to be compiled; what prevents it is not reported."""
        if not self._fresh and not self._fresh_standard:
            return
        kept = _File()  # another process may have added to it meanwhile
        kept.add(
            {key: made for key in self._fresh_standard if (made := standard_program(*key)) is not None},
            {text: made for text in self._fresh if (made := regex_program(self._ready[text])) is not None},
        )
        self._fresh.clear()
        self._fresh_standard.clear()

    def _kept(self) -> _File:
        if self._file is None:
            self._file = _File()
        return self._file

    def _taken_back(self, text: str) -> regex.Pattern[str] | None:
        program = self._kept().regex.get(text)
        if program is None:
            return None
        try:
            found: Any = regex_engine().compile(*program)
        except SURPRISES:
            return None
        return found if getattr(found, "pattern", None) == text else None

    def _compile(self, text: str) -> regex.Pattern[str] | None:
        import regex

        from diagnose.catalogue.examine import compile_expression

        try:
            found = compile_expression(text)
        except (regex.error, RecursionError, OverflowError):
            return None
        self._fresh.append(text)
        return found


class _File:
    """The kept programs: of `re` by expression and flags, of `regex` by expression."""

    def __init__(self) -> None:
        self.standard: dict[tuple[str | bytes, int], tuple[Any, ...]] = {}
        self.regex: dict[str, tuple[Any, ...]] = {}
        self._identity = identity()
        file = shelf.fetch(self._path())
        found = file.values(self._identity, 2) if file else None
        if found and all(isinstance(each, dict) for each in found):
            self.standard, self.regex = found

    def add(self, standard: dict[tuple[str | bytes, int], tuple[Any, ...]], others: dict[str, tuple[Any, ...]]) -> None:
        """Write the file with more programs in it."""
        every, rest = {**self.standard, **standard}, {**self.regex, **others}
        every = every if len(every) <= _MOST else standard
        rest = rest if len(rest) <= _MOST else others
        shelf.store(self._path(), shelf.head_of(self._identity, every, rest))

    def _path(self) -> str:
        # Each environment has a file of its own: they would take turns in writing one.
        return os.path.join(shelf.folder(), f"expressions-{zlib.crc32(repr(self._identity).encode()):08x}.re")


EXPRESSIONS = Expressions()
