"""Collects the numbers of all iteration lines from whole chunks, with native searches."""

from __future__ import annotations

import itertools
import math
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from diagnose.classes import dataclass, field, replace
from diagnose.expressions import EXPRESSIONS
from diagnose.facts.reader import TextView
from diagnose.facts.series import MOST, Series
from diagnose.facts.series_clock import Clock, Tick, bars, stamped
from diagnose.facts.series_forms import FORMS, STEP_TIME, Columns, Form, columns_of, number_of
from diagnose.facts.series_rows import Rows
from diagnose.facts.uncolored import origins
from diagnose.read.clean import clean, strip_escapes
from diagnose.read.model import Evidence, Line
from diagnose.read.prefix import split

FULL = 16_000_000  # bytes whose iteration lines are read with all their fields; later ones in one chunk of FULL_EVERY
FULL_EVERY = 16
_CLOSE_LOOKS = 20_000  # lines that are looked at one by one, where several speakers print iterations
_SPEAKERS = 4096
_TICKS = 50_000
_FRUITLESS = 16  # chunks without a tick, behind which one in so many is looked at
_HEAD = 800  # bytes of a line that are kept behind what announces its format


@dataclass(frozen=True, slots=True)
class _Piece:
    first: int  # index of its first point, when it was read
    offset: int
    size: int  # bytes from the offset in which its points stand
    form: Form | None  # None: the points' own lines stand at `places`, or the only point's at the offset
    head: tuple[int, bytes] = (0, b"")  # number and text of the first line, for sources that cannot be read again
    places: array[int] | None = None  # bytes from the offset to each point


