"""A folder of files that can be made again: whole, checksummed, safe under concurrent writers, and few."""

from __future__ import annotations

import marshal
import os
import time
import zlib
from collections.abc import Sequence

from diagnose.typed import Any

KEEP = 16  # files of one ending; older ones are removed
_MARK = 17  # bytes: checksum and length of the head in hex, and a newline
# Nothing is waited for where a pipe has the file's name.
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


class Kept:
    """A file from the shelf: its head, whose checksum is right, and what follows, read in parts when it is needed."""

    __slots__ = ("_handle", "checksum", "head")

    def __init__(self, handle: int, *, shipped: bool = False) -> None:
        """Take an open file, which is closed with this; raises OSError or ValueError where `fetch` gives None."""
        self._handle = handle
        status = os.fstat(handle)
        if not shipped and not _is_ours(status):
            raise OSError("somebody else may have written the file")
        mark = os.read(handle, _MARK)
        size = int(mark[8:], 16)
        self.checksum = mark[:8].decode()
        self.head = os.read(handle, min(size, status.st_size))
        if len(self.head) != size or int(self.checksum, 16) != zlib.crc32(self.head):
            raise ValueError("the file was damaged")

    def __del__(self) -> None:
        os.close(self._handle)

    def values(self, identity: Any, count: int) -> list[Any] | None:
        """Return the values in a head that `head_of` made; None where it was made of another identity or is none."""
        try:
            known, *found = marshal.loads(self.head)
        except (ValueError, TypeError, EOFError):
            return None
        return found if known == identity and len(found) == count else None

    def part(self, start: int, end: int, checksum: int) -> bytes:
        """Read bytes counted from the head's end; raises OSError where they are not those that were written."""
        place, size = _MARK + len(self.head) + start, end - start
        if hasattr(os, "pread"):  # processes that share the file share its position
            data = os.pread(self._handle, size, place)
        else:
            os.lseek(self._handle, place, os.SEEK_SET)
            data = os.read(self._handle, size)
        if zlib.crc32(data) != checksum:
            raise OSError("a kept file was damaged")
        return data


def head_of(identity: Any, *values: Any) -> bytes:
    """Return a head that holds values, and what they were made of or made for."""
    return marshal.dumps((identity, *values))


def lay_out(parts: Sequence[bytes]) -> tuple[list[tuple[int, int, int]], bytes]:
    """Put parts one behind the other; returns for each what `Kept.part` takes, and all of them."""
    places: list[tuple[int, int, int]] = []
    start = 0
    for part in parts:
        places.append((start, start + len(part), zlib.crc32(part)))
        start += len(part)
    return places, b"".join(parts)


def folder() -> str:
    """Return the user's cache folder of this program."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(home):  # a user without a home
        home = os.path.abspath(os.devnull)
    return os.path.join(home, "diagnose")


def fetch(path: str, *, shipped: bool = False) -> Kept | None:
    """Open a file and read its head.

    None where there is none, it is damaged, or somebody else may have written it: code is in there. A `shipped` file
    lies in the package and is trusted like its modules.
    """
    try:
        return Kept(os.open(path, _READ), shipped=shipped)
    except (OSError, ValueError):
        return None


def _is_ours(status: os.stat_result) -> bool:
    # `sudo` may keep the home of the one who called it.
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def _is_theirs(folder: str) -> bool:
    # What root makes in the home of the one who called `sudo`, that one can neither use nor write anew.
    if not hasattr(os, "geteuid") or os.geteuid():
        return False
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return os.stat(folder).st_uid != 0


def store(path: str, head: bytes, rest: bytes = b"", *, shipped: bool = False) -> str | None:
    """Write a file and return its head's checksum; None where that is not possible (a read-only home, a full disk).

    A `shipped` file is for everybody to read, and may lie in anybody's folder.
    """
    checksum = f"{zlib.crc32(head):08x}"
    scratch = f"{path}.{os.getpid()}.{time.monotonic_ns()}.tmp"
    try:
        if not shipped and _is_theirs(os.path.dirname(path)):
            return None
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(scratch, flags, 0o644 if shipped else 0o600), "wb") as file:
            file.write(f"{checksum}{len(head):08x}\n".encode())
            file.write(head)
            file.write(rest)
        os.replace(scratch, path)
    except OSError:
        _remove(scratch)
        return None
    _prune(path)
    return checksum


def _prune(path: str) -> None:
    ending = os.path.splitext(path)[1]
    stale = time.time_ns() - 3600 * 10**9  # a writer that died left its scratch file
    try:
        with os.scandir(os.path.dirname(path)) as entries:
            ages = [(entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in entries]
    except OSError:
        return  # another process removes them just now
    ours = sorted(((age, each) for age, each in ages if each.endswith(ending)), reverse=True)
    left = [each for age, each in ages if each.endswith(".tmp") and age < stale]
    for each in [path for _, path in ours[KEEP:]] + left:
        _remove(each)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
