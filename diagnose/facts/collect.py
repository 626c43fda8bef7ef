"""Turns one source into its record: scan once, then look closer around what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO

from diagnose.classes import replace
from diagnose.facts.data_line import is_data
from diagnose.facts.dying import is_dying
from diagnose.facts.events import TAIL, EventFinder
from diagnose.facts.model import Event, Observation, SourceRecord, Step
from diagnose.facts.moment import moment_of
from diagnose.facts.numbers import Meters, Metrics, Numbers, numbers_of
from diagnose.facts.probe import HEADS, TRACEBACK, Probe, prepare
from diagnose.facts.reader import Reader
from diagnose.facts.readers import READERS, STEP_READERS
from diagnose.facts.versions import versions_in
from diagnose.read import Kind, Line, LineIndex, Source, Text, Traceback, open_stream, read_headless, read_tracebacks
from diagnose.read.exceptions import CAUSE, CONTEXT
from diagnose.read.own import is_own
from diagnose.scan import (
    ALL_UP_TO,
    PART,
    Database,
    Hit,
    ScanResult,
    Stretch,
    merged,
    parts_of,
    read_meters,
    scan,
    scan_stretch,
)
from diagnose.typed import TYPE_CHECKING, BinaryIO, TypeVar

if TYPE_CHECKING:
    from diagnose.ahead import Ahead

__all__ = ["FEW", "LARGE", "Meters", "Metrics", "Probe", "collect", "prepare", "record_of"]

_HEAD = HEADS[0].decode()
_LEADS_ON = (CAUSE, CONTEXT)  # what an exception led to follows, even where its head was cut out
_Read = TypeVar("_Read")
FEW, _LAST_BRIEF = 6, 2  # lines that each reader gets of a source that is read briefly
_TAIL_BRIEF = 8  # last lines that are kept of it
_HEAD_LINES, _HEAD_FEW = 60, 15  # lines at the beginning in which its speakers, and its first time, are looked for
LARGE = 2 * PART  # bytes of a file that is scanned in parts
_ABOVE = 3  # lines before a traceback of which one may tell its time
_TALK = 4  # lines after a traceback that are looked at to see whether its speaker went on


def collect(
    source: Source,
    probe: Probe,
    *,
    stdin: BinaryIO | None = None,
    metrics: Metrics = "sampled",
    scanned: Callable[[], Sequence[Stretch]] | None = None,
    most: int = ALL_UP_TO,
    brief: bool = False,
    ahead: Ahead | None = None,
) -> SourceRecord:
    """Read one source and return its record; what could not be read stands in its problems.

    `metrics` says how much of the iteration lines' numbers is read: "all" of them, those of a sample of a large source,
    or none ("off"). `scanned` gives the parts of a large file where others scan them; `most` is the number of bytes up
    to which the numbers of a source are read whole; `brief` reads only a few of the facts that are printed again and
    again, for one of very many sources that say the same; `ahead` may have read the numbers of this source meanwhile.
    """
    if source.kind is Kind.FLIGHT_RECORDER:
        from diagnose.facts.flight_recorder import read_flight_recorder

        return read_flight_recorder(source)
    if source.kind is Kind.SCRIPT:
        from diagnose.facts.config_file import read_launch_script

        return read_launch_script(source)
    told = None
    if source.kind is Kind.ERROR_FILE:
        from diagnose.facts.error_file import read_error_file

        told = read_error_file(source)
    with open_stream(told.source if told else source, stdin=stdin) as stream:
        index, meters = LineIndex(), Meters()
        sampled, always = meters.sampled(metrics), meters.always(metrics)
        waiting = ahead is not None and ahead.reads(stream)
        if stream.seekable and stream.size > LARGE:
            left_out = read_meters(stream, sampled, always)
            parts = scanned() if scanned else [scan_stretch(stream, probe.database, *part) for part in parts_of(stream)]
            result = merged(parts, index, probe.database)
            result.sampled = left_out
        elif waiting:
            result = scan(stream, index, probe.database)
        else:
            result = scan(stream, index, probe.database, sampled, always, most, FEW if brief else None)
        text = Text(stream, index, source)

        def numbers() -> Numbers:
            if ahead is not None and waiting:
                found = ahead.numbers(stream)
                if found is not None:
                    return found
                # The other process died, or read another state of the file.
                result.sampled = scan(stream, LineIndex(), Database(()), sampled, always, most).sampled
            return numbers_of(meters, source, text, text.existed, sampled=result.sampled, brief=brief)

        record = record_of(source, probe, result, text, numbers, text.existed, brief=brief)
        return told.placed(record) if told else record


def record_of(
    source: Source,
    probe: Probe,
    result: ScanResult,
    text: Text,
    numbers: Callable[[], Numbers],
    modified: float | None,
    *,
    brief: bool = False,
) -> SourceRecord:
    """Look closer at a source that was scanned: `result` says what was found, `text` gives its lines.

    `numbers` is asked last, for it may have to wait; `modified` is a time close to the last line, in seconds since the
    epoch.
    """
    return _Collector(source, probe, result, text, modified, brief=brief).record(numbers)


class _Collector:
    """Looks closer at one scanned source."""

    def __init__(
        self,
        source: Source,
        probe: Probe,
        result: ScanResult,
        text: Text,
        modified: float | None,
        *,
        brief: bool,
    ) -> None:
        self._brief = brief
        self._source = source
        self._probe = probe
        self._result = result
        self._text = text
        self._modified = modified
        heads = [text.line_at(hit.start, at=hit.at) for hit in result.hits if hit.key == TRACEBACK]
        heads = [head for head in heads if not is_data(head.body) and not is_own(head.text)]
        # A log without any head is often a piece of one: its last lines are read as what an exception left.
        piece = text.last(TAIL)[0].start if not heads and result.size else -1
        units = [self._looked_at(unit) for unit in read_tracebacks(text, heads)]
        known = {unit.final.line for unit in units}
        first = min(heads, key=lambda line: line.start, default=None)
        above = [unit for unit in read_headless(text, first) if unit.final.line not in known]
        shifted = (
            replace(unit, caused=unit.caused + len(above)) if unit.caused is not None else unit for unit in units
        )
        self._tracebacks = [*above, *shifted]
        self._finder = EventFinder(probe, text, self._tracebacks, piece, modified, partial(_again, probe))

    def record(self, numbers: Callable[[], Numbers]) -> SourceRecord:
        source, result = self._source, self._result
        record = SourceRecord(
            path=source.path,
            kind=source.kind,
            bytes=result.size,
            lines=result.lines,
            rank=source.rank,
            local_rank=source.local_rank,
            node=source.node,
            attempt=source.attempt,
            stream=source.stream,
            problems=list(result.problems),
            tracebacks=self._tracebacks,
            cut=result.cut,
        )
        record.events = self._finder.events(result.hits)
        record.counts = self._counts()
        record.observations = self._observations()
        told = numbers()
        record.sampled, record.surveys = told.sampled, told.surveys
        if told.voices is not None:
            record.voices, record.held = told.voices, told.held
        record.steps = self._steps(told.steps)
        tail = self._text.last(TAIL)
        kept = tail[-_TAIL_BRIEF:] if self._brief else tail
        record.tail = [self._text.evidence(line) for line in kept if line.body.strip()]
        self._who_and_when(record, tail)
        return record

    def _looked_at(self, unit: Traceback) -> Traceback:
        """Make a traceback's time comparable, and count the ordinary lines that its speaker says after it."""
        head = last = self._text.line_at(unit.start)
        for line in self._text.after(last, unit.lines[1] - unit.lines[0]):
            last = line
        talk = 0
        for line in self._text.after(last, 60):
            if line.lane != unit.lane or not line.body.strip():
                continue
            if line.body.lstrip().startswith(_LEADS_ON) or _HEAD in line.body or talk >= _TALK:
                break
            talk += not is_dying(line.body)
        time = moment_of(head, self._modified)
        if time is None:
            time = moment_of(last, self._modified)
        if time is None:  # the logger's line, or whatever the speaker said just before
            above = (line for line in self._text.before(head, _ABOVE) if line.lane == head.lane and line.body.strip())
            time = next((moment for line in above if (moment := moment_of(line, self._modified)) is not None), None)
        return replace(unit, talk_after=talk, time=time)

    def _counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for key, count in self._result.counts.items():
            candidate = self._probe.candidates.get(key)
            if candidate is not None:
                counts[candidate.pattern] = counts.get(candidate.pattern, 0) + count
        return counts

    def _observations(self) -> list[Observation]:
        found: list[Observation] = []
        for reader, line in self._read_with(READERS):
            if not is_own(line.text):
                found.extend(reader.read(self._text, line))
        files = {frame.file: unit.head for unit in self._tracebacks for frame in unit.frames}
        for file, head in files.items():
            found.extend(
                Observation(f"version.{name}", text, head, "traceback")
                for name, text in versions_in(file)
                if name != "container"
            )
        return found

    def _read_with(self, readers: Mapping[str, Reader[_Read]]) -> Iterator[tuple[Reader[_Read], Line]]:
        """Yield the lines that readers wait for, by position; a few of each where the job has very many sources."""
        hits = [hit for hit in self._result.hits if hit.key in readers]
        if self._brief:
            hits = _few(hits)
        for hit in hits:
            yield readers[hit.key], self._text.line_at(hit.start, at=hit.at, number=hit.number)

    def _steps(self, read: Sequence[Step]) -> list[Step]:
        steps = [step for step in read if not is_own(step.evidence.text)]
        for reader, line in self._read_with(STEP_READERS):
            steps.extend(reader.read(self._text, line))
        return sorted(steps, key=lambda step: step.start)

    def _who_and_when(self, record: SourceRecord, tail: Sequence[Line]) -> None:
        head = (
            [self._text.line_at(0), *self._text.after(self._text.line_at(0), _HEAD_FEW if self._brief else _HEAD_LINES)]
            if record.bytes
            else []
        )
        moments = [moment_of(line, self._modified) for line in (*head, *tail)] + [step.time for step in record.steps]
        times = [moment for moment in moments if moment is not None]
        record.first_time, record.last_time = min(times, default=None), max(times, default=None)
        for line in (*head, *tail):
            record.lanes[line.lane] = max(record.lanes.get(line.lane, 0), line.number)
        for event in record.events:
            record.lanes[event.lane] = max(record.lanes.get(event.lane, 0), event.evidence.line)
        ranks = {line.rank for line in (*head, *tail)} | {event.rank for event in record.events}
        ranks |= {unit.rank for unit in record.tracebacks}
        record.ranks = sorted(rank for rank in ranks if rank is not None)


def _again(probe: Probe, text: str) -> list[Event]:
    # No method of the collector: what knows each other in a circle stays in memory until it is looked for.
    return collect(Source("-"), probe, stdin=BytesIO(text.encode()), metrics="off").events


def _few(hits: Sequence[Hit]) -> list[Hit]:
    """Keep the first and the last hits of each key, in their order."""
    places: dict[str, list[int]] = {}
    for place, hit in enumerate(hits):
        places.setdefault(hit.key, []).append(place)
    kept = {
        place
        for each in places.values()
        for place in (each if len(each) <= FEW + _LAST_BRIEF else [*each[:FEW], *each[-_LAST_BRIEF:]])
    }
    return [hit for place, hit in enumerate(hits) if place in kept]
