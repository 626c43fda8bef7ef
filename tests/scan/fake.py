"""Sources in memory, for the tests of the scan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from diagnose.scan.database import Database
from diagnose.scan.model import Anchor, Meter, ScanResult
from diagnose.scan.scan import scan

OVERLAP = 4096


@dataclass(frozen=True)
class FakeChunk:
    """A piece of a source."""

    data: bytes
    offset: int
    continues: bool = False


@dataclass
class FakeStream:
    """Bytes that come in chunks of whole lines of about `size` bytes; a line longer than `longest` is cut."""

    data: bytes
    size: int = 256 * 1024
    longest: int = 1024 * 1024
    problems: list[str] = field(default_factory=list)
    pins: list[tuple[int, int]] = field(default_factory=list)

    def chunks(self, size: int = 0, /) -> Iterator[FakeChunk]:
        """Yield the chunks, with an overlap where a line is cut."""
        at = 0
        while at < len(self.data):
            end = self.data.rfind(b"\n", at, at + self.size) + 1
            if at + self.size >= len(self.data):
                end = len(self.data)
            elif not end:
                newline = self.data.find(b"\n", at, at + self.longest)
                end = newline + 1 if newline >= 0 else min(at + self.longest, len(self.data))
                if newline < 0 and end < len(self.data):
                    yield FakeChunk(self.data[at:end], at, continues=True)
                    at = end - min(OVERLAP, self.longest // 2)
                    continue
            yield FakeChunk(self.data[at:end], at)
            at = end

    def pin(self, start: int, end: int, /) -> None:
        """Note what is pinned."""
        self.pins.append((start, end))


@dataclass
class FakeIndex:
    """Notes what it is told."""

    added: list[tuple[int, int]] = field(default_factory=list)

    def add(self, offset: int, newlines_before: int, /) -> None:
        """Note one chunk."""
        self.added.append((offset, newlines_before))


def scanned(
    data: bytes,
    anchors: list[Anchor],
    *,
    engine: str | None = None,
    size: int = 256 * 1024,
    longest: int = 1024 * 1024,
    meters: list[Meter] | None = None,
) -> ScanResult:
    """Scan bytes in memory."""
    return scan(FakeStream(data, size, longest), FakeIndex(), Database(anchors, engine), meters or [])
