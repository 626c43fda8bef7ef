"""One pass over the bytes of one source: which lines may matter to whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from diagnose.classes import replace
from diagnose.scan.block import Block
from diagnose.scan.database import Database
from diagnose.scan.hidden import find_all
from diagnose.scan.ledger import Ledger
from diagnose.scan.merge import Index, merged
from diagnose.scan.model import Anchor, Hit, Meter, ScanResult, Stretch, Watcher
from diagnose.scan.sampler import ALL_UP_TO, Sampler
from diagnose.scan.verifier import Verifier
from diagnose.typed import Protocol

CHUNK = 256 * 1024
SETTLE_EVERY = 32_000_000
PIN_BEFORE = 16 * 1024
PIN_AFTER = 48 * 1024
DENSE = 10_000  # places; finding them one by one costs more than to build a database that tells them once a block
DENSITY = 0.0002  # places a byte, below which they cost next to nothing
DENSE_BLOCK = 50
REBUILDS = 4
_MARKED = 32 * 1024  # bytes between two places whose line numbers are noted, where chunks are small


class Chunk(Protocol):
    """A piece of a source, as reading gives it."""

    @property
    def data(self) -> bytes | bytearray | memoryview: ...
    @property
    def offset(self) -> int: ...
    @property
    def continues(self) -> bool: ...


class Pinned(Protocol):
    """A byte stream that keeps what it is told to keep."""

    @property
    def problems(self) -> list[str]: ...
    def pin(self, start: int, end: int, /) -> None: ...


class Stream(Pinned, Protocol):
    """The part of a byte stream that a scan uses."""

    def chunks(self, size: int = ..., /) -> Iterator[Chunk]: ...


class Seekable(Pinned, Protocol):
    """A byte stream that can be read in parts."""

    def chunks(self, size: int = ..., /, *, start: int = ..., end: int | None = ...) -> Iterator[Chunk]: ...


def scan(
    stream: Stream,
    index: Index,
    database: Database,
    meters: Sequence[Meter] = (),
    always: Sequence[Watcher] = (),
    most: int = ALL_UP_TO,
    few: int | None = None,
) -> ScanResult:
    """Read a source once, from its first byte to its last.

    Args:
        stream: gives the bytes in chunks of whole lines; the neighbourhoods of hits are pinned on it.
        index: is told how many newlines stand before each chunk.
        database: the anchors to look for.
        meters: read numbers off whole chunks, of a large source off a sample of them.
        always: meters that are fed with every chunk.
        most: bytes up to which the meters see a source whole.
        few: first and last hits that are kept of anchors that ask for no speakers; None: as many as they ask for.

    Returns hits by position, counts, and what is to be said of the source. A hit in a line that is longer than a chunk
    begins at the line's start and ends where its chunk ends.
    """
    sampler = Sampler(meters, always, most)
    run = Pass(stream, database, few)
    for chunk in stream.chunks(CHUNK):
        block = run.take(chunk)
        if block is not None:
            sampler.offer(block)
    sampler.finish()
    result = merged([run.finish()], index, database)
    result.sampled = sampler.sampled
    return result


def scan_stretch(stream: Seekable, database: Database, start: int, end: int) -> Stretch:
    """Read one part of a source that begins and ends at line starts. The outcome depends on the part alone."""
    run = Pass(stream, database)
    for chunk in stream.chunks(CHUNK, start=start, end=end):
        run.take(chunk)
    return run.finish()


class Pass:
    """One pass over a source in the making: it takes chunks in order.

    Args:
        stream: where the neighbourhoods of hits are pinned.
        database: the anchors to look for.
        few: as in `scan`.
    """

    def __init__(self, stream: Pinned, database: Database, few: int | None = None) -> None:
        self.stream = stream
        self.marks: list[tuple[int, int]] = []
        database.forget()
        self.database = database
        self.few = few
        self.current = database
        # Places since the last rebuilding, of anchors that nobody looks at closely.
        self.dense: Counter[int] = Counter()
        self.rebuilds = 0
        self.built_at = 0
        self.verifier = Verifier()
        self.ledgers: dict[int, Ledger] = {}
        self.newlines = 0
        self.size = 0
        self.line_start = 0
        self.last = b"\n"
        self.settled_at = 0
        self.news = 0  # hits, those that were put off only when they are settled

    def take(self, chunk: Chunk) -> Block | None:
        """Look through the next chunk; returns it as a block, None where it is empty."""
        data = chunk.data if isinstance(chunk.data, bytes) else bytes(chunk.data)
        if not data:
            return None
        base = chunk.offset
        if self.last == b"\n":
            self.line_start = base
        if not self.marks or base - self.marks[-1][0] >= _MARKED:
            self.marks.append((base, self.newlines))
        block = Block(data, base, self.newlines + 1, self.line_start, chunk.continues)
        found, block.moved = find_all(data, self.current.find, self.database.find)
        for number, ends in sorted(found.items()):
            ledger = self.ledgers.get(number)
            if ledger is None:
                ledger = self.ledgers[number] = Ledger(self._anchor(number), self.verifier)
            if number in self.current.quiet and not block.moved:
                new = ledger.glance(block)
            else:
                new = ledger.offer(block, ends)
                self._note_dense(number, ledger, len(ends))
            self.news += len(new)
            for hit in new:
                self._pin(hit)
        wasted = self.dense.total() + self.current.misfires
        if wasted >= max(DENSE, DENSITY * (block.base - self.built_at)) and self.rebuilds < REBUILDS:
            self.rebuilds += 1
            self.built_at = block.base
            self.current = self.current.quieted(self.current.quiet | self.dense.keys())
            self.dense.clear()
        self._move_on(block)
        return block

    def _anchor(self, number: int) -> Anchor:
        anchor = self.database.anchors[number]
        if self.few is None or anchor.speakers or anchor.keep <= self.few:
            return anchor
        return replace(anchor, keep=self.few)

    def _move_on(self, block: Block) -> None:
        newlines = block.data.count(b"\n")
        self.newlines += newlines
        self.size = block.base + len(block.data)
        self.last = block.data[-1:]
        if newlines:
            self.line_start = block.base + block.data.rfind(b"\n") + 1
        if self.size - self.settled_at >= SETTLE_EVERY:
            self.settled_at = self.size
            self.settle()

    def _note_dense(self, number: int, ledger: Ledger, places: int) -> None:
        anchor = self.database.anchors[number]
        if places >= DENSE_BLOCK and ledger.hot and not anchor.narrow and number not in self.current.quiet:
            self.dense[number] += places

    def settle(self) -> None:
        """Look at the last of the lines that were put off."""
        for ledger in self.ledgers.values():
            for hit in ledger.settle():
                self._pin(hit)

    def _pin(self, hit: Hit) -> None:
        start = max(hit.start, hit.at - PIN_BEFORE)
        end = min(hit.end, hit.at + PIN_BEFORE)
        self.stream.pin(max(0, start - PIN_BEFORE), end + PIN_AFTER)

    def finish(self) -> Stretch:
        """Tell what was found; more chunks may be taken afterwards."""
        self.settle()
        return Stretch(
            {number: ledger.found for number, ledger in self.ledgers.items()},
            self.marks,
            self.size,
            self.newlines,
            self.last != b"\n",
            list(self.stream.problems),
        )
