"""Remembers what was done, in a file that several processes may share."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

_MOST = 100_000  # entries; beyond it the older half is forgotten
_LONGEST = 200  # characters of one entry


class Ledger:
    """A set of short texts that survives its process. Every entry is claimed once, whoever asks."""

    def __init__(self, path: str) -> None:
        """Open the ledger at `path`, made where it is not there; raises OSError."""
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self._path = path
        self._known: dict[str, None] = {}
        self._read = 0  # bytes of the file that are known
        with self._locked() as fd:
            self._catch_up(fd)

    def __contains__(self, entry: str) -> bool:
        return _clean(entry) in self._known

    def claim(self, entry: str) -> bool:
        """Write an entry down; False where somebody did it before. Raises OSError where it cannot be written."""
        entry = _clean(entry)
        if entry in self._known:
            return False
        with self._locked() as fd:
            self._catch_up(fd)
            if entry in self._known:
                return False
            self._known[entry] = None
            if len(self._known) > _MOST:
                self._forget(fd)
            else:
                os.lseek(fd, 0, os.SEEK_END)
                os.write(fd, f"{entry}\n".encode())
            self._read = os.fstat(fd).st_size
        return True

    def _catch_up(self, fd: int) -> None:
        size = os.fstat(fd).st_size
        if size < self._read:  # another process made it shorter
            self._known.clear()
            self._read = 0
        data = os.pread(fd, size - self._read, self._read)
        self._known.update(dict.fromkeys(data.decode("utf-8", "replace").split("\n")[:-1]))
        self._read = size

    def _forget(self, fd: int) -> None:
        kept = list(self._known)[-_MOST // 2 :]
        self._known = dict.fromkeys(kept)
        os.ftruncate(fd, 0)
        os.pwrite(fd, "".join(f"{entry}\n" for entry in kept).encode(), 0)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield fd
        finally:
            os.close(fd)


def _clean(entry: str) -> str:
    return " ".join(entry.split())[:_LONGEST]
