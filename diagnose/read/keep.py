"""Remembers parts of a stream that cannot be read twice."""

from __future__ import annotations

from collections import deque

BLOCK = 64 * 1024
WHOLE = 64 * 1024 * 1024 // BLOCK  # blocks: a stream up to this size is kept whole
HEAD = 1024 * 1024 // BLOCK
TAIL = 4 * 1024 * 1024 // BLOCK
PINNED = 88 * 1024 * 1024 // BLOCK  # half for the first pins, half for the last


class Keeper:
    """Blocks of 64 KB: all of a small stream, of a larger one its head, its tail and what was pinned."""

    def __init__(self) -> None:
        self.size = 0  # bytes that went by
        self._blocks: dict[int, bytes] = {}
        self._open = bytearray()  # the block being filled
        self._first: set[int] = set()  # pinned for good
        self._later: deque[int] = deque()  # pinned until newer pins push them out
        self._later_set: set[int] = set()
        self._thinned = False

    def add(self, data: bytes) -> None:
        """Take in the next bytes of the stream."""
        view = memoryview(data)
        while view:
            room = BLOCK - len(self._open)
            self._open += view[:room]
            self.size += min(room, len(view))
            view = view[room:]
            if len(self._open) == BLOCK:
                self._close_block()

    def _close_block(self) -> None:
        number = self.size // BLOCK - 1
        self._blocks[number] = bytes(self._open)
        self._open.clear()
        if self._thinned:
            self._forget(number - TAIL)
        elif len(self._blocks) > WHOLE:
            self._thinned = True
            for old in range(number - TAIL + 1):
                self._forget(old)

    def _forget(self, number: int) -> None:
        if number >= HEAD and number not in self._first and number not in self._later_set:
            self._blocks.pop(number, None)

    def pin(self, start: int, end: int) -> None:
        """Keep the blocks that hold [start, end), whether they have gone by already or are still to come."""
        for number in range(max(start, 0) // BLOCK, (max(end, 1) - 1) // BLOCK + 1):
            if number < HEAD or number in self._first or number in self._later_set:
                continue
            if number < self.size // BLOCK and number not in self._blocks:
                continue
            if len(self._first) < PINNED // 2:
                self._first.add(number)
                continue
            self._later.append(number)
            self._later_set.add(number)
            if len(self._later) > PINNED // 2:
                self._unpin(self._later.popleft())

    def _unpin(self, number: int) -> None:
        self._later_set.discard(number)
        if self._thinned and number <= self.size // BLOCK - 1 - TAIL:
            self._forget(number)

    def read(self, start: int, end: int) -> bytes:
        """Bytes from `start` up to `end`, or up to the first block that was not kept; b"" when `start` was not."""
        parts: list[bytes] = []
        here = max(start, 0)
        end = min(end, self.size)
        while here < end:
            number, inside = divmod(here, BLOCK)
            block = bytes(self._open) if number == self.size // BLOCK else self._blocks.get(number)
            if block is None:
                break
            part = block[inside : inside + end - here]
            parts.append(part)
            here += len(part)
        return b"".join(parts)
