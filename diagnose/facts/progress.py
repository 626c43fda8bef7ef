"""Finds the progress lines of a log in whole chunks, and keeps the first and the last of them."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from diagnose.classes import dataclass, field, replace
from diagnose.facts.model import Step
from diagnose.facts.progress_lines import read_progress
from diagnose.facts.reader import TextView
from diagnose.facts.uncolored import origins
from diagnose.lazy import LazyBytes
from diagnose.read.clean import clean, strip_escapes
from diagnose.read.labels import LABEL
from diagnose.read.model import Evidence

FIRST, LAST = 12, 200
LAST_ALONE = 20  # where no line has a rank's label
FIRST_FEW, LAST_FEW = 2, 6
_LONGEST = 2000  # bytes of a progress line that are kept
_TAIL = 600  # bytes before a match in which its line begins
_DENSE = 50  # progress lines in a chunk
_TRIED, _FAR = 4 * FIRST, 8192  # places that are tried to tell that a chunk is full of a format, and bytes between
_CHECKED = FIRST + LAST  # candidates at each end of a chunk that are looked at more closely
# All begin with a literal: then the search runs at memory speed. Lines of these formats need no second look.
_STRICT = (
    (b"iteration ", LazyBytes(rb"iteration +\d{1,15}/ *\d{1,15} *\|")),
    (b"Step Time : ", LazyBytes(rb"Step Time : [\d.]{1,20}s GPU utilization: ")),
    (b"steps: ", LazyBytes(rb"steps: \d{1,15} loss: ")),
    (b", skipped=", LazyBytes(rb", skipped=\d{1,15}, lr=")),
    (b"/global_step=", LazyBytes(rb"/global_step=\d{1,15}, RunningAvgSamplesPerSec=")),
    (b"[step=", LazyBytes(rb"\[step=\d{1,15}/\d{1,15}[,\]]")),
    (b"[batch=", LazyBytes(rb"\[batch=\d{1,15}/\d{1,15}\]")),
    (b"===== Step ", LazyBytes(rb"===== Step \d{1,15}/\d{1,15} =====")),
    (b"Processed ", LazyBytes(rb"Processed \d{1,15} documents \(")),
    (b"step:", LazyBytes(rb"step:\d{1,15} - [a-z_-]{1,40}/")),
)
# Lines of any other kind are found by what they have, and looked at more closely.
_LOOSE = ((b"oss", None), (b"it/s", None), (b"s/it", None))
# What a line of any other kind has. Which of these lines tell progress, `read_progress` decides when `steps` is called.
_LOSS = LazyBytes(rb"oss['\"]?[ :=]{1,3}['\"]?(?:[-+]?[\d.]{1,20}|nan|NaN|NAN|-?inf)")
_BAR = LazyBytes(rb"(?:\| *|\xe2\x94\x81 )\d{1,12}/\d{1,12} [\[\d][^\]\n\r]{0,100}(?:it/s|s/it)")
_COUNTED = LazyBytes(rb"(?:[Ss]tep|STEP|[Ii]ter|[Ee]poch|[Bb]atch)[^\n]{0,20}?\d|\{'|\d/ ?(?:\d|Unk)")


@dataclass(frozen=True, slots=True)
class _Mark:
    number: int  # line number; 0 where it is not known
    at: int  # offset of the match
    raw: bytes  # the piece of the line that matched, between carriage returns


@dataclass(slots=True)
class _Dense:
    """The marks of a chunk that is full of progress lines: cut out each time they are asked for."""

    data: bytes
    places: list[int] | None  # in its text without escape codes; None: not looked for yet
    offset: int
    first_line: int

    def last(self, count: int) -> Iterator[_Mark]:
        """Yield the last marks."""
        plain = strip_escapes(self.data)
        if self.places is None:
            self.places = _places(plain)[0][-LAST:]
        return _marks(self.data, plain, self.places[-count:], self.offset, self.first_line)


@dataclass(slots=True)
class ProgressMeter:
    """A scan meter for iteration lines of every framework.

    Chunks are searched with native code; only the first and the last lines are parsed, when `steps` is called. `count`
    is about the number of progress lines in the chunks that were fed.
    """

    count: int = 0
    _first: list[_Mark] = field(default_factory=list)
    _last: deque[tuple[int, _Dense | list[_Mark]]] = field(default_factory=deque)  # how many marks, and the marks
    _kept: int = 0  # marks in `_last`
    _seen: int = -1  # offset of the last place: a chunk may repeat the end of the one before

    @property
    def eager(self) -> bool:
        """Were progress lines found?"""
        return self.count > 0

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        """Search one chunk of whole lines that starts at byte `offset` with line number `first_line` (0: not known)."""
        raw = bytes(chunk)
        data = strip_escapes(raw)
        room = FIRST - len(self._first)
        full = _full(data) if offset > self._seen else None
        if full is not None:
            count, latest, form = full
            early = _first(data, form, room)
            self._first += _marks(raw, data, early, offset, first_line)
            self._seen = offset + latest
            self.count += count
            self._keep(LAST, _Dense(raw, None, offset, first_line))
            return
        places, count = _places(data)
        self.count += count
        if places and offset + places[0] <= self._seen:
            places = [place for place in places if offset + place > self._seen]
        if not places:
            return
        self._seen = offset + places[-1]
        if room:
            self._first += _marks(raw, data, places[:room], offset, first_line)
        late = places[room:][-LAST:]
        if not late:
            return
        # A dense chunk is held as it is, and cut into lines only if it is still among the last at the end.
        dense = _Dense(raw, late, offset, first_line)
        self._keep(len(late), dense if len(late) >= _DENSE else [*dense.last(LAST)])

    def _keep(self, count: int, marks: _Dense | list[_Mark]) -> None:
        self._last.append((count, marks))
        self._kept += count
        while self._kept - self._last[0][0] >= LAST:
            self._kept -= self._last.popleft()[0]

    def steps(self, text: TextView, *, few: bool = False) -> list[Step]:
        """Parse what was kept, by position: at most `FIRST` first and `LAST` last lines, fewer where one speaks.

        `few` parses a few of them only.
        Megatron Bridge prints a step's throughput on a line of its own before the iteration line; the two are one step.
        """
        last = self._late(LAST_FEW if few else LAST)
        if not few and not any(LABEL.match(mark.raw) for mark in last):
            last = last[-LAST_ALONE:]
        return _merged(
            step for mark in (*self._first[: FIRST_FEW if few else FIRST], *last) if (step := _step(text, mark))
        )

    def _late(self, count: int) -> list[_Mark]:
        """Give the last marks, and cut no chunk into lines for more of them."""
        found: list[_Mark] = []
        for _, marks in reversed(self._last):
            wanted = count - len(found)
            if wanted <= 0:
                break
            found = [*(marks.last(wanted) if isinstance(marks, _Dense) else marks[-wanted:]), *found]
        return found


def _places(data: bytes) -> tuple[list[int], int]:
    """Where progress lines are (all, or those at both ends of the chunk), and how many there are about."""
    found = sorted(match.start() for guard, form in _STRICT if guard in data for match in form.finditer(data))
    if found:
        return found, len(found)
    candidates = [match.start() for match in _LOSS.finditer(data)] if b"oss" in data else []
    if b"it/s" in data or b"s/it" in data:
        candidates = sorted([*candidates, *(match.start() for match in _BAR.finditer(data))])
    ends = candidates if len(candidates) <= 2 * _CHECKED else candidates[:_CHECKED] + candidates[-_CHECKED:]
    seen: dict[int, int] = {}
    for place in ends:
        start, stop = _piece(data, place)
        if start not in seen and start != place - _TAIL and _COUNTED.search(data, start, stop):
            seen[start] = place
    found = list(seen.values())
    return found, len(found) * len(candidates) // len(ends) if ends else 0


def _full(data: bytes) -> tuple[int, int, LazyBytes | None] | None:
    """Tell whether a chunk has very many progress lines of one format.

    Returns about how many there are, where the last of those that were tried is, and the format's expression (None of
    lines that are told by a loss or a bar); None where there are not so many.
    """
    for guard, form in _STRICT + _LOOSE:
        places: list[int] = []
        at = len(data)
        for tried in range(1, _TRIED + 1):
            at = data.rfind(guard, max(0, at - _FAR), at)
            if at < 0:
                break
            if form.match(data, at) if form else _tells(data, at):
                places.append(at)
            if len(places) == FIRST:
                count = data.count(guard) * FIRST // tried
                return (count, places[0], form) if count > FIRST + 2 * LAST else None
    return None


def _tells(data: bytes, at: int) -> bool:
    """Tell whether a piece of a line has a loss or a bar at a place, and a count beside it."""
    start, stop = _piece(data, at)
    if start == at - _TAIL or not _COUNTED.search(data, start, stop):
        return False
    return _LOSS.match(data, at) is not None or _BAR.search(data, start, stop) is not None


def _first(data: bytes, form: LazyBytes | None, count: int) -> list[int]:
    if form is None:
        return _places(data)[0][:count] if count else []
    return [match.start() for match in itertools.islice(form.finditer(data), count)]


def _piece(data: bytes, place: int) -> tuple[int, int]:
    """The part of a line, between carriage returns, in which `place` lies."""
    floor, ceiling = max(0, place - _TAIL), min(len(data), place + _LONGEST)
    start = max(data.rfind(b"\n", floor, place), data.rfind(b"\r", floor, place), floor - 1) + 1
    ends = (data.find(b"\n", place, ceiling), data.find(b"\r", place, ceiling))
    return start, min((end for end in ends if end >= 0), default=ceiling)


def _marks(raw: bytes, data: bytes, places: Sequence[int], offset: int, first_line: int) -> Iterator[_Mark]:
    number, counted = first_line, 0
    for place, origin in zip(places, origins(raw, data, places), strict=True):
        number += data.count(b"\n", counted, place)
        counted = place
        start, stop = _piece(data, place)
        yield _Mark(number if first_line else 0, offset + origin, data[start:stop])


def _step(text: TextView, mark: _Mark) -> Step | None:
    piece = clean(mark.raw)
    found = read_progress(piece)
    if not found:
        return None
    line = text.line_at(mark.at)
    if (mark.number and line.number != mark.number) or not line.text:
        shown = Evidence(text.evidence(line).path, mark.number or line.number, piece)
        return Step(found.kind, found.number, mark.at, shown, metrics=found.metrics)
    shown = text.evidence(line)
    if piece.strip() not in shown.text:
        shown = replace(shown, text=piece.strip())
    return Step(found.kind, found.number, mark.at, shown, line.time, line.lane, "", found.metrics)


def _merged(steps: Iterable[Step]) -> list[Step]:
    merged: list[Step] = []
    pending: Step | None = None
    for step in steps:
        if pending:
            if "consumed" in step.metrics and step.kind == "iteration":
                step = replace(step, metrics={**pending.metrics, **step.metrics})
            else:
                merged.append(pending)
            pending = None
        if step.number is None and step.metrics.keys() == {"ms", "tflops"}:
            pending = step
        else:
            merged.append(step)
    if pending:
        merged.append(pending)
    return merged
