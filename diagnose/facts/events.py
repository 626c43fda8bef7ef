"""Turns hits and tracebacks into events: lines that an alternative truly matches, seen with what stands around."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from diagnose.catalogue.compile import Matcher, exception_name
from diagnose.catalogue.model import Alternative, Near
from diagnose.classes import replace
from diagnose.facts.data_line import is_data
from diagnose.facts.dying import carried, is_dying
from diagnose.facts.model import Event
from diagnose.facts.moment import moment_of
from diagnose.facts.oom import read_oom
from diagnose.facts.probe import HEADS, Candidate, Probe, match_body
from diagnose.facts.wrapped import joined
from diagnose.lazy import Lazy
from diagnose.read import Evidence, Line, Text, Traceback
from diagnose.read.exceptions import reported
from diagnose.read.own import is_own
from diagnose.scan import Hit

_LISTS = Lazy(r"\w[^:\"]{0,60}: (?:\"[^\"]{1,300}\", )*\"[^\"]{1,300}\"\.? *$", needs=('"',))
TAIL = 40  # lines at the end of a source that are looked at as its last words
_FRAMES = 5  # a `frame` condition sees the innermost frames only: the outer ones are the same in every failure


class EventFinder:
    """Finds the events of one scanned source.

    Args:
        probe: the patterns' alternatives.
        text: the source's lines.
        tracebacks: what was read of it.
        piece: where the last lines of a log without any traceback's head begin, -1 in one that has a head.
        modified: last change of the file, seconds since the epoch.
        again: yields the events of a text by itself.
    """

    def __init__(
        self,
        probe: Probe,
        text: Text,
        tracebacks: Sequence[Traceback],
        piece: int,
        modified: float | None,
        again: Callable[[str], list[Event]],
    ) -> None:
        self._probe = probe
        self._text = text
        self._tracebacks = tracebacks
        self._piece = piece
        self._modified = modified
        self._again = again
        self._lanes: dict[str, list[int]] | None = None  # speaker -> its tracebacks

    def events(self, hits: Sequence[Hit]) -> list[Event]:
        """Look closer at hits, and at the tracebacks; the events stand in the order of their positions."""
        return sorted(self._rejoined(list(self._found(hits))), key=lambda event: event.start)

    def _found(self, hits: Sequence[Hit]) -> Iterator[Event]:
        taken: set[tuple[str, int]] = set()
        pairs = ((hit, self._probe.candidates.get(hit.key)) for hit in hits)
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
                    seen[text] = self._again(text)
                again = seen[text]
                known = told.get(number)
                better = [event for event in again if known is None or _says_more(event, known)]
                if better:
                    place = (unit.final, *_whereabouts(unit, number))
                    events = [event for event in events if event is not known]
                    events += [Event(event.pattern, event.alternative, event.captures, *place) for event in better]
                    break
        return events

    def _event(self, candidate: Candidate, hit: Hit) -> Event | None:
        line = self._text.line_at(hit.start, at=hit.at)
        matcher = candidate.matcher
        if "\n" in line.body:
            return self._packed(candidate, line)
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

    def _packed(self, candidate: Candidate, line: Line) -> Event | None:
        """Look into a structured entry: its message, then the messages of the exceptions that it carries."""
        matcher = candidate.matcher
        said = line.body.partition(HEADS[0].decode())[0]
        numbers = list(self._units_of(line))
        words = said if numbers else line.body  # an exception that was written out of its parts has no head of its own
        parts: list[tuple[int | None, str]] = [(None, part) for part in words.split("\n") if part[:2] != "  "]
        for number in numbers:
            unit = self._tracebacks[number]
            parts += [(number, part) for part in f"{unit.type}: {unit.message}".split("\n")]
        for place, part in parts:
            captures = match_body(matcher, part)
            piece = replace(line, body=part)
            inside = self._tracebacks[place] if place is not None else None
            if captures is not None and not is_own(part) and self._fits(matcher.alternative, matcher, piece, inside):
                return self._make(candidate, piece, captures, place)
        return None

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
        """Tell whether a message begins a line after which, in a log without tracebacks, nobody says anything else."""
        if not 0 <= self._piece <= line.start or not _begins(matcher, line):
            return False
        behind = self._text.after(line, TAIL)
        return all(not after.body.strip() or is_dying(after.body) or _begins(matcher, after) for after in behind)

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
            *_whereabouts(unit, number),
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
        """Return the line that names the error, where the matched one is not it: it was carried, or lists details."""
        if number is None:
            return None
        unit = self._tracebacks[number]
        if unit.final.line == line.number:
            return carried(self._tracebacks, number)
        # "Error(s) in loading state_dict for GPT:" names the error; what only lists names below it tells less.
        lists = unit.message.partition("\n")[0].endswith(":") and _LISTS.search(line.body) is not None
        return unit.final if lists and line.number > unit.final.line else None

    def _unit_of(self, line: Line) -> int | None:
        return next(self._units_of(line), None)

    def _units_of(self, line: Line) -> Iterator[int]:
        """Yield the tracebacks that a line stands in: of the same speaker, by line numbers."""
        if self._lanes is None:
            self._lanes = {}
            for number, unit in enumerate(self._tracebacks):
                self._lanes.setdefault(unit.lane, []).append(number)
        for number in self._lanes.get(line.lane, ()):
            first, last = self._tracebacks[number].lines
            if first <= line.number <= last:
                yield number


def _whereabouts(
    unit: Traceback, number: int
) -> tuple[int, str, int | None, int | None, str | None, float | None, int]:
    """Return the last fields of an event that a traceback, the `number`-th of its source, tells."""
    return unit.start, unit.lane, unit.rank, unit.local_rank, unit.node, unit.time, number


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
    found = reported(body)
    return found[0].rpartition(".")[2] if found is not None else name


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


def _begins(matcher: Matcher, line: Line) -> bool:
    return matcher.begins(line.body.lstrip(" `>\t"))
