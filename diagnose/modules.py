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
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, ModuleType

    _Row = tuple[str, str, bool, int, int, bytes]  # source, compiled file, is a package, time, size, code

_MOST = 600  # modules; more than the program has
_BEFORE = ("diagnose.commands", "diagnose.modules", "diagnose.shelf")  # what is loaded to read the file


class Modules:
    """Finds and loads this package's modules; put first in `sys.meta_path`."""

    def __init__(self, rows: dict[str, _Row]) -> None:
        """Take what was kept, by module name."""
        self._rows = rows
        self._taken = set(_BEFORE)

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
        if status.st_mtime_ns != time or status.st_size != size:
            return None
        self._taken.add(name)
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
        code: CodeType = marshal.loads(self._rows[name][-1])
        return code

    def keep(self) -> None:
        """Write the file anew where this run has loaded modules that are not in it."""
        loaded = [(name, module) for name, module in sys.modules.items() if name.startswith(f"{__package__}.")]
        fresh = [pair for pair in loaded if pair[0] not in self._taken and type(pair[1].__loader__) is SourceFileLoader]
        if not fresh or sys.dont_write_bytecode:
            return
        rows = {name: row for name, module in fresh if (row := _row(module)) is not None}
        shelf.store(_path(), marshal.dumps((_identity(), self._rows | rows)))


def install() -> Modules:
    """Import modules from the file from now on."""
    rows: dict[str, _Row] = {}
    kept = shelf.fetch(_path())
    if kept is not None:
        try:
            identity, found = marshal.loads(kept.head)
            if identity == _identity() and len(found) < _MOST:
                rows = found
        except (ValueError, TypeError, EOFError):
            pass
    modules = Modules(rows)
    sys.meta_path.insert(0, modules)
    return modules


def _row(module: ModuleType) -> _Row | None:
    loader: Any = module.__loader__
    source, compiled = module.__file__, getattr(module.__spec__, "cached", None)
    try:
        status = os.stat(source or "")
        code = marshal.dumps(loader.get_code(module.__name__))
    except (OSError, ImportError, SyntaxError, ValueError):
        return None
    return str(source), str(compiled or ""), hasattr(module, "__path__"), status.st_mtime_ns, status.st_size, code


def _identity() -> list[Any]:
    return [__version__, sys.version, sys.implementation.cache_tag, sys.flags.optimize, __file__]


def _path() -> str:
    return os.path.join(shelf.folder(), f"modules-{zlib.crc32(repr(_identity()).encode()):08x}.code")
