"""Reads a file while it is written, and stays with it when it is cut, renamed, removed, or not there yet."""

from __future__ import annotations

import os
from collections.abc import Iterator

from diagnose.read.keep import BLOCK, WHOLE, Keeper
from diagnose.read.model import Source
from diagnose.read.stream import CHUNK, LONG_LINE, OVERLAP, ByteStream, Chunk
from diagnose.typed import Literal

_MARK = 64  # bytes before the place that was reached; where they changed, the file was written anew
_TOLD = 8  # problems
AT_ONCE = 32_000_000  # bytes that are taken at once, so that no file keeps the others waiting


class GrowingFile(ByteStream):
    """A log that is being written, as one stream of bytes whatever becomes of the file's name.

    What was read is read again from the file while it is there; of what was cut off or moved away since, a bounded
    part is remembered. Offsets and lines count on where the file begins anew.

    Args:
        source: its path need not exist yet.
        keep: bytes that are remembered.
    """

    def __init__(self, source: Source, keep: int = WHOLE * BLOCK) -> None:
        super().__init__(source)
        self.identity: tuple[int, int] | None = None  # device and number of the file that is open
        self._fd = -1
        self._seen = (-1, -1)  # size and time of change when it was last looked at
        self._at = 0  # offset reached in the file
        self._base = 0  # offset in the stream at which the file begins
        self._mark = b""
        self._kept = Keeper(keep)
        self._rest = b""  # the beginning of a line that is still written
        self._rest_at = 0
        self._fresh = 0  # bytes of it that no chunk held yet

    def take(self, limit: int = AT_ONCE) -> Iterator[Chunk]:
        """Yield the whole lines that were added since the last time, about `limit` bytes of them at most."""
        left = limit
        while left > 0:
            state = self._look()
            if state == "nothing":
                return
            if state == "grown":
                data = self._next()
                if not data:
                    return
                left -= len(data)
                yield from self._lines(data)
            else:
                yield from self._begin_anew()
                if state == "replaced":
                    self._let_go()

    def flush(self) -> Iterator[Chunk]:
        """Yield the last line although its end is missing: nobody writes any more."""
        if self._fresh:
            yield self._cut_off(len(self._rest))

    def read(self, start: int, end: int) -> bytes:
        """As ByteStream.read; what is no longer in the file only where it was remembered."""
        start, end = max(start, 0), min(end, self.size)
        before = b""
        if start < self._base:
            before = self._kept.read(start, min(end, self._base))
            if start + len(before) < self._base:
                return before
            start = self._base
        if start >= end:
            return before
        try:
            data = os.pread(self._fd, end - start, start - self._base) if self._fd >= 0 else b""
        except OSError:
            data = b""
        return before + (data if len(data) == end - start else self._kept.read(start, end))

    def pin(self, start: int, end: int) -> None:
        """As ByteStream.pin."""
        self._kept.pin(start, end)

    def close(self) -> None:
        """Close the file."""
        self._let_go()

    def _look(self) -> Literal["nothing", "grown", "cut", "replaced"]:
        if self._fd < 0 and not self._open():
            return "nothing"
        try:
            status = os.fstat(self._fd)
            seen = (status.st_size, status.st_mtime_ns)
            if seen != self._seen:
                if status.st_size < self._at or not self._is_marked():
                    return "cut"
                self._seen, self.modified = seen, status.st_mtime
        except OSError as error:
            self._tell(f"could not read on from byte {self._at}: {error.strerror or error}")
            return "replaced"
        if status.st_size > self._at:
            return "grown"
        return "replaced" if self._is_replaced() else "nothing"

    def _is_marked(self) -> bool:
        """Do the bytes before the place that was reached still stand there?"""
        return os.pread(self._fd, len(self._mark), self._at - len(self._mark)) == self._mark

    def _is_replaced(self) -> bool:
        """Is there another file of this name that holds something? Until then the old one may still be written."""
        try:
            status = os.stat(self.source.path)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) != self.identity and status.st_size > 0

    def _next(self) -> bytes:
        try:
            data = os.pread(self._fd, CHUNK, self._at)
        except OSError as error:
            self._tell(f"could not read on from byte {self._at}: {error.strerror or error}")
            return b""
        self._at += len(data)
        self._mark = (self._mark + data)[-_MARK:]
        self._add(data)
        return data

    def _add(self, data: bytes) -> None:
        self._kept.add(data)
        self.size = self._kept.size

    def _lines(self, data: bytes) -> Iterator[Chunk]:
        self._rest += data
        self._fresh += len(data)
        if cut := self._rest.rfind(b"\n") + 1:
            yield self._cut_off(cut)
        while len(self._rest) >= LONG_LINE:
            chunk = Chunk(self._rest[:LONG_LINE], self._rest_at, continues=True)
            step = LONG_LINE - OVERLAP
            self._fresh = len(self._rest) - LONG_LINE
            self._rest_at, self._rest = self._rest_at + step, self._rest[step:]
            yield chunk

    def _cut_off(self, size: int) -> Chunk:
        chunk = Chunk(self._rest[:size], self._rest_at)
        self._rest_at, self._rest = self._rest_at + size, self._rest[size:]
        self._fresh = len(self._rest)
        return chunk

    def _begin_anew(self) -> Iterator[Chunk]:
        """Go on at the beginning of the file; the line that was being written ends here."""
        self._tell("the file was cut or replaced while it was followed; its lines are counted on from before")
        if self._rest:
            self._add(b"\n")
            self._rest += b"\n"
            yield self._cut_off(len(self._rest))
        self._rest_at = self._base = self.size
        self._at, self._mark, self._seen = 0, b"", (-1, -1)

    def _open(self) -> bool:
        try:
            fd = os.open(self.source.path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
        except FileNotFoundError:
            return False
        except OSError as error:
            self._tell(f"could not be opened: {error.strerror or error}")
            return False
        status = os.fstat(fd)
        self._fd, self.identity = fd, (status.st_dev, status.st_ino)
        return True

    def _let_go(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _tell(self, sentence: str) -> None:
        if sentence not in self.problems and len(self.problems) < _TOLD:
            self.problems.append(sentence)
