"""Keeps the program's compiled modules in one file: finding and opening 130 of them takes a tenth of a short run.

The file lies in the user's cache folder, under the same conditions as what else is kept there, and holds what Python
keeps in `__pycache__`. A module is taken from it only while its source has the time and the size that it had; any other
is imported as always.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader

from diagnose import __version__, shelf
from diagnose.shelf import lay_out
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, ModuleType

    # Source, compiled file, is it a package, time and size of the source, where the code lies in the file.
    _Row = tuple[str, str, bool, int, int, tuple[int, int, int]]

_MOST = 600  # modules; more than the program has


class Modules:
    """Finds and loads this package's modules; put first in `sys.meta_path`."""

    def __init__(self, rows: dict[str, _Row], kept: shelf.Kept | None) -> None:
        """Take what was kept, by module name, and the file with the code."""
        self._rows = rows
        self._kept = kept
        self._code: dict[str, bytes] = {}
        self._before = set(sys.modules)  # what was loaded to read the file

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        """Give a module's specification; None where the file has not this module as it is now."""
        row = self._rows.get(name)
        if row is None:
            return None
        source, compiled, package, time, size, _ = row
        try:
            status = os.stat(source)
        except OSError:
            return None
        if status.st_mtime_ns != time or status.st_size != size or not self._read(name):
            return None
        spec = ModuleSpec(name, self, origin=source, is_package=package)  # type: ignore[arg-type]
        spec.has_location = True
        spec.cached = compiled
        if package:
            spec.submodule_search_locations = [os.path.dirname(source)]
        return spec

    def create_module(self, _spec: ModuleSpec) -> ModuleType | None:
        """Leave the making of the module to Python."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's code in it."""
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, name: str) -> CodeType:
        """Return a module's code."""
        if name not in self._code and not self._read(name):
            raise ImportError(f"the code of {name} is not kept")
        code: CodeType = marshal.loads(self._code.pop(name))
        return code

    def _read(self, name: str) -> bool:
        try:
            if self._kept is not None:
                self._code[name] = self._kept.part(*self._rows[name][-1])
        except (OSError, TypeError):
            pass
        return name in self._code

    def keep(self) -> None:
        """Write the file anew where this run has loaded modules that are not in it."""
        loaded = [(name, module) for name, module in sys.modules.items() if name.startswith(f"{__package__}.")]
        fresh = [
            pair for pair in loaded if pair[0] not in self._before and type(pair[1].__loader__) is SourceFileLoader
        ]
        identity = _identity()
        if not fresh or sys.dont_write_bytecode or not identity:
            return
        known = {name: (*row[:-1], self._code[name]) for name, row in self._rows.items() if self._read(name)}
        rows = known | {name: row for name, module in fresh if (row := _row(module)) is not None}
        places, codes = lay_out([row[-1] for row in rows.values()])
        index = {name: (*row[:-1], place) for (name, row), place in zip(rows.items(), places, strict=True)}
        shelf.store(_path(identity), shelf.head_of(identity, index), codes)


def install() -> Modules:
    """Import modules from the file from now on."""
    identity = _identity()
    kept = shelf.fetch(_path(identity))
    found = kept.values(identity, 1) if kept else None
    rows: dict[str, _Row] = found[0] if found and isinstance(found[0], dict) and len(found[0]) < _MOST else {}
    modules = Modules(rows, kept)
    sys.meta_path.insert(0, modules)
    return modules


def _row(module: ModuleType) -> tuple[str, str, bool, int, int, bytes] | None:
    loader: Any = module.__loader__
    source, compiled = module.__file__, getattr(module.__spec__, "cached", None)
    try:
        status = os.stat(source or "")
        code = marshal.dumps(loader.get_code(module.__name__))
    except (OSError, ImportError, SyntaxError, ValueError):
        return None
    return str(source), str(compiled or ""), hasattr(module, "__path__"), status.st_mtime_ns, status.st_size, code


def _identity() -> list[Any]:
    try:
        status = os.stat(__file__)  # who edits this file may have changed what the kept one looks like
    except OSError:
        return []
    own = [__file__, status.st_mtime_ns, status.st_size]
    return [__version__, sys.version, sys.implementation.cache_tag, sys.flags.optimize, *own]


def _path(identity: list[Any]) -> str:
    return os.path.join(shelf.folder(), f"modules-{zlib.crc32(repr(identity).encode()):08x}.code")
