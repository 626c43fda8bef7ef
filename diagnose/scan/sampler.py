"""Feeds meters: with every block of a small source, with a sample of a large one, and with its last megabyte."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from diagnose.scan.block import Block
from diagnose.scan.model import Meter, Watcher

EAGER_UP_TO = 8_000_000  # bytes that every meter sees
ALL_UP_TO = 32_000_000  # bytes that meters see which have found something
ONE_IN_FEW = 4
ONE_IN = 16
TAIL = 1_000_000


class Sampler:
    """Decides which blocks the meters see. Blocks come and go in order.

    Args:
        meters: who reads them.
        always: who reads every block, of large sources too.
        most: bytes up to which a source is read whole; less where there are very many sources.
    """

    __slots__ = (
        *("_always", "_ends", "_held", "_held_bytes", "_meters", "_most", "_seen", "_tail", "_turn", "sampled"),
    )

    def __init__(self, meters: Sequence[Meter], always: Sequence[Watcher] = (), most: int = ALL_UP_TO) -> None:
        self._most = most
        self._tail = min(TAIL, most // 2)
        self._meters = tuple(meters)
        self._always = tuple(always)
        self._ends = [0 for _ in self._meters]  # up to here each has read
        self._held: deque[tuple[Block, bool]] = deque()  # the last blocks, and whether one that matters was left out
        self._held_bytes = 0
        self._seen = 0
        self._turn = 0
        self.sampled = False  # were blocks left out?

    def offer(self, block: Block) -> None:
        """Take one block; blocks that begin or end inside a line are left out."""
        self._seen += len(block.data)
        if not (self._meters or self._always) or block.open_end or block.line_start < block.base:
            return
        for meter in self._always:
            meter.feed(block.data, block.base, block.first_line)
        self._turn += 1
        skipped = False
        for number, meter in enumerate(self._meters):
            if self._wanted(meter):
                self._feed(number, block)
            else:
                skipped = skipped or self._seen > self._most
        self._held.append((block, skipped))
        self._held_bytes += len(block.data)
        while self._held_bytes - len(self._held[0][0].data) >= self._tail:
            old, missed = self._held.popleft()
            self._held_bytes -= len(old.data)
            self.sampled = self.sampled or missed

    def _wanted(self, meter: Meter) -> bool:
        if self._seen <= min(EAGER_UP_TO, self._most):
            return True
        if self._seen <= self._most:
            return meter.eager or self._turn % ONE_IN_FEW == 0
        return self._turn % ONE_IN == 0

    def finish(self) -> None:
        """Feed the last megabyte, or what stands for it, to those who have not seen it."""
        if self._held and (over := self._held_bytes - self._tail) > 0:
            first, missed = self._held[0]
            self._held[0] = (_behind(first, over), missed)
            self.sampled = self.sampled or missed
        for block, _ in self._held:
            for number, end in enumerate(self._ends):
                if block.base >= end:
                    self._feed(number, block)
        self._held.clear()
        self._held_bytes = 0

    def _feed(self, number: int, block: Block) -> None:
        self._ends[number] = block.base + len(block.data)
        self._meters[number].feed(block.data, block.base, block.first_line)


def _behind(block: Block, size: int) -> Block:
    """Leave out about so many bytes at a block's beginning: whole lines, but never the last one."""
    cut = block.data.rfind(b"\n", 0, min(size, len(block.data) - 1)) + 1
    first_line = block.first_line and block.first_line + block.data.count(b"\n", 0, cut)
    return Block(block.data[cut:], block.base + cut, first_line, block.base + cut, block.open_end)
