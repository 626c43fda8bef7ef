"""Finds the line that an author means, and the traceback that it is the message of."""

from __future__ import annotations

from diagnose.classes import dataclass
from diagnose.facts.probe import HEADS, TRACEBACK
from diagnose.read import (
    ByteStream,
    Line,
    LineIndex,
    Source,
    Text,
    Traceback,
    find_sources,
    open_stream,
    read_tracebacks,
)
from diagnose.scan import Anchor, Database, scan
from diagnose.typed import BinaryIO

SHORTEST = 4  # bytes of a text that is looked for
_WANTED = "wanted"
_KEEP = 64 * 1024  # bytes around the line that stay readable where a source cannot be read twice


class NoSuchLineError(ValueError):
    """The line cannot be found; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Place:
    """One line of a log."""

    line: Line
    unit: Traceback | None  # the exception whose message it is
    count: int  # lines that hold the text that was asked for
    moved: bool  # True: another line of the exception was asked for, this is its message


def find_place(path: str, *, text: str = "", number: int = 0, stdin: BinaryIO | None = None) -> Place:
    """Find a line by a part of its text (the first one that holds it) or by its number.

    A line of a traceback leads to the message of its exception. Raises NoSuchLineError.
    """
    source = _source(path)
    if not number and len(text.encode()) < SHORTEST:
        raise NoSuchLineError(f"{text!r} is too short to look for; give {SHORTEST} characters or more, or --line")
    anchors = [Anchor(TRACEBACK, HEADS)]
    if not number:
        anchors.append(Anchor(_WANTED, (text.encode(),), keep=1))
    with open_stream(source, stdin=stdin) as stream:
        index, counter = LineIndex(), _Counter(stream, number)
        result = scan(stream, index, Database(anchors), always=[counter])
        lines = Text(stream, index, source)
        start = counter.start if number else next((hit.start for hit in result.hits if hit.key == _WANTED), -1)
        if start < 0:
            raise NoSuchLineError(_missing(path, text, number, result.lines, [*stream.problems]))
        line = lines.line_at(start)
        heads = [lines.line_at(hit.start) for hit in result.hits if hit.key == TRACEBACK]
        unit = _unit_of(line, read_tracebacks(lines, heads))
        count = 1 if number else result.counts.get(_WANTED, 1)
        if unit is None or unit.message_lines[0] <= line.number <= unit.message_lines[1]:
            return Place(line, unit, count, moved=False)
        return Place(_line_of(lines, unit), unit, count, moved=True)


def _source(path: str) -> Source:
    sources, problems = find_sources([path])
    if len(sources) == 1:
        return sources[0]
    if sources:
        raise NoSuchLineError(f"{path} holds {len(sources)} logs; name the one with the line")
    raise NoSuchLineError(f"{path}: {problems[0].what if problems else 'there is nothing to read'}")


class _Counter:
    """Notes where the wanted line begins."""

    def __init__(self, stream: ByteStream, number: int) -> None:
        self._stream = stream
        self._number = number
        self.start = -1

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        """Count the newlines of one chunk."""
        skip = self._number - first_line
        if self._number <= 0 or self.start >= 0 or not 0 <= skip <= chunk.count(b"\n"):
            return
        at = 0
        for _ in range(skip):
            at = chunk.index(b"\n", at) + 1
        if at < len(chunk):
            self.start = offset + at
            self._stream.pin(max(0, self.start - _KEEP), self.start + _KEEP)


def _missing(path: str, text: str, number: int, lines: int, problems: list[str]) -> str:
    if problems:
        return f"{path}: {problems[0]}"
    if number:
        return f"{path} has {lines} lines, no line {number}"
    return f"no line of {path} holds {text!r}; prefixes and colours may stand inside, take a shorter part or use --line"


def _unit_of(line: Line, units: list[Traceback]) -> Traceback | None:
    around = [unit for unit in units if unit.lines[0] <= line.number <= unit.lines[1] and unit.lane == line.lane]
    return min(around, key=lambda unit: unit.lines[1] - unit.lines[0], default=None)


def _line_of(lines: Text, unit: Traceback) -> Line:
    head = lines.line_at(unit.start)
    return next(
        (each for each in lines.after(head, unit.lines[1] - unit.lines[0] + 1) if each.number == unit.final.line), head
    )
