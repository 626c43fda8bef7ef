"""The engines of `regex` and `re`: what they make of an expression, and what that depends on.

`regex` pickles a compiled expression as a program for its engine, a module in C; where all programs are kept, the rest
of that package need not be loaded. `re` pickles nothing, but its engine takes and checks programs too. Neither is
public: whoever uses this is ready for `SURPRISES`, and compiles then.
"""

from __future__ import annotations

import sys

from diagnose.extension import SURPRISES, extension_identity, load_extension
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import regex

_REGEX = ("regex", "_regex")


def identity() -> list[Any]:
    """What programs depend on: this Python, and the file of regex's engine."""
    try:
        magic = standard_engine().MAGIC
    except SURPRISES:
        return [sys.version, None]
    return [sys.version, sys.implementation.name, sys.byteorder, magic, extension_identity(*_REGEX)]


def standard_engine() -> Any:
    """Return the engine of `re`."""
    import _sre  # type: ignore[import-not-found]

    return _sre


def regex_engine() -> Any:
    """Load the engine of `regex` alone."""
    return load_extension(*_REGEX)


def regex_program(pattern: regex.Pattern[str] | None) -> tuple[Any, ...] | None:
    """Give what `regex` pickles an expression as; None where there is none."""
    import copyreg

    if pattern is None:
        return None
    made: Any = copyreg.dispatch_table[type(pattern)](pattern)
    return tuple(made[1])


def standard_program(text: str | bytes, flags: int) -> tuple[Any, ...] | None:
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
    except SURPRISES:
        return None