@dataclass(slots=True)
class _Lane:
    series: Series
    pieces: list[_Piece] = field(default_factory=list)

    def add(self, piece: _Piece, columns: Columns) -> None:
        self.pieces.append(replace(piece, first=len(self.series)))
        if self.series.every > 1 and columns.values.keys() == {"ms"}:
            columns = _means(columns, self.series.every)
        elif self.series.every > 1:
            more = Series(self.series.form)
            more.append(columns.numbers, columns.values)
            while more.every < self.series.every:
                more.halve()
            columns = Columns(more.numbers, dict(more.values))
        self.series.append(columns.numbers, columns.values)
        if len(self.series) > MOST:
            self.series.halve()
            self.pieces = [replace(each, first=each.first // 2) for each in self.pieces]


class SeriesMeter:
    """A scan meter for the numbers on iteration lines.

    Megatron-LM, Megatron Bridge, NeMo 2, DeepSpeed, torchtitan and Hugging Face lines are read by their fields;
    bars and stamped lines of other loops by the clock. A chunk is read as one format.
    """

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}
        self._rows = Rows()
        self._fed = 0
        self._chunk = 0
        self._looked = 0
        self._ticks = 0
        self._clocks: dict[str, Clock] = {}
        self._end = 0

    @property
    def eager(self) -> bool:
        """Were numbers found?"""
        return bool(self._lanes)

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        """Read one chunk of whole lines that starts at byte `offset` with line number `first_line`."""
        if offset < self._end:
            return  # the repeated end of a very long line
        raw = bytes(chunk)
        self._end = offset + len(raw)
        self._fed += len(raw)
        self._chunk += 1
        data = strip_escapes(raw)
        form = next((form for form in FORMS if form.guard in data), None)
        if form is None and STEP_TIME.guard in data:
            form = STEP_TIME
        if form is not None:
            self._read(form, raw, data, offset, first_line)
        if form is None or "ms" not in [metric for metric, _, _ in form.fields]:
            self._clocked(raw, data, offset, lines=form is None)

    def _read(self, form: Form, raw: bytes, data: bytes, offset: int, line: int) -> None:
        thin = self._fed > FULL and self._chunk % FULL_EVERY != 0 and form.fields[0][0] == "ms"
        columns = None if thin else self._rows.read(form, data)
        if columns is None:
            columns = columns_of(form, data, only_times=thin)
        if columns is None:
            return
        if form.number is None:
            known = self._lanes.get(form.name)
            start = len(known.series) * known.series.every if known else 0
            columns = Columns(range(start + 1, start + 1 + len(columns.numbers)), columns.values)
        elif _several_speak(columns.numbers) and self._looked < _CLOSE_LOOKS:
            self._apart(form, raw, offset)
            return
        if form.name == "megatron" and not thin and "tflops" not in columns.values and STEP_TIME.guard in data:
            rates = [number_of(text) for text in EXPRESSIONS.standard(STEP_TIME.fields[1][1]).findall(data)]
            if len(rates) == len(columns.numbers):
                columns.values["tflops"] = rates
        self._lane(form.name, "", form.name).add(_Piece(0, offset, len(raw), form, _head(form, data, line)), columns)

    def _apart(self, form: Form, data: bytes, offset: int) -> None:
        """Tell the speakers of a chunk apart, line by line."""
        at = 0
        for raw in data.split(b"\n"):
            line = strip_escapes(raw)
            if form.guard in line and (found := columns_of(form, line)) is not None:
                self._looked += 1
                lane = split(line[:1024].decode("utf-8", "replace")).lane
                name = f"{form.name} {lane}"
                if name in self._lanes or len(self._lanes) < _SPEAKERS:
                    self._lane(name, lane, form.name).add(_Piece(0, offset + at, len(raw), None), found)
            at += len(raw) + 1

    def _clocked(self, raw: bytes, data: bytes, offset: int, *, lines: bool) -> None:
        if self._ticks > _TICKS or (not self._ticks and self._chunk > _FRUITLESS and self._chunk % _FRUITLESS):
            return
        if b"it/s" in data or b"s/it" in data:
            self._ticked("bar", bars(data), raw, data, offset)
        if lines and (b"loss" in data or b"Loss" in data):
            self._ticked("stamped", stamped(data), raw, data, offset)

    def _ticked(self, name: str, ticks: Iterable[Tick], raw: bytes, data: bytes, offset: int) -> None:
        clock = self._clocks.setdefault(name, Clock())
        numbers, places = array("q"), array("q")
        times, losses = array("d"), array("d")
        for tick in ticks:
            self._ticks += 1
            time = clock.time(tick)
            if time is not None or tick.loss == tick.loss:
                numbers.append(tick.number)
                places.append(tick.at)
                times.append(math.nan if time is None else time)
                losses.append(tick.loss)
        values: dict[str, Sequence[float]] = {"ms": times, "loss": losses}
        values = {metric: column for metric, column in values.items() if any(value == value for value in column)}
        if values:
            lane = self._lane(name, "", name)
            lane.series.derived = True
            lane.add(
                _Piece(0, offset, len(raw), None, places=array("q", origins(raw, data, places))),
                Columns(numbers, values),
            )

    def _lane(self, name: str, lane: str, form: str) -> _Lane:
        if name not in self._lanes:
            self._lanes[name] = _Lane(Series(form, lane))
        return self._lanes[name]

    def series(self) -> list[Series]:
        """Return what was read, the longest first."""
        found = [lane.series for lane in self._lanes.values() if len(lane.series)]
        return sorted(found, key=len, reverse=True)

    def line(self, series: Series, index: int, text: TextView) -> Line:
        """Return the line of a point; the nearest that is kept, where a stream cannot be read again."""
        piece = self._piece(series, index)
        if piece.form is None:
            point = (index - piece.first) * series.every
            place = piece.places[min(point, len(piece.places) - 1)] if piece.places else 0
            return text.line_at(piece.offset + place)
        raw = text.read(piece.offset, piece.offset + piece.size)
        data = strip_escapes(raw)
        if piece.form.number is None:
            place = _nth(data, piece.form.guard, (index - piece.first) * series.every)
        else:
            place = _numbered(data, piece.form.number, series.numbers[index])
        return text.line_at(piece.offset + next(origins(raw, data, [place])))

    def show(self, series: Series, index: int, text: TextView) -> Evidence:
        """Return the line of a point as evidence; where it was not kept, the first iteration line of its chunk."""
        shown = text.evidence(self.line(series, index, text))
        if shown.text:
            return shown
        number, raw = self._piece(series, index).head
        return Evidence(shown.path, number, clean(raw)) if raw else shown

    def _piece(self, series: Series, index: int) -> _Piece:
        lane = next(lane for lane in self._lanes.values() if lane.series is series)
        return lane.pieces[max(0, bisect_right(lane.pieces, index, key=lambda piece: piece.first) - 1)]


def _means(columns: Columns, every: int) -> Columns:
    """Merge the step times of a chunk at once: means of so many lines each."""
    times = [*columns.values["ms"]]
    times += times[-1:] * (-len(times) % every)
    sums = map(sum, zip(*[iter(times)] * every, strict=True))
    return Columns(columns.numbers[::every], {"ms": array("d", [total / every for total in sums])})


def _head(form: Form, data: bytes, line: int) -> tuple[int, bytes]:
    at = data.find(form.guard)
    start = data.rfind(b"\n", 0, at) + 1
    end = data.find(b"\n", at, at + _HEAD)
    return line + data.count(b"\n", 0, start), data[start : end if end >= 0 else at + _HEAD]


def _nth(data: bytes, guard: bytes, count: int) -> int:
    """Where the line with number `count`, from 0, of those that hold the guard has it; the last one where it lacks."""
    place = max(0, data.find(guard))
    for _ in range(count):
        line_end = data.find(b"\n", place)
        following = data.find(guard, line_end) if line_end >= 0 else -1
        if following < 0:
            break
        place = following
    return place


def _numbered(data: bytes, number: bytes, wanted: int) -> int:
    """Where the line with this number has it; the last one with a smaller number where it lacks."""
    best = 0
    for found in EXPRESSIONS.standard(number).finditer(data):
        if int(found[1]) <= wanted:
            best = found.start()
        if int(found[1]) == wanted:
            break
    return best


def _several_speak(numbers: Sequence[int]) -> bool:
    """Tell whether iteration numbers repeat so often that more than one rank must print them."""
    if isinstance(numbers, range) or len(numbers) < 8:
        return False
    repeated = sum(1 for a, b in itertools.pairwise(numbers) if b <= a)
    return repeated > len(numbers) // 10
