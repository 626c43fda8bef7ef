"""What a fact reader is, and how it walks over the lines of one speaker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from diagnose.classes import dataclass
from diagnose.read.model import Evidence, Line
from diagnose.typed import Generic, Protocol, TypeVar

Found = TypeVar("Found", covariant=True)

WALK = 2000  # lines of one speaker that a reader looks at, at most


class TextView(Protocol):
    """The part of a source's text that readers use."""

    def line_at(self, offset: int) -> Line:
        """The line that holds the byte at `offset`."""

    def after(self, line: Line, limit: int) -> Iterator[Line]:
        """The lines behind `line`, at most `limit`, nearest first."""

    def before(self, line: Line, limit: int) -> Iterator[Line]:
        """The lines before `line`, at most `limit`, nearest first."""

    def read(self, start: int, end: int) -> bytes:
        """Bytes of the source by their offset; fewer, or none, where they were not kept."""

    def evidence(self, line: Line) -> Evidence:
        """The line as it is shown to a person."""


@dataclass(frozen=True, slots=True)
class Reader(Generic[Found]):
    """One log format: the literals that announce it, and what is read from there: observations, or steps."""

    name: str
    anchors: tuple[bytes, ...]  # literals of 4 bytes or more; one stands on every line that opens the format
    read: Callable[[TextView, Line], Iterable[Found]]  # called with the text and the line that an anchor stands on
    keep: int = 8  # how many first and how many last lines with an anchor are read


def following(text: TextView, line: Line, limit: int = WALK) -> Iterator[Line]:
    """Yield the lines that the same speaker says after `line`.

    Other speakers' lines in between are skipped; at most `limit` lines are yielded and four times as many looked at.
    """
    yield from _same(text.after(line, 4 * limit), line.lane, limit)


def preceding(text: TextView, line: Line, limit: int = WALK) -> Iterator[Line]:
    """Yield the lines that the same speaker said before `line`, nearest first, bounded like `following`."""
    yield from _same(text.before(line, 4 * limit), line.lane, limit)


def _same(lines: Iterator[Line], lane: str, limit: int) -> Iterator[Line]:
    left = limit
    for line in lines:
        if line.lane != lane:
            continue
        if left <= 0:
            return
        left -= 1
        yield line
