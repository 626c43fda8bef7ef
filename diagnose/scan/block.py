"""One block of the bytes of a source: where its lines begin and end, and which number they have."""

from __future__ import annotations

from bisect import bisect_right

LONG_LINE = 16 * 1024
WINDOW = 4096
_STEP = 4096  # bytes between two places whose line number is remembered


class Block:
    """A chunk of a source with what is needed to place its lines.

    Args:
        data: the chunk's bytes.
        base: offset of the first byte in the source.
        first_line: number of the first line.
        line_start: offset of the first line's true start; less than `base` where the chunk begins inside a line.
        open_end: True where the last line goes on in the next chunk.
    """

    __slots__ = ("_counts", "_places", "base", "data", "first_line", "line_start", "moved", "open_end")

    def __init__(self, data: bytes, base: int, first_line: int, line_start: int, open_end: bool) -> None:
        self.data = data
        self.base = base
        self.first_line = first_line
        self.line_start = line_start
        self.open_end = open_end
        self.moved = False  # offsets of literals in it count without what escape codes take up
        self._places = [0]
        self._counts = [0]  # newlines before each of these places

    def line(self, at: int) -> tuple[int, int]:
        """Start and end, in the block, of the line that holds the byte `at`; the newline is left out."""
        start = self.data.rfind(b"\n", 0, at) + 1
        end = self.data.find(b"\n", at)
        return start, len(self.data) if end < 0 else end

    def is_long(self, start: int, end: int) -> bool:
        """Is a line so long, or cut by the block's borders, that only a window of it can be looked at?"""
        return (
            end - start > LONG_LINE
            or (start == 0 and self.line_start < self.base)
            or (self.open_end and end == len(self.data))
        )

    def window(self, start: int, end: int, at: int) -> bytes:
        """The text of a line, or what stands round `at` in a long one."""
        if self.is_long(start, end):
            return self.data[max(start, at - WINDOW) : min(end, at + WINDOW)]
        return self.data[start:end]

    def source_start(self, start: int) -> int:
        """The offset in the source at which a line of this block truly begins."""
        return self.base + start if start else self.line_start

    def number(self, start: int) -> int:
        """The number of the line that begins at `start`."""
        known = bisect_right(self._places, start) - 1
        place = self._places[known]
        count = self._counts[known] + self.data.count(b"\n", place, start)
        if start - place >= _STEP:
            self._places.insert(known + 1, start)
            self._counts.insert(known + 1, count)
        return self.first_line + count
