"""Finds the progress lines of a log in whole chunks, and keeps the first and the last of them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from diagnose.facts.model import Step
from diagnose.facts.progress_lines import NUMBER, Progress, read_progress
from diagnose.facts.reader import TextView
from diagnose.read.clean import clean
from diagnose.read.model import Evidence

FIRST, LAST = 20, 200
_LONGEST = 2000  # bytes of a progress line that are kept
_TAIL = 600  # bytes before a match in which its line begins
_STEP = rb"(?:[Ss]tep|STEP|[Ii]ter(?:ation)?|[Ee]poch|[Bb]atch)"
_LOSS = rb"[Ll]oss['\"]?[ :=]{1,3}(?:" + NUMBER.encode() + rb"|N[aA]N)"


@dataclass(frozen=True, slots=True)
class _Format:
    """A kind of progress line: a literal that makes the search worth while, and where such a line is."""

    literal: bytes
    line: re.Pattern[bytes]


# Tried in this order on each chunk until one finds lines, so that the loose ones cost nothing in a Megatron log.
_STRICT = (
    _Format(b"teration", re.compile(rb"[Ii]teration +\d{1,15}/ *\d{1,15} *\|")),
    _Format(b"GPU utilization: ", re.compile(rb"Step Time : [\d.]{1,20}s GPU utilization: ")),
    _Format(b" iter time (s): ", re.compile(rb"\bsteps: \d{1,15} loss: ")),
    _Format(b", skipped=", re.compile(rb"\bstep=\d{1,15}, skipped=\d{1,15}, lr=")),
    _Format(b"RunningAvgSamplesPerSec", re.compile(rb"/global_step=\d{1,15}, RunningAvgSamplesPerSec=")),
)
_LOOSE = (
    _Format(b"loss':", re.compile(rb"\{'[^{}\n]{0,200}loss':")),
    _Format(b"[", re.compile(rb"\| *\d{1,12}/\d{1,12} \[[^\]\n\r]{0,100}(?:it/s|s/it)")),
    _Format(
        b"oss",
        re.compile(
            rb"(?<![\w/.])(?:[Gg]lobal[ _-]?|[Tt]rain[ _-]?)?"
            + _STEP
            + rb"s?[ :=#\[\]]{0,4}\d{1,15}[^\n\r]{0,120}?"
            + _LOSS
        ),
    ),
    _Format(b"oss", re.compile(_LOSS + rb"[^\n\r]{0,60}?\b" + _STEP + rb"['\"]?[ :=#\[]{1,4}\d{1,15}")),
)


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int  # offset of the first byte of the line
    number: int  # line number
    at: int  # offset of the match
    raw: bytes  # the piece of the line that matched, between carriage returns


@dataclass(slots=True)
class ProgressMeter:
    """A scan meter for iteration lines of every framework.

    Chunks are searched with native code; only the first and the last lines are parsed, when `steps` is called. `count`
    is the number of progress lines in the chunks that were fed.
    """

    count: int = 0
    _first: list[_Mark] = field(default_factory=list)
    _last: deque[_Mark] = field(default_factory=lambda: deque(maxlen=LAST))

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        """Search one chunk of whole lines that starts at byte `offset` with line number `first_line`."""
        data = bytes(chunk)
        places = _places(data)
        if not places:
            return
        self.count += len(places)
        wanted = places if len(places) <= FIRST + LAST else places[:FIRST] + places[-LAST:]
        for mark in _marks(data, wanted, offset, first_line):
            if self._first and mark.at <= self._first[-1].at:
                continue  # a chunk that repeats the end of the one before
            if len(self._first) < FIRST:
                self._first.append(mark)
            elif not self._last or mark.at > self._last[-1].at:
                self._last.append(mark)

    def steps(self, text: TextView) -> list[Step]:
        """Parse what was kept, by position: at most `FIRST` first and `LAST` last lines.

        Megatron Bridge prints a step's throughput on a line of its own before the iteration line; the two are one step.
        """
        return _merged(step for mark in (*self._first, *self._last) if (step := _step(text, mark)))


def _places(data: bytes) -> list[int]:
    found: list[int] = []
    for form in _STRICT:
        if form.literal in data:
            found += [match.start() for match in form.line.finditer(data)]
    if found:
        return sorted(found)
    for form in _LOOSE:
        if form.literal in data:
            found = [match.start() for match in form.line.finditer(data)]
            if found:
                return found
    return []


def _marks(data: bytes, places: Iterable[int], offset: int, first_line: int) -> Iterator[_Mark]:
    number, counted = first_line, 0
    for place in places:
        start = data.rfind(b"\n", 0, place) + 1
        end = data.find(b"\n", place)
        end = len(data) if end < 0 else end
        number += data.count(b"\n", counted, start)
        counted = start
        piece = max(start, data.rfind(b"\r", start, place) + 1, place - _TAIL)
        stop = data.find(b"\r", place, end)
        raw = data[piece : min(end if stop < 0 else stop, piece + _LONGEST)]
        yield _Mark(offset + start, number, offset + place, raw)


def _step(text: TextView, mark: _Mark) -> Step | None:
    piece = clean(mark.raw)
    found: Progress | None = read_progress(piece)
    if not found:
        return None
    line = text.line_at(mark.start)
    if line.number != mark.number or not line.text:
        shown = Evidence(text.evidence(line).path, mark.number, piece)
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
