"""Looks at single lines of a source: by offset, forward, backward, from the end."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator

from diagnose.lazy import LazyBytes
from diagnose.read import structured
from diagnose.read.clean import clean
from diagnose.read.existed import existed_at, last_dated, not_later_than
from diagnose.read.index import LineIndex
from diagnose.read.model import Clock, Evidence, Line, Source
from diagnose.read.prefix import Prefix, split
from diagnose.read.stream import LONG_LINE, ByteStream
from diagnose.read.time import show

SHOWN = 8192  # bytes of one line that are decoded
_PAGE = 64 * 1024
_PAGES = 48  # kept pages: 3 MB
_LINES = 1024  # kept lines
_LABELS = 160  # bytes of labels before a structured entry
_HEAD = 1024  # bytes in which a line's prefixes are looked for
_DATES = 4096  # bytes of begin and end in which a full date is looked for
_TASK = LazyBytes(rb"^(\d{1,6}): ?\[(rank|[a-z]+)(\d{1,6})\]:", re.MULTILINE)


class Text:
    """Random access to the lines of one source; neighbouring look-ups cost microseconds."""

    def __init__(self, stream: ByteStream, index: LineIndex, source: Source) -> None:
        self.source = source
        self._stream = stream
        self._index = index
        self._pages: OrderedDict[int, bytes] = OrderedDict()
        self._lines: OrderedDict[int, Line] = OrderedDict()
        self._whole: set[int] = set()  # starts of those whose text is the same whatever place of them is asked for
        self._tasks_are_ranks: bool | None = None
        dated = last_dated(stream.read(0, _DATES), stream.read(max(0, stream.size - _DATES), stream.size))
        self.existed = existed_at(stream.modified, dated)  # about when its last line was written, seconds
        self._near = not_later_than(stream.modified, dated)

    def line_at(self, offset: int, *, at: int | None = None, number: int | None = None) -> Line:
        """Give the line that holds `offset`.

        `at` is the offset that must be shown where the line is longer than 8192 bytes or holds carriage
        returns. `number` is the line's number where the caller knows it; it saves counting.
        """
        offset = max(0, min(offset, self._stream.size))
        start = self._start_of(offset)
        if (at is None or start in self._whole) and (line := self._lines.get(start)) is not None and offset <= line.end:
            self._lines.move_to_end(start)
            return line
        if number is not None:
            self._index.add(start, number - 1)
        number = self._index.number_at(start, self._stream)
        line = self._make(start, self._end_of(offset), number, at)
        if at is None or start in self._whole:
            self._remember(line)
        return line

    def after(self, line: Line, limit: int) -> Iterator[Line]:
        """Yield up to `limit` lines that follow `line`, none behind one of more than a megabyte: its end is unknown."""
        here, number = line.end + 1, line.number + 1
        for _ in range(limit):
            if here >= self._stream.size:
                return
            known = self._lines.get(here)
            if known is None:
                if not self._kept(here):
                    return
                known = self._make(here, self._end_of(here), number, None)
                self._remember(known)
            yield known
            if known.end - known.start >= LONG_LINE:
                return
            here, number = known.end + 1, known.number + 1

    def before(self, line: Line, limit: int) -> Iterator[Line]:
        """Yield up to `limit` lines that stand before `line`, the nearest first."""
        end, number = line.start - 1, line.number - 1
        for _ in range(limit):
            if end < 0:
                return
            start = self._start_of(end)
            known = self._lines.get(start)
            if known is None:
                if not self._kept(start):
                    return
                known = self._make(start, end, number, None)
                self._remember(known)
            yield known
            end, number = known.start - 1, known.number - 1

    def last(self, limit: int) -> list[Line]:
        """Give the last `limit` lines of the source, in their order."""
        size = self._stream.size
        if size == 0 or limit <= 0:
            return []
        line = self.line_at(size - 1)
        lines = [line, *self.before(line, limit - 1)]
        lines.reverse()
        return lines

    def whole(self, line: Line, limit: int = 256 * 1024) -> str:
        """Give a line's text up to `limit` bytes, where `Line.text` shows 8192 at most."""
        return clean(self._stream.read(line.start, min(line.end, line.start + limit)))

    def read(self, start: int, end: int) -> bytes:
        """Give bytes by their offset; fewer, or none, where they were not kept."""
        return self._stream.read(start, end)

    def end(self, size: int) -> bytes:
        """Give the last bytes."""
        return self._stream.read(self._stream.size - size, self._stream.size)

    def evidence(self, line: Line) -> Evidence:
        """Make a line quotable."""
        return Evidence(self.source.path, line.number, line.text, line.rank, line.node, show(line.time, line.clock))

    def _page(self, number: int) -> bytes:
        """One page of the source; b"" where it was not kept."""
        page = self._pages.get(number)
        # The last page of a stream that is still being read grows.
        if page is not None and (len(page) == _PAGE or number * _PAGE + len(page) == self._stream.size):
            return page
        page = self._stream.read(number * _PAGE, (number + 1) * _PAGE)
        if page:
            self._pages[number] = page
            if len(self._pages) > _PAGES:
                self._pages.popitem(last=False)
        return page

    def _kept(self, offset: int) -> bool:
        return len(self._page(offset // _PAGE)) > offset % _PAGE

    def _start_of(self, offset: int) -> int:
        """Where the line begins that holds `offset`; a newline belongs to the line that it ends."""
        floor = max(0, offset - LONG_LINE)
        here = offset
        while here > floor:
            number = (here - 1) // _PAGE
            first = number * _PAGE
            page = self._page(number)
            if len(page) < here - first:
                return here
            cut = page.rfind(b"\n", 0, here - first)
            if cut >= 0:
                return first + cut + 1
            here = first
        return max(here, floor)

    def _end_of(self, offset: int) -> int:
        """Where the line ends that holds `offset`, before its newline."""
        ceiling = min(self._stream.size, offset + LONG_LINE)
        here = offset
        while here < ceiling:
            number, inside = divmod(here, _PAGE)
            page = self._page(number)
            if len(page) <= inside:
                return here
            cut = page.find(b"\n", inside)
            if cut >= 0:
                return here - inside + cut
            here += len(page) - inside
        return here

    def _bytes(self, start: int, end: int) -> bytes:
        number, inside = divmod(start, _PAGE)
        page = self._page(number)
        stop = inside + end - start
        return page[inside:stop] if len(page) >= stop else self._stream.read(start, end)

    def _make(self, start: int, end: int, number: int, at: int | None) -> Line:
        head: bytes | None = None
        if end - start <= SHOWN:
            raw, begin = self._bytes(start, end), start
            if b"\r" not in raw:
                self._whole.add(start)
        else:
            begin = start if at is None else max(start, min(at - SHOWN // 2, end - SHOWN))
            raw = self._stream.read(begin, begin + SHOWN)
            if at is None and b"\r" in raw:
                # Of a long row of progress bars the last one counts.
                begin = end - SHOWN
                raw = self._stream.read(begin, end)
            if begin > start:
                head = self._stream.read(start, start + _HEAD)
        if b"\r" in raw:
            first = raw if head is None else head
            raw, begin = _segment(raw, begin, at)
            if begin > start:
                head = first.partition(b"\r")[0]
        text = clean(raw).replace("\r", "")
        found = self._entry(start, end) if end - start > SHOWN else None
        if found is not None:
            return self._line(start, end, number, text, found)
        found = split(text, near=self._near)
        if head is not None:
            found = _with_head(found, split(clean(head), near=self._near))
        return self._line(start, end, number, text, found)

    def _entry(self, start: int, end: int) -> Prefix | None:
        """Read a structured entry that is longer than what is shown of a line."""
        if b'{"' not in self._bytes(start, min(end, start + _LABELS)) or end - start > structured.LONGEST:
            return None
        found = split(clean(self._stream.read(start, end)), near=self._near)
        return found if found.unwrapped else None

    def _line(self, start: int, end: int, number: int, text: str, found: Prefix) -> Line:
        source = self.source
        text = self._stream.margins.get(number, "") + text
        rank = found.rank
        if found.task is not None and rank == found.task and not self._labels_are_ranks():
            rank = None
        local_rank = found.local_rank if found.local_rank is not None else source.local_rank
        return Line(
            number,
            start,
            end,
            text,
            found.body,
            found.lane,
            source.rank if rank is None else rank,
            local_rank,
            found.node or source.node,
            found.time,
            found.clock,
            found.stream or source.stream,
        )

    def _labels_are_ranks(self) -> bool:
        """Do `srun -l` labels count ranks here? Where a line's label and its own rank differ they count nodes."""
        if self._tasks_are_ranks is None:
            size = self._stream.size
            sample = self._stream.read(0, 4 * _PAGE) + b"\n" + self._stream.read(max(4 * _PAGE, size - 4 * _PAGE), size)
            self._tasks_are_ranks = all(
                match[2] == b"rank" and int(match[1]) == int(match[3]) for match in _TASK.finditer(sample)
            )
        return self._tasks_are_ranks

    def _remember(self, line: Line) -> None:
        self._lines[line.start] = line
        if len(self._lines) > _LINES:
            self._whole.discard(self._lines.popitem(last=False)[0])


def _segment(raw: bytes, begin: int, at: int | None) -> tuple[bytes, int]:
    """Of a line with carriage returns take the piece that holds `at`, or else the last that is not empty."""
    pieces: list[tuple[int, bytes]] = []
    here = begin
    for piece in raw.split(b"\r"):
        pieces.append((here, piece))
        here += len(piece) + 1
    if at is not None:
        for here, piece in pieces:
            if here <= at <= here + len(piece) and piece:
                return piece, here
    for here, piece in reversed(pieces):
        if piece.strip():
            return piece, here
    return b"", begin


def _with_head(found: Prefix, head: Prefix) -> Prefix:
    """Give a piece of a line what the prefixes at the line's beginning tell, where it has none of its own."""
    if not found.lane:
        found.lane = head.lane
        found.rank = head.rank if found.rank is None else found.rank
        found.task = head.task
        found.local_rank = head.local_rank if found.local_rank is None else found.local_rank
        found.node = found.node or head.node
        found.stream = found.stream or head.stream
    if found.clock is Clock.NONE:
        found.time, found.clock = head.time, head.clock
    return found
