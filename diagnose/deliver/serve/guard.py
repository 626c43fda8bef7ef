"""Keeps the server below its roots: names are checked when they come in, and every file again once it is open."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from diagnose.deliver.confinement import path_of

_LONGEST = 4096  # characters of a path
_MAGIC = frozenset("*?[")


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

    def judge(self, fd: int, _status: os.stat_result) -> str:
        """Rule of a Confinement: the path of what was really opened lies in one of them."""
        return "" if self.holds(path_of(fd)) else "outside the configured roots"

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
