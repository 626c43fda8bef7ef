"""Step times where no line prints them: from the elapsed time of progress bars, and from the stamps of log lines.

Clock times are whole seconds or better, so a point is made only when enough time has passed for the rounding to weigh
little. Sources: tqdm, Lightning, and what hand-written loops print.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from diagnose.classes import dataclass
from diagnose.facts.progress_lines import read_progress
from diagnose.facts.series_forms import number_of
from diagnose.lazy import LazyBytes
from diagnose.read.clean import clean

RESOLUTIONS = 25  # a point spans so many times the resolution of its clock
_BAR = LazyBytes(rb"\| *(\d{1,12})/(\d{1,12}) \[(?:(\d{1,4}):)?(\d{1,2}):(\d\d)<[^\]\n\r]{0,100}(?:it/s|s/it)")
_LINE = LazyBytes(
    rb"(?:[Ss]tep|STEP|[Ii]ter(?:ation)?)s?\W{0,4}(\d{1,15})[^\n]{0,200}?[Ll]oss['\"]?[ :=]{1,3}"
    rb"([-+]?[\d.]{1,20}(?:[eE][-+]?\d{1,3})?|[-+]?(?:nan|inf|NaN))"
)
_STAMP = LazyBytes(rb"(?:^|[ T\[(])([012]\d):([0-5]\d):([0-5]\d)(?:[.,](\d{1,6}))?")
_DAY = 86400.0
_TAIL, _HEAD = 600, 120  # bytes before a bar in which its line begins; bytes of a line in which its stamp stands


@dataclass(frozen=True, slots=True)
class Tick:
    """One progress line with its clock."""

    at: int  # offset in the chunk
    number: int
    seconds: float | None  # since any fixed moment
    resolution: float  # seconds
    loss: float = math.nan
    total: int = 0  # of a bar


def bars(data: bytes) -> Iterator[Tick]:
    """Yield the training bars of a chunk, one of each second."""
    last = (-1, -1.0)
    for found in _BAR.finditer(data):
        total = int(found[2])
        seconds = int(found[3] or 0) * 3600.0 + int(found[4]) * 60.0 + int(found[5])
        if (total, seconds) == last:
            continue
        last = (total, seconds)
        floor = max(0, found.start() - _TAIL)
        start = max(data.rfind(b"\n", floor, found.start()), data.rfind(b"\r", floor, found.start()), floor - 1) + 1
        if read_progress(clean(data[start : found.end() + 1])):
            yield Tick(found.start(), int(found[1]), seconds, 1.0, total=total)


def stamped(data: bytes) -> Iterator[Tick]:
    """Yield the lines of a chunk that have a step number and a loss, with the time of day where they are stamped."""
    for found in _LINE.finditer(data):
        start = data.rfind(b"\n", 0, found.start()) + 1
        head = data[start : min(found.start(), start + _HEAD)]
        if b"alid" in head or b"eval" in head:
            continue
        stamp = _STAMP.search(head)
        seconds, resolution = None, 1.0
        if stamp:
            part = stamp[4] or b""
            seconds = int(stamp[1]) * 3600.0 + int(stamp[2]) * 60.0 + int(stamp[3])
            seconds += int(part) / 10 ** len(part) if part else 0.0
            resolution = 1.0 if not part else 0.001
        yield Tick(found.start(), int(found[1]), seconds, resolution, number_of(found[2]))


@dataclass(slots=True)
class Clock:
    """Makes step times of ticks."""

    _number: int = -1
    _seconds: float = 0.0
    _total: int = 0
    _latest: int = -1

    def time(self, tick: Tick) -> float | None:
        """Return the milliseconds of a step since the last point; None where too little time has passed since then."""
        if tick.seconds is None:
            return None
        passed = tick.seconds - self._seconds
        if not tick.total and passed < -_DAY / 2:
            passed += _DAY
        steps = tick.number - self._number
        again = tick.number <= self._latest or tick.total != self._total or passed < 0
        self._latest = tick.number
        if self._number < 0 or again:
            self._number, self._seconds, self._total = tick.number, tick.seconds, tick.total
            return None
        if passed < RESOLUTIONS * tick.resolution:
            return None
        self._number, self._seconds = tick.number, tick.seconds
        return passed * 1000 / steps
