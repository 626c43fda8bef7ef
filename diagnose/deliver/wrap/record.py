"""Keeps what a job prints: all of it in a named file, or its beginning and its end in a file without a name."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Iterator

HEAD = 4 * 1024 * 1024  # bytes kept from the beginning: configuration, versions
TAIL = 64 * 1024 * 1024  # bytes kept from the end
_SPARE = 8 * 1024 * 1024  # bytes kept in memory where the disk takes no more
_PADDING = 50_000_000  # lines that are left out and still counted
_COPY = 1024 * 1024


class Recorder:
    """Takes a job's output; a disk that is full, or not there, costs the record and never the job."""

    def __init__(self, log: str | None = None, *, head: int = HEAD, tail: int = TAIL) -> None:
        """Open the record: the file `log` for all of the output, or none for `head` and `tail` bytes of it."""
        self.problem = ""
        self._log, self._head, self._tail = log, head, tail
        self._size = 0  # bytes taken so far
        self._lines = 0
        self._fd = -1
        self._broken: int | None = None  # the size at which the disk took no more
        self._spare: deque[bytes] = deque()
        self._spared = 0
        try:
            self._fd = self._open()
        except OSError as error:
            self._fail(error)

    def _open(self) -> int:
        if self._log is not None:
            return os.open(self._log, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        with tempfile.TemporaryFile(buffering=0) as file:
            return os.dup(file.fileno())

    def _fail(self, error: OSError) -> None:
        where = self._log or "the temporary folder"
        self.problem = f"{where}: {error.strerror or error}; only the end of the output is kept from here on"
        self._broken = self._size

    def write(self, data: bytes) -> None:
        """Take the next piece of the output."""
        if self._broken is None:
            try:
                self._store(data)
            except OSError as error:
                self._fail(error)
        if self._broken is not None:
            self._spare.append(data)
            self._spared += len(data)
            while self._spared - len(self._spare[0]) >= _SPARE:
                self._spared -= len(self._spare.popleft())
        self._size += len(data)
        self._lines += data.count(b"\n")

    def _store(self, data: bytes) -> None:
        here = self._size
        view = memoryview(data)
        while view:
            place, room = self._place(here)
            written = os.pwrite(self._fd, view[:room], place)
            view, here = view[written:], here + written

    def _place(self, offset: int) -> tuple[int, int]:
        """Where the byte at `offset` of the output lies in the file, and how many may follow it there."""
        if self._log is not None:
            return offset, 1 << 30
        if offset < self._head:
            return offset, self._head - offset
        turn = (offset - self._head) % self._tail
        return self._head + turn, self._tail - turn

    @property
    def named(self) -> str:
        """The file that holds all of the output, "" where there is none."""
        return self._log if self._log is not None and self._broken is None else ""

    def pieces(self) -> Iterator[bytes]:
        """Yield what was kept, in order; lines that were left out in the middle become empty ones, so numbers hold."""
        end = self._size if self._broken is None else self._broken
        first = min(end, end if self._log is not None else self._head)
        tail = first if end - first <= self._tail or self._log is not None else end - self._tail
        spare = b"".join(self._spare)
        kept = 0
        for piece in self._read(0, first):
            kept += piece.count(b"\n")
            yield piece
        if tail > first:
            kept_after = sum(piece.count(b"\n") for piece in self._read(tail, end)) + spare.count(b"\n")
            yield b"\n" * max(1, min(self._lines - kept - kept_after, _PADDING))
        yield from self._read(tail, end)
        yield spare

    def _read(self, start: int, end: int) -> Iterator[bytes]:
        here = start
        while here < end:
            place, room = self._place(here)
            data = os.pread(self._fd, min(room, end - here, _COPY), place)
            if not data:
                return
            here += len(data)
            yield data

    def save(self, path: str) -> None:
        """Write what was kept to a file; raises OSError."""
        with open(path, "wb") as file:
            for piece in self.pieces():
                file.write(piece)

    def last(self, size: int) -> bytes:
        """Return the last `size` bytes of what was kept, for where no file can be written."""
        kept = b""
        for piece in self.pieces():
            kept = (kept + piece)[-size:]
        return kept

    def close(self) -> None:
        """Let the file go."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
