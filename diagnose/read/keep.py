"""Remembers parts of a stream that cannot be read twice."""

from __future__ import annotations

from collections import deque

BLOCK = 64 * 1024
WHOLE = 64 * 1024 * 1024 // BLOCK  # blocks: a stream up to this size is kept whole
HEAD = 1024 * 1024 // BLOCK
TAIL = 4 * 1024 * 1024 // BLOCK
PINNED = 88 * 1024 * 1024 // BLOCK  # half for the first pins, half for the last
_COARSE, _SMALL = 16, 8 * 1024  # where fewer blocks than this are kept, they are so small


class Keeper:
    """Blocks of 64 KB: all of a small stream, of a larger one its head, its tail and what was pinned.

    Where little is to be kept the blocks are smaller.

    Args:
        whole: bytes up to which a stream is kept whole. Head, tail and pins of a larger one take little more.
    """

    def __init__(self, whole: int = WHOLE * BLOCK) -> None:
        self._block = BLOCK if whole >= _COARSE * BLOCK else _SMALL
        share = max(1, whole // self._block)
        self._whole = share
        self._head, self._tail = max(1, share * HEAD // WHOLE), max(1, share * TAIL // WHOLE)
        self._most = max(2, share * PINNED // WHOLE)  # pinned blocks
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
            room = self._block - len(self._open)
            self._open += view[:room]
            self.size += min(room, len(view))
            view = view[room:]
            if len(self._open) == self._block:
                self._close_block()

    def _close_block(self) -> None:
        number = self.size // self._block - 1
        self._blocks[number] = bytes(self._open)
        self._open.clear()
        if self._thinned:
            self._forget(number - self._tail)
        elif len(self._blocks) > self._whole:
            self._thinned = True
            for old in range(number - self._tail + 1):
                self._forget(old)

    def _forget(self, number: int) -> None:
        if number >= self._head and number not in self._first and number not in self._later_set:
            self._blocks.pop(number, None)

    def pin(self, start: int, end: int) -> None:
        """Keep the blocks that hold [start, end), whether they have gone by already or are still to come."""
        for number in range(max(start, 0) // self._block, (max(end, 1) - 1) // self._block + 1):
            if number < self._head or number in self._first or number in self._later_set:
                continue
            if number < self.size // self._block and number not in self._blocks:
                continue
            if len(self._first) < self._most // 2:
                self._first.add(number)
                continue
            self._later.append(number)
            self._later_set.add(number)
            if len(self._later) > self._most // 2:
                self._unpin(self._later.popleft())

    def _unpin(self, number: int) -> None:
        self._later_set.discard(number)
        if self._thinned and number <= self.size // self._block - 1 - self._tail:
            self._forget(number)

    def read(self, start: int, end: int) -> bytes:
        """Bytes from `start` up to `end`, or up to the first block that was not kept; b"" when `start` was not."""
        parts: list[bytes] = []
        here = max(start, 0)
        end = min(end, self.size)
        while here < end:
            number, inside = divmod(here, self._block)
            block = bytes(self._open) if number == self.size // self._block else self._blocks.get(number)
            if block is None:
                break
            part = block[inside : inside + end - here]
            parts.append(part)
            here += len(part)
        return b"".join(parts)
