"""Keeps the server below its roots: names are checked when they come in, and every file again when it is opened."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_LONGEST = 4096  # characters of a path
_MAGIC = frozenset("*?[")
_PROCESSES = frozenset(("subprocess.Popen", "os.posix_spawn", "os.spawn", "os.exec", "os.system"))
_READS = frozenset(("open", "os.listdir", "os.scandir"))


class RefusedError(Exception):
    """A path that is not opened: `status` is the HTTP status, `code` one word for programs."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Roots:
    """The folders that may be read."""

    def __init__(self, roots: Sequence[str]) -> None:
        """Take them as they are configured; each is resolved once, now."""
        self.names = tuple(os.path.normpath(root) for root in roots)
        self.real = tuple(os.path.realpath(root) for root in roots)

    def holds(self, real: str) -> bool:
        """Whether a resolved path lies in one of them."""
        return any(_inside(real, root) for root in self.real)

    def check(self, path: object) -> str:
        """Give the resolved path of a log, a folder or a pattern with * and ?; raises RefusedError.

        What lies outside is refused alike whether it exists or not.
        """
        if not isinstance(path, str) or not 0 < len(path) <= _LONGEST or "\0" in path:
            raise RefusedError(400, "invalid_path", "a path must be a text of 1 to 4096 characters")
        if not os.path.isabs(path) or not _encodable(path):
            raise RefusedError(400, "invalid_path", "a path must be absolute and of valid characters")
        outside = RefusedError(403, "outside_root", "the path lies outside the configured roots")
        if ".." in path.split("/") or not any(_inside(os.path.normpath(path), each) for each in self.names + self.real):
            raise outside
        fixed, pattern = (path, "") if not _MAGIC & set(path) or os.path.lexists(path) else _split(path)
        real = os.path.realpath(fixed)
        if not self.holds(real):
            raise outside
        try:
            mode = os.stat(real).st_mode
        except OSError as error:
            if isinstance(error, PermissionError):
                raise RefusedError(403, "not_readable", "the path cannot be read") from None
            raise RefusedError(404, "not_found", "there is no such file or folder") from None
        if pattern:
            return os.path.join(real, pattern)
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise RefusedError(400, "not_regular", "the path is no file and no folder")
        if not os.access(real, os.R_OK):
            raise RefusedError(403, "not_readable", "the path cannot be read")
        return real


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _split(path: str) -> tuple[str, str]:
    """Cut a pattern into the folder without magic and the rest."""
    parts = path.split("/")
    first = next(number for number, part in enumerate(parts) if _MAGIC & set(part))
    return "/".join(parts[:first]) or "/", "/".join(parts[first:])


class Confinement:
    """Refuses to open anything outside the roots, whatever name or link leads there, while it is on.

    It is Python's own audit hook, so no code of this process gets around it by another call.
    """

    def __init__(self, roots: Roots, also: Sequence[str] = ()) -> None:
        """Install the hook, off; `also` are further folders and files that the program itself needs."""
        self._roots = roots
        own = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
        folders = [sys.prefix, sys.base_prefix, *filter(None, sys.path), os.path.dirname(own[0]), *also]
        self._also = tuple({os.path.realpath(folder) for folder in folders if os.path.realpath(folder) != "/"})
        self._on = False
        sys.addaudithook(self._hook)

    @contextmanager
    def on(self) -> Iterator[None]:
        """Confine what happens in the block."""
        self._on = True
        try:
            yield
        finally:
            self._on = False

    def _hook(self, name: str, arguments: tuple[object, ...]) -> None:
        if not self._on:
            return
        if name in _PROCESSES:
            raise PermissionError(1, "no program is started while logs are read")
        if name in _READS and arguments and not isinstance(arguments[0], int):
            path = os.fsdecode(arguments[0]) if isinstance(arguments[0], str | bytes) else "."
            real = os.path.realpath(path)
            if name == "open" and _is_pipe(real):
                raise PermissionError(13, "a pipe could keep its reader waiting for ever", path)
            if not self._roots.holds(real) and not any(_inside(real, each) for each in self._also):
                raise PermissionError(13, "outside the configured roots", path)
