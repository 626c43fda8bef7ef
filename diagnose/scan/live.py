"""A scan that has no end: bytes come a few at a time, and what was found so far can be asked for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from diagnose.scan.block import Block
from diagnose.scan.database import Database
from diagnose.scan.merge import Index, merged
from diagnose.scan.model import ScanResult
from diagnose.scan.sampler import Sampler
from diagnose.scan.scan import CHUNK, Chunk, Pass, Pinned
from diagnose.typed import Generic, TypeVar

Meters = TypeVar("Meters")


class LiveScan(Generic[Meters]):
    """Scans a source that grows. What it finds in the end is what `scan` finds in the whole of it.

    Args:
        stream: where the neighbourhoods of hits are pinned.
        database: the anchors to look for.
        meters: those who read whole chunks, together in one object that can be copied.
        sampler: makes the sampler that feeds them.
        gather: bytes that are put together before they are fed.
        few: as in `scan`.
    """

    def __init__(
        self,
        stream: Pinned,
        database: Database,
        meters: Meters,
        sampler: Callable[[Meters], Sampler],
        gather: int = CHUNK,
        few: int | None = None,
    ) -> None:
        self._database = database
        self._pass = Pass(stream, database, few)
        self._meters = meters
        self._sampler = sampler(meters)
        self._gathered = _Gathered(gather)

    @property
    def news(self) -> int:
        """How many hits there were."""
        return self._pass.news

    @property
    def size(self) -> int:
        """Bytes that were scanned."""
        return self._pass.size

    def take(self, chunk: Chunk) -> None:
        """Scan the next chunk."""
        block = self._pass.take(chunk)
        if block is not None:
            for whole in self._gathered.add(block):
                self._sampler.offer(whole)

    def rest(self) -> None:
        """Let go what is held to be looked at later: nothing more comes for now."""
        self._pass.settle()

    def result(self, index: Index) -> tuple[ScanResult, Meters]:
        """Tell what was found up to here, and hand out a copy of the meters that has seen all of it.

        `index` is told how many newlines stand before some places.
        """
        meters, sampler = copy.deepcopy((self._meters, self._sampler))
        rest = self._gathered.rest()
        if rest is not None:
            sampler.offer(rest)
        sampler.finish()
        result = merged([self._pass.finish()], index, self._database)
        result.sampled = sampler.sampled
        return result, meters


class _Gathered:
    """Puts small chunks together to blocks as they are cut off a file that is read at once.

    Meters tell by a block who speaks in it, and remember where it stands: a block a line would mislead and burden them.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._data = bytearray()
        self._base = 0
        self._first_line = 1

    def add(self, block: Block) -> Iterator[Block]:
        """Yield the blocks that are full now."""
        if block.open_end or block.line_start < block.base:
            # A piece of a very long line, which meters do not read.
            if self._data:
                yield self._take(len(self._data))
            return
        if not self._data:
            self._base, self._first_line = block.base, block.first_line
        self._data += block.data
        while len(self._data) >= self._size and (cut := self._cut()):
            yield self._take(cut)

    def rest(self) -> Block | None:
        """Give what waits for more."""
        data = bytes(self._data)
        return Block(data, self._base, self._first_line, self._base, open_end=False) if data else None

    def _cut(self) -> int:
        return self._data.rfind(b"\n", 0, self._size) + 1 or self._data.find(b"\n", self._size) + 1

    def _take(self, size: int) -> Block:
        data = bytes(self._data[:size])
        block = Block(data, self._base, self._first_line, self._base, open_end=False)
        del self._data[:size]
        self._base += size
        self._first_line += data.count(b"\n")
        return block
