"""Turns offsets into line numbers without keeping a number for every line."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from diagnose.typed import Protocol

_STEP = 256 * 1024  # bytes counted at once, and the distance of the marks made on the way


class Rereadable(Protocol):
    """What the index needs of a stream."""

    def read(self, start: int, end: int) -> bytes:
        """Give bytes again by their offset."""


class LineIndex:
    """Marks: at this offset, so many newlines have gone by."""

    def __init__(self) -> None:
        self._offsets = [0]
        self._newlines = [0]
        self._recent = (0, 0)  # the last place that was asked for: neighbours are asked for together

    def add(self, offset: int, newlines_before: int) -> None:
        """Note how many newlines stand before `offset`; a chunk's start, or any place whose line number is known."""
        if offset > self._offsets[-1]:
            self._offsets.append(offset)
            self._newlines.append(newlines_before)
            return
        at = bisect_left(self._offsets, offset)
        if self._offsets[at] != offset:
            self._offsets.insert(at, offset)
            self._newlines.insert(at, newlines_before)

    def number_at(self, offset: int, stream: Rereadable) -> int:
        """Give the number (from 1) of the line that holds `offset`.

        Counts from the nearest mark. Where a stream did not keep the bytes between, the mark behind is
        used, and where that fails too the nearest known number.
        """
        at = bisect_right(self._offsets, offset) - 1
        here, count = self._offsets[at], self._newlines[at]
        if here < self._recent[0] <= offset:
            here, count = self._recent
        while here < offset:
            data = stream.read(here, min(here + _STEP, offset))
            if not data:
                return self._from_behind(at + 1, offset, stream) or count + 1
            count += data.count(b"\n")
            here += len(data)
            if len(data) == _STEP:
                self.add(here, count)
        self._recent = (offset, count)
        return count + 1

    def _from_behind(self, at: int, offset: int, stream: Rereadable) -> int | None:
        if at >= len(self._offsets):
            return None
        end = self._offsets[at]
        if end - offset > 4 * _STEP:
            return None
        data = stream.read(offset, end)
        return self._newlines[at] - data.count(b"\n") + 1 if len(data) == end - offset else None
