"""Turns one source into its record: scan once, then look closer around what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import BinaryIO, Literal, TypeVar

from diagnose.catalogue.compile import Matcher, exception_name
from diagnose.catalogue.model import Alternative, Near
from diagnose.classes import replace
from diagnose.facts.data_line import is_data
from diagnose.facts.dying import carried, is_dying
from diagnose.facts.error_file import read_error_file
from diagnose.facts.flight_recorder import read_flight_recorder
from diagnose.facts.model import Event, Observation, SourceRecord, Step
from diagnose.facts.moment import moment_of
from diagnose.facts.oom import read_oom
from diagnose.facts.probe import HEADS, TRACEBACK, Candidate, Probe, match_body, prepare
from diagnose.facts.progress import ProgressMeter
from diagnose.facts.reader import Reader
from diagnose.facts.readers import READERS, STEP_READERS
from diagnose.facts.series_meter import SeriesMeter
from diagnose.facts.surveys import surveys_of
from diagnose.facts.versions import versions_in
from diagnose.facts.voices import VoiceMeter, voices_of
from diagnose.facts.wrapped import joined
from diagnose.read import (
    Evidence,
    Kind,
    Line,
    LineIndex,
    Source,
    Text,
    Traceback,
    open_stream,
    read_headless,
    read_tracebacks,
)
from diagnose.read.own import is_own
from diagnose.scan import ALL_UP_TO, PART, Hit, ScanResult, Stretch, merged, parts_of, read_meters, scan, scan_stretch

__all__ = ["LARGE", "Metrics", "Probe", "collect", "prepare"]

Metrics = Literal["all", "sampled", "off"]
_HEAD = HEADS[0].decode()
_Read = TypeVar("_Read")
_FIRST_BRIEF, _LAST_BRIEF = 6, 2  # lines that each reader gets of a source that is read briefly
LARGE = 2 * PART  # bytes of a file that is scanned in parts
_TAIL = 40
_FRAMES = 5  # a `frame` condition sees the innermost frames only: the outer ones are the same in every failure
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
) -> SourceRecord:
    """Read one source and return its record; what could not be read stands in its problems.

    `metrics` says how much of the iteration lines' numbers is read: "all" of them, those of a sample of a large source,
    or none ("off"). `scanned` gives the parts of a large file where others scan them; `most` is the number of bytes up
    to which the numbers of a source are read whole; `brief` reads only a few of the facts that are printed again and
    again, for one of very many sources that say the same.
    """
    if source.kind is Kind.FLIGHT_RECORDER:
        return read_flight_recorder(source)
    told = read_error_file(source) if source.kind is Kind.ERROR_FILE else None
    with open_stream(told.source if told else source, stdin=stdin) as stream:
        index, meter, voices = LineIndex(), ProgressMeter(), VoiceMeter()
        series = SeriesMeter()
        sampled = (meter, voices, series) if metrics == "sampled" else (meter, voices)
        always = (series,) if metrics == "all" else ()
        if stream.seekable and stream.size > LARGE:
            left_out = read_meters(stream, sampled, always)
            parts = scanned() if scanned else [scan_stretch(stream, probe.database, *part) for part in parts_of(stream)]
            result = merged(parts, index, probe.database)
            result.sampled = left_out
        else:
            result = scan(stream, index, probe.database, sampled, always, most)
        text = Text(stream, index, source)
        record = _Collector(source, probe, result, text, meter, stream.modified, brief=brief).record()
        if source.rank is None:
            record.voices, record.held = voices_of(voices, text), voices.held(text)
        record.surveys = surveys_of(series, text)
        return told.placed(record) if told else record


class _Collector:
    """Looks closer at one scanned source."""

    def __init__(
        self,
        source: Source,
        probe: Probe,
        result: ScanResult,
        text: Text,
        meter: ProgressMeter,
        modified: float | None,
        *,
        brief: bool,
    ) -> None:
        self._brief = brief
        self._source = source
        self._probe = probe
        self._result = result
        self._text = text
        self._meter = meter
        self._modified = modified
        heads = [text.line_at(hit.start, at=hit.at) for hit in result.hits if hit.key == TRACEBACK]
        heads = [head for head in heads if not is_data(head.body) and not is_own(head.text)]
        # A log without any head is often a piece of one: its last lines are read as what an exception left.
        self._piece = text.last(_TAIL)[0].start if not heads and result.size else -1
        units = [self._looked_at(unit) for unit in read_tracebacks(text, heads)]
        known = {unit.final.line for unit in units}
        first = min(heads, key=lambda line: line.start, default=None)
        above = [unit for unit in read_headless(text, first) if unit.final.line not in known]
        shifted = (
            replace(unit, caused=unit.caused + len(above)) if unit.caused is not None else unit for unit in units
        )
        self._tracebacks = [*above, *shifted]
        self._lanes: dict[str, list[int]] | None = None  # speaker -> its tracebacks

    def record(self) -> SourceRecord:
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
            sampled=result.sampled,
        )
        record.events = sorted(self._rejoined(list(self._events())), key=lambda event: event.start)
        record.counts = self._counts()
        record.observations = self._observations()
        record.steps = self._steps()
        tail = self._text.last(_TAIL)
        record.tail = [self._text.evidence(line) for line in tail if line.body.strip()]
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
            if _HEAD in line.body or talk >= _TALK:
                break
            talk += not is_dying(line.body)
        time = moment_of(head, self._modified)
        if time is None:
            time = moment_of(last, self._modified)
        return replace(unit, talk_after=talk, time=time)

    # -- events --------------------------------------------------------------------------------------------------

    def _events(self) -> Iterator[Event]:
        taken: set[tuple[str, int]] = set()
        pairs = ((hit, self._probe.candidates.get(hit.key)) for hit in self._result.hits)
        found = [(hit, candidate) for hit, candidate in pairs if candidate is not None]
        for hit, candidate in sorted(found, key=lambda pair: (pair[0].start, pair[1].pattern, pair[1].number)):
            if (candidate.pattern, hit.start) in taken:
                continue
            event = self._event(candidate, hit)
            if event is not None:
                taken.add((candidate.pattern, hit.start))
                yield event
        for number, unit in enumerate(self._tracebacks):
            for candidate in self._probe.framed:
                event = self._framed(candidate, unit, number)
                if event is not None and (candidate.pattern, event.start) not in taken:
                    taken.add((candidate.pattern, event.start))
                    yield event

    def _rejoined(self, events: list[Event]) -> list[Event]:
        """Look once more at messages that a terminal broke into lines, put together again.

        What their first line alone said gives way where the whole message says more of the same failure.
        """
        told = {event.traceback: event for event in events if event.traceback is not None}
        seen: dict[str, list[Event]] = {}  # many ranks print the same
        for number, unit in enumerate(self._tracebacks):
            for text in joined(unit):
                if text not in seen:
                    seen[text] = collect(Source("-"), self._probe, stdin=BytesIO(text.encode()), metrics="off").events
                again = seen[text]
                known = told.get(number)
                better = [event for event in again if known is None or _says_more(event, known)]
                if better:
                    place = (
                        unit.final,
                        unit.start,
                        unit.lane,
                        unit.rank,
                        unit.local_rank,
                        unit.node,
                        unit.time,
                        number,
                    )
                    events = [event for event in events if event is not known]
                    events += [Event(event.pattern, event.alternative, event.captures, *place) for event in better]
                    break
        return events

    def _event(self, candidate: Candidate, hit: Hit) -> Event | None:
        line = self._text.line_at(hit.start, at=hit.at)
        matcher = candidate.matcher
        captures = match_body(matcher, line.body)
        if captures is None or is_data(line.body) or is_own(line.text):
            return None
        number = self._unit_of(line)
        unit = self._tracebacks[number] if number is not None else None
        if unit is not None and not unit.message_lines[0] <= line.number <= unit.message_lines[1]:
            return None  # a source line that the traceback quotes
        if not self._fits(matcher.alternative, matcher, line, unit):
            return None
        return self._make(candidate, line, captures, number)

    def _fits(self, alternative: Alternative, matcher: Matcher, line: Line, unit: Traceback | None) -> bool:
        if alternative.context == "line" and unit is not None:
            return False
        if unit is None and self._last_words(matcher, line):
            pass  # the message without its type, as reports quote it
        elif alternative.exception or alternative.context == "exception":
            name = unit.type.rpartition(".")[2] if unit is not None else _type_in(line.body, alternative.exception)
            if unit is not None and name not in alternative.exception and line.number > unit.message_lines[0]:
                name = exception_name(line.body) or name  # a message that holds another exception's last line
            if not name or (alternative.exception and name not in alternative.exception):
                return False
        if alternative.frame and (unit is None or not _in_frames(matcher, unit)):
            return False
        return all(self._near(matcher, near, line) for near in alternative.near)

    def _last_words(self, matcher: Matcher, line: Line) -> bool:
        """Tell whether a message begins a line after which, in a log without tracebacks, nobody goes on talking."""
        if not 0 <= self._piece <= line.start or not matcher.begins(line.body.lstrip(" `>")):
            return False
        return all(not after.body.strip() or is_dying(after.body) for after in self._text.after(line, _TAIL))

    def _near(self, matcher: Matcher, near: Near, line: Line) -> bool:
        found = False
        if near.where in ("before", "around"):
            found = self._stands(matcher, near, self._text.before(line, near.within * 4), line.lane)
        if not found and near.where in ("after", "around"):
            found = self._stands(matcher, near, self._text.after(line, near.within * 4), line.lane)
        return found is not near.absent

    def _stands(self, matcher: Matcher, near: Near, lines: Iterator[Line], lane: str) -> bool:
        own = 0
        for line in lines:
            if line.lane != lane:
                continue
            own += 1
            if own > near.within:
                return False
            if matcher.find(near.regex, line.body) is not None:
                return True
        return False

    def _framed(self, candidate: Candidate, unit: Traceback, number: int) -> Event | None:
        if candidate.exception and unit.type.rpartition(".")[2] not in candidate.exception:
            return None
        matcher = candidate.matcher
        if not unit.type or not _in_frames(matcher, unit):
            return None
        if any(matcher.find(text, unit.message) is not None for text in matcher.alternative.unless):
            return None
        return Event(
            candidate.pattern,
            candidate.number,
            _frame_captures(matcher, unit),
            carried(self._tracebacks, number) or unit.final,
            unit.start,
            unit.lane,
            unit.rank,
            unit.local_rank,
            unit.node,
            unit.time,
            number,
        )

    def _make(self, candidate: Candidate, line: Line, found: dict[str, str], number: int | None) -> Event:
        if "out of memory" in line.body:
            found = {**read_oom(line.body), **found}
        return Event(
            candidate.pattern,
            candidate.number,
            found,
            self._raised(line, number) or self._text.evidence(line),
            line.start,
            line.lane,
            line.rank,
            line.local_rank,
            line.node,
            moment_of(line, self._modified),
            number,
        )

    def _raised(self, line: Line, number: int | None) -> Evidence | None:
        if number is None or self._tracebacks[number].final.line != line.number:
            return None
        return carried(self._tracebacks, number)

    def _unit_of(self, line: Line) -> int | None:
        """Return the traceback that a line stands in: of the same speaker, by line numbers."""
        if self._lanes is None:
            self._lanes = {}
            for number, unit in enumerate(self._tracebacks):
                self._lanes.setdefault(unit.lane, []).append(number)
        for number in self._lanes.get(line.lane, ()):
            first, last = self._tracebacks[number].lines
            if first <= line.number <= last:
                return number
        return None

    # -- facts ---------------------------------------------------------------------------------------------------

    def _counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for key, count in self._result.counts.items():
            candidate = self._probe.candidates.get(key)
            if candidate is not None:
                counts[candidate.pattern] = counts.get(candidate.pattern, 0) + count
        return counts

    def _observations(self) -> list[Observation]:
        found: list[Observation] = []
        for reader, line in self._read_with({f"fact:{reader.name}": reader for reader in READERS}):
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
        """Yield the lines that readers wait for; a few of each where the job has very many sources."""
        hits: dict[str, list[Hit]] = {}
        for hit in self._result.hits:
            if hit.key in readers:
                hits.setdefault(hit.key, []).append(hit)
        for key, each in hits.items():
            if self._brief and len(each) > _FIRST_BRIEF + _LAST_BRIEF:
                each = [*each[:_FIRST_BRIEF], *each[-_LAST_BRIEF:]]
            for hit in each:
                yield readers[key], self._text.line_at(hit.start, at=hit.at)

    def _steps(self) -> list[Step]:
        read = self._meter.steps(self._text, few=self._brief)
        steps = [step for step in read if not is_own(step.evidence.text)]
        for reader, line in self._read_with({f"step:{reader.name}": reader for reader in STEP_READERS}):
            steps.extend(reader.read(self._text, line))
        return sorted(steps, key=lambda step: step.start)

    def _who_and_when(self, record: SourceRecord, tail: Sequence[Line]) -> None:
        head = [self._text.line_at(0), *self._text.after(self._text.line_at(0), 60)] if record.bytes else []
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


def _says_more(event: Event, known: Event) -> bool:
    """Tell whether an event is the same failure in a wording that tells more: the earlier alternatives do."""
    return event.pattern == known.pattern and event.alternative < known.alternative


def _type_in(body: str, wanted: Sequence[str]) -> str | None:
    """Return the exception's type that a line outside of any traceback names before its message."""
    name = exception_name(body)
    if name is not None and (not wanted or name in wanted):
        return name
    for each in wanted:
        position = body.find(f"{each}: ")
        if position > 0 and not body[:position].rstrip().endswith(("raise", "except", "(")):
            return each
    return name


def _frame_texts(unit: Traceback) -> Iterator[str]:
    for frame in unit.frames[-_FRAMES:]:
        yield f"{frame.file}:{frame.line} in {frame.function}: {frame.code}"


def _in_frames(matcher: Matcher, unit: Traceback) -> bool:
    return any(matcher.search_frame(text) is not None for text in _frame_texts(unit))


def _frame_captures(matcher: Matcher, unit: Traceback) -> dict[str, str]:
    for text in _frame_texts(unit):
        found = matcher.search_frame(text)
        if found is not None:
            return found
    return {}
