"""Finds literals that escape codes and control characters hide: `out of \\x1b[31mmemory`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate

from diagnose.read.clean import strip_escapes
from diagnose.scan.block import LONG_LINE, WINDOW

MARKS = (b"\x1b", b"\x00", b"\x08")
MANY = 200  # marked lines in a block; with more of them the whole block is scrubbed
_NEAR = 200

_CONTROLS = bytes(code for code in [*range(32), 127] if code not in b"\t\n\r")

Find = Callable[[bytes], dict[int, list[int]]]


def find_all(data: bytes, find: Find, find_moved: Find) -> tuple[dict[int, list[int]], bool]:
    """Find literals in a block, those that escape codes, NUL bytes or backspaces interrupt too.

    Args:
        data: whole lines.
        find: yields offsets behind literals by number, ascending.
        find_moved: is asked in place of `find` where what hides literals is taken out of the whole block.

    Returns what `find` returns, and whether the offsets count from a line's start without what was taken out of it
    (`raw_position` leads back). They lie in the right line in any case; in a long one they are about right.
    """
    marks = [mark for mark in MARKS if mark in data]
    if not marks:
        return find(data), False
    spans = _marked_lines(data, marks)
    if len(spans) > MANY:
        clean = _scrub(data)
        return dict(_moved(data, clean, find_moved(clean))), True
    found = find(data)
    raw = b"".join(data[start:end] for start, end in spans)
    clean = _scrub(raw)
    hidden = find(clean)
    if _sizes(hidden) == _sizes(find(raw)):
        return found, False
    starts = _line_starts(raw)
    for number, ends in _moved(raw, clean, hidden):
        known = found.get(number, [])
        placed = set(known)
        settled = -1  # the first place is enough in a line that is looked at as a whole
        for end in ends:
            line = bisect_right(starts, end - 1) - 1
            start, stop = spans[line]
            inside = end - starts[line]
            if stop - start <= LONG_LINE and _any_between(known, start, stop):
                continue  # the escape codes hide nothing there
            if stop - start > LONG_LINE:
                placed.add(start + inside)
            elif line > settled:
                placed.add(start + raw_position(data[start:stop], inside))
                settled = line
        found[number] = sorted(placed)
    return found, False


def _sizes(found: dict[int, list[int]]) -> dict[int, int]:
    return {number: len(ends) for number, ends in found.items()}


def _any_between(ends: list[int], start: int, stop: int) -> bool:
    at = bisect_right(ends, start)
    return at < len(ends) and ends[at] <= stop


def raw_position(line: bytes, inside: int) -> int:
    """Where in a line a position of its scrubbed text lies; in a long line the position is returned as it is."""
    if len(line) > LONG_LINE:
        return inside
    size = len(_scrub(line))
    at = bisect_left(range(len(line)), inside, lo=min(inside, len(line)), key=lambda end: len(_scrub(line[:end])))
    # A cut inside an escape code leaves a part of the code behind; the right place is a few bytes on.
    for end in range(at, min(at + _NEAR, len(line)) + 1):
        if len(_scrub(line[:end])) == inside and len(_scrub(line[end:])) == size - inside:
            return end
    return at


def _scrub(data: bytes) -> bytes:
    """Take out what `clean` takes out of ASCII text; newlines stay."""
    return strip_escapes(data).translate(None, _CONTROLS)


def _marked_lines(data: bytes, marks: list[bytes]) -> list[tuple[int, int]]:
    """Start and end, with the newline, of the lines that hold a mark; of some of them where there are many."""
    spans: set[tuple[int, int]] = set()
    for mark in marks:
        at = data.find(mark)
        while at >= 0 and len(spans) <= MANY:
            end = data.find(b"\n", at) + 1 or len(data)
            spans.add((data.rfind(b"\n", 0, at) + 1, end))
            at = data.find(mark, end)
    return sorted(spans)


def _moved(raw: bytes, clean: bytes, found: dict[int, list[int]]) -> Iterator[tuple[int, list[int]]]:
    """Move offsets in the scrubbed text to the lines that they came from."""
    if not found:
        return
    clean_starts = _line_starts(clean)
    raw_starts = _line_starts(raw)
    long_lines: dict[int, list[int]] = {}
    for number, ends in found.items():
        moved = []
        for end in ends:
            line = bisect_right(clean_starts, end - 1) - 1
            start, stop = raw_starts[line], raw_starts[line + 1] - 1
            inside = end - clean_starts[line]
            if stop - start > LONG_LINE:
                if line not in long_lines:
                    long_lines[line] = _clean_lengths(raw[start:stop])
                inside = _unscrubbed(long_lines[line], inside)
            moved.append(start + inside)
        yield number, moved


def _line_starts(data: bytes) -> list[int]:
    """Offsets of all lines, and one more that lies behind the last of them."""
    return [0, *accumulate(len(line) + 1 for line in data.split(b"\n"))]


def _clean_lengths(line: bytes) -> list[int]:
    """How much of a line is left up to each of its windows, and up to its end."""
    return [0, *accumulate(len(_scrub(line[at : at + WINDOW])) for at in range(0, len(line), WINDOW))]


def _unscrubbed(lengths: list[int], inside: int) -> int:
    """About where in a long line a position of its scrubbed text lies."""
    window = max(0, min(bisect_right(lengths, inside - 1) - 1, len(lengths) - 2))
    return window * WINDOW + inside - lengths[window]
