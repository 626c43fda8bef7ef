"""The engines of `regex` and `re`: what they make of an expression, and what that depends on.

`regex` pickles a compiled expression as a program for its engine, a module in C; where all programs are kept, the rest
of that package need not be loaded. `re` pickles nothing, but its engine takes and checks programs too. Neither is
public: whoever uses this is ready for `SURPRISES`, and compiles then.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import regex

SURPRISES = (AttributeError, ImportError, OSError, TypeError, ValueError, RuntimeError, OverflowError)


def identity() -> list[Any]:
    """What programs depend on: this Python, and the file of regex's engine."""
    path = _regex_path()
    try:
        status = os.stat(path) if path else None
        magic = standard_engine().MAGIC
    except SURPRISES:
        return [sys.version, None]
    file = [path, status.st_size, status.st_mtime_ns] if status else [path]
    return [sys.version, sys.implementation.name, sys.byteorder, magic, file]


def standard_engine() -> Any:
    """Return the engine of `re`."""
    import _sre  # type: ignore[import-not-found]

    return _sre


def _regex_path() -> str:
    """Find the engine of `regex` without loading the package; "" where it lies elsewhere than usual."""
    from importlib.machinery import EXTENSION_SUFFIXES, PathFinder

    package = PathFinder.find_spec("regex")
    for folder in (package.submodule_search_locations or ()) if package is not None else ():
        for suffix in EXTENSION_SUFFIXES:
            path = os.path.join(folder, f"_regex{suffix}")
            if os.path.isfile(path):
                return path
    return ""


def regex_engine() -> Any:
    """Load the engine of `regex` alone, or the whole package where that does not work."""
    name = "regex._regex"
    if name not in sys.modules:
        from importlib.machinery import ExtensionFileLoader, ModuleSpec

        path = _regex_path()
        try:
            loader = ExtensionFileLoader(name, path)
            spec = ModuleSpec(name, loader, origin=path)
            module = loader.create_module(spec)
            loader.exec_module(module)
            sys.modules[name] = module  # where `import regex` finds it, should that be needed later
        except SURPRISES:
            import regex  # noqa: F401
    return sys.modules[name]


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
