"""Large files in parts: each is scanned by itself, by whichever process, and meters read windows of the whole.

What is found does not depend on who scans which part, so the outcome is the same with any number of processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.scan.model import Meter, Watcher
from diagnose.scan.sampler import ALL_UP_TO, EAGER_UP_TO, ONE_IN, ONE_IN_FEW, TAIL
from diagnose.scan.scan import CHUNK, Chunk, Seekable
from diagnose.typed import Protocol

PART = 64_000_000  # bytes of one part
_REACH = 1024 * 1024  # bytes behind a border in which a line's end is looked for
_WINDOWS = 512  # windows that are read at most behind the part that is read whole


class Rereadable(Seekable, Protocol):
    """A byte stream that gives any of its bytes again."""

    @property
    def size(self) -> int: ...
    def read(self, start: int, end: int, /) -> bytes: ...


def parts_of(stream: Rereadable, size: int = PART) -> list[tuple[int, int]]:
    """Cut a file into parts of about `size` bytes that begin and end at line starts, but for a very long line."""
    borders = [0]
    for border in range(size, stream.size - size // 2, size):
        at = stream.read(border - 1, border + _REACH).find(b"\n")
        if at >= 0:
            borders.append(border + at)
    return list(zip(borders, [*borders[1:], stream.size], strict=True))


def read_meters(stream: Rereadable, meters: Sequence[Meter], always: Sequence[Watcher] = ()) -> bool:
    """Feed meters with the first bytes of a large file, with windows all over it, and with its last megabyte.

    Args:
        stream: the file.
        meters: see a sample.
        always: see every chunk.

    Returns whether chunks were left out.
    """
    if always:
        for chunk in _whole(stream.chunks(CHUNK)):
            _feed(always, chunk)
    if not meters:
        return False
    start = _first_line(stream, min(ALL_UP_TO, stream.size))
    for turn, chunk in enumerate(_whole(stream.chunks(CHUNK, start=0, end=start))):
        few = chunk.offset + len(chunk.data) > EAGER_UP_TO and turn % ONE_IN_FEW
        _feed([meter for meter in meters if meter.eager or not few], chunk)
    tail = max(start, _first_line(stream, stream.size - TAIL))
    step = max(ONE_IN * CHUNK, (tail - start) // _WINDOWS)
    for border in range(start + step, tail - CHUNK, step):
        begin, end = _first_line(stream, border), _first_line(stream, border + CHUNK)
        for chunk in _whole(stream.chunks(CHUNK, start=begin, end=end)):
            _feed(meters, chunk)
    for chunk in _whole(stream.chunks(CHUNK, start=tail)):
        _feed(meters, chunk)
    return tail > start


def _first_line(stream: Rereadable, border: int) -> int:
    """Where the first line begins at or behind a place; the place itself where no line ends near it."""
    if border >= stream.size:
        return stream.size
    at = stream.read(border - 1, border + _REACH).find(b"\n") if border > 0 else -1
    return border + at if at > 0 else border


def _whole(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Leave out pieces of very long lines."""
    inside = False
    for chunk in chunks:
        if not chunk.continues and not inside:
            yield chunk
        inside = chunk.continues


def _feed(meters: Sequence[Watcher], chunk: Chunk) -> None:
    for meter in meters:
        meter.feed(bytes(chunk.data), chunk.offset, 0)
