"""A folder of files that can be made again: whole, checksummed, safe under concurrent writers, and few."""

from __future__ import annotations

import os
import time
import zlib

KEEP = 16  # files of one ending; older ones are removed
_MARK = 9  # bytes: the checksum in hex, and a newline


def folder() -> str:
    """Return the user's cache folder of this program."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "diagnose")


def fetch(path: str, *, shipped: bool = False) -> tuple[str, bytes, int] | None:
    """Read a file.

    Returns its checksum, its bytes and where in them the contents begin: copies of a large file would cost more than
    all the rest of a start. None where there is none, it is damaged, or somebody else may have written it: programs for
    native engines are in there. A `shipped` file lies in the package and is trusted like its code.
    """
    try:
        with open(path, "rb") as file:
            if not shipped and not _is_ours(os.fstat(file.fileno())):
                return None
            data = file.read()
        checksum = data[: _MARK - 1].decode()
        if int(checksum, 16) != zlib.crc32(memoryview(data)[_MARK:]):
            return None
        return checksum, data, _MARK
    except (OSError, ValueError):
        return None


def _is_ours(status: os.stat_result) -> bool:
    # `sudo` may keep the home of the one who called it.
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def store(path: str, contents: bytes, mode: int = 0o600) -> str | None:
    """Write a file and return its checksum; None where that is not possible (a read-only home, a full disk)."""
    checksum = f"{zlib.crc32(contents):08x}"
    scratch = f"{path}.{os.getpid()}.{time.monotonic_ns()}.tmp"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(checksum.encode() + b"\n" + contents)
        os.replace(scratch, path)
        _prune(path)
    except OSError:
        _remove(scratch)
        return None
    return checksum


def _prune(path: str) -> None:
    ending = os.path.splitext(path)[1]
    stale = time.time_ns() - 3600 * 10**9  # a writer that died left its scratch file
    with os.scandir(os.path.dirname(path)) as entries:
        ages = [(entry.stat().st_mtime_ns, entry.path) for entry in entries]
    ours = sorted(((age, each) for age, each in ages if each.endswith(ending)), reverse=True)
    left = [each for age, each in ages if each.endswith(".tmp") and age < stale]
    for each in [path for _, path in ours[KEEP:]] + left:
        _remove(each)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
