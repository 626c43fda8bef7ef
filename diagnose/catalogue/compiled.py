"""Compiled expressions, kept between starts: taking one back costs a hundredth of compiling it.

`regex` pickles a compiled expression as its own program. `re` does not, but its engine takes and checks programs too;
that is no public interface, so any surprise means compiling. What a run needed is kept in one file beside the cached
catalogue, under the versions of Python and of `regex`.
"""

from __future__ import annotations

import marshal
import os
import re
import sys

from diagnose.catalogue import shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import regex

_MOST = 3000  # expressions of a kind that are kept
_SURPRISES = (AttributeError, ImportError, TypeError, ValueError, RuntimeError, OverflowError)


class Expressions:
    """The expressions of one process."""

    def __init__(self) -> None:
        self._ready: dict[str, regex.Pattern[str]] = {}
        self._fresh: list[str] = []
        self._fresh_standard: list[tuple[str, int]] = []
        self._file: _File | None = None

    def compiled(self, text: str) -> regex.Pattern[str]:
        """Return an expression compiled by `regex`; raises regex.error where it is none."""
        found = self._ready.get(text)
        if found is None:
            found = self._ready[text] = self._taken_back(text) or self._compile(text)
        return found

    def standard(self, text: str, flags: int) -> re.Pattern[str]:
        """Return an expression compiled by `re`; raises re.error where it is none."""
        key = (text, int(flags))
        program = self._kept().standard.get(key)
        if program is not None:
            try:
                found = _engine().compile(text, *program)
            except _SURPRISES:
                found = None
            if isinstance(found, re.Pattern):
                return found
        self._fresh_standard.append(key)
        return re.compile(text, flags)

    def save(self) -> None:
        """Keep what had to be compiled; what prevents it is not reported."""
        if not self._fresh and not self._fresh_standard:
            return
        import copyreg

        import regex

        program = copyreg.dispatch_table[regex.Pattern]
        kept = _File()  # another process may have added to it meanwhile
        kept.add(
            {key: made for key in self._fresh_standard if (made := _program(*key)) is not None},
            {text: tuple(program(self._ready[text])[1]) for text in self._fresh},
        )
        self._fresh.clear()
        self._fresh_standard.clear()

    def _kept(self) -> _File:
        if self._file is None:
            self._file = _File()
        return self._file

    def _taken_back(self, text: str) -> regex.Pattern[str] | None:
        import regex

        program = self._kept().of_regex(regex.__version__).get(text)
        if program is None:
            return None
        import copyreg

        build: Any = copyreg.dispatch_table[regex.Pattern](regex.compile(""))[0]
        try:
            found = build(*program)
        except _SURPRISES:
            return None
        return found if isinstance(found, regex.Pattern) and found.pattern == text else None

    def _compile(self, text: str) -> regex.Pattern[str]:
        from diagnose.catalogue.examine import compile_expression

        found = compile_expression(text)
        self._fresh.append(text)
        return found


class _File:
    """The kept programs: of `re` by expression and flags, of `regex` by expression."""

    def __init__(self) -> None:
        self.standard: dict[tuple[str, int], tuple[Any, ...]] = {}
        self._regex: tuple[str, dict[str, tuple[Any, ...]]] = ("", {})
        file = shelf.fetch(_path())
        if file is None:
            return
        try:
            identity, standard, version, others = marshal.loads(memoryview(file[1])[file[2] :])
        except (ValueError, TypeError, EOFError):
            return
        if identity == _identity() and isinstance(standard, dict) and isinstance(others, dict):
            self.standard = standard
            self._regex = version, others

    def of_regex(self, version: str) -> dict[str, tuple[Any, ...]]:
        """Return the programs of this release of `regex`."""
        return self._regex[1] if self._regex[0] == version else {}

    def add(self, standard: dict[tuple[str, int], tuple[Any, ...]], others: dict[str, tuple[Any, ...]]) -> None:
        """Write the file with more programs in it."""
        import regex

        every, rest = {**self.standard, **standard}, {**self.of_regex(regex.__version__), **others}
        every = every if len(every) <= _MOST else standard
        rest = rest if len(rest) <= _MOST else others
        shelf.store(_path(), marshal.dumps((_identity(), every, regex.__version__, rest)))


def _path() -> str:
    return os.path.join(shelf.folder(), "expressions.re")


def _identity() -> list[Any]:
    try:
        magic = _engine().MAGIC
    except _SURPRISES:
        magic = None
    return [sys.version, sys.implementation.name, sys.byteorder, magic]


def _engine() -> Any:
    import _sre  # type: ignore[import-not-found]

    return _sre


def _program(text: str, flags: int) -> tuple[Any, ...] | None:
    """Give what `re`'s engine makes an expression of; None where this Python has no such thing."""
    try:
        from re import _compiler, _parser  # type: ignore[attr-defined]

        tree = _parser.parse(text, flags)
        code = [int(each) for each in _compiler._code(tree, flags)]
        names = dict(tree.state.groupdict)
        groups: list[str | None] = [None] * tree.state.groups
        for name, number in names.items():
            groups[number] = name
        return int(flags | tree.state.flags), code, tree.state.groups - 1, names, tuple(groups)
    except _SURPRISES:
        return None


EXPRESSIONS = Expressions()
