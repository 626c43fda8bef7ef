"""Feeds meters: with every block of a small source, with a sample of a large one, and with its last megabyte."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from diagnose.scan.block import Block
from diagnose.scan.model import Meter

ALL_UP_TO = 32_000_000
ONE_IN = 16
TAIL = 1_000_000


class Sampler:
    """Decides which blocks the meters see. Blocks come and go in order.

    Args:
        meters: who reads them.
        always: who reads every block, of large sources too.
    """

    __slots__ = ("_always", "_held", "_held_bytes", "_meters", "_seen", "_turn", "sampled")

    def __init__(self, meters: Sequence[Meter], always: Sequence[Meter] = ()) -> None:
        self._meters = tuple(meters)
        self._always = tuple(always)
        self._held: deque[tuple[Block, bool]] = deque()
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
        if self._seen <= ALL_UP_TO:
            self._feed(block)
            return
        self._turn += 1
        self._held.append((block, self._turn % ONE_IN == 0))
        self._held_bytes += len(block.data)
        while self._held_bytes - len(self._held[0][0].data) >= TAIL:
            old, wanted = self._held.popleft()
            self._held_bytes -= len(old.data)
            if wanted:
                self._feed(old)
            else:
                self.sampled = True

    def finish(self) -> None:
        """Feed the last megabyte."""
        for block, _ in self._held:
            self._feed(block)
        self._held.clear()

    def _feed(self, block: Block) -> None:
        for meter in self._meters:
            meter.feed(block.data, block.base, block.first_line)
