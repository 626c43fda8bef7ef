"""Loads a module in C without the package around it: a package may take ten times as long to import."""

from __future__ import annotations

import os
import sys

from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

SURPRISES = (AttributeError, ImportError, OSError, TypeError, ValueError, RuntimeError, OverflowError)


def find_extension(package: str, name: str) -> str:
    """Return the path of a package's module in C; "" where it lies elsewhere than usual, or is not there."""
    from importlib.machinery import EXTENSION_SUFFIXES, PathFinder

    found = PathFinder.find_spec(package)
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        for suffix in EXTENSION_SUFFIXES:
            path = os.path.join(folder, f"{name}{suffix}")
            if os.path.isfile(path):
                return path
    return ""


def load_extension(package: str, name: str) -> ModuleType:
    """Load a package's module in C alone, or the whole package where that does not work.

    Raises ImportError where the package is not installed.
    """
    full = f"{package}.{name}"
    if sys.modules.get(package, full) is None:  # how Python is told that a package is not to be had
        raise ImportError(f"import of {package} is switched off")
    if full not in sys.modules:
        from importlib.machinery import ExtensionFileLoader, ModuleSpec

        path = find_extension(package, name)
        try:
            loader = ExtensionFileLoader(full, path)
            module = loader.create_module(ModuleSpec(full, loader, origin=path))
            loader.exec_module(module)
            sys.modules[full] = module  # where the package finds it, should that be imported later
        except SURPRISES:
            __import__(package)
    return sys.modules.get(full) or sys.modules[package]


def extension_identity(package: str, name: str) -> list[Any]:
    """Return what tells one build of a module in C from another: its path, size and time."""
    path = find_extension(package, name)
    try:
        status = os.stat(path) if path else None
    except OSError:
        status = None
    return [path, status.st_size, status.st_mtime_ns] if status else [path]
