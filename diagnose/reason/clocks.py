"""Brings the clocks of sources together: on iterations that several print, on collectives, on beginning and end.

A file may stamp local time and another UTC, and hosts' clocks drift apart. Before times are compared, each source is
held against the one with most progress. A difference of many minutes is a zone and is rounded to quarters of an hour;
a smaller one is drift, and is believed only where many iterations agree on it. Kernel messages in seconds since boot
get a time where one of them names a process whose death a launcher dated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from diagnose.classes import dataclass, replace
from diagnose.facts.model import Event, SourceRecord
from diagnose.facts.trend.middle import median
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence, Kind
from diagnose.reason import words

_DAY = 86_400.0  # seconds
_QUARTER = 900.0  # seconds: zones differ by multiples of it
_ZONE_SLACK = 45.0  # seconds by which a zone's difference may be off
_LEAST_ZONE = 1800.0  # seconds: a smaller difference is no zone
_DRIFT = 1.0  # seconds of drift that are left alone
_AGREE = 1.0  # seconds by which the iterations' differences may spread around their median
_ITERATIONS = 3  # so many iterations must be told by both sources
_LIKENESS = 0.5  # part of the iterations that both must tell, so that two attempts are not taken for two ranks
_SINCE_BOOT = Lazy(r"^(?:<\d+>)?\[ *(\d{1,10}\.\d{3,9})\]")


@dataclass(frozen=True, slots=True)
class Shift:
    """What is taken off a source's times."""

    seconds: float
    why: str  # in words a person can verify


def align(records: Sequence[SourceRecord]) -> tuple[list[SourceRecord], dict[int, Shift]]:
    """Return the records with comparable times, and what was taken off, by the source's index."""
    records = _same_year(records)
    shifts = _shifts(records)
    aligned = [_moved(record, shifts[index]) if index in shifts else record for index, record in enumerate(records)]
    return _dated_kernel(aligned), shifts


def _same_year(records: Sequence[SourceRecord]) -> list[SourceRecord]:
    """Move sources that lie whole years off to the others: a stamp without a year in a copied file gets a wrong one."""
    spans = {i: (each.first_time, each.last_time) for i, each in enumerate(records) if each.first_time is not None}
    reference = max(spans, key=lambda index: (len(_iterations(records[index])), -index), default=None)
    if reference is None:
        return list(records)
    own = records[reference]
    return [
        _moved(record, Shift(years, "")) if index in spans and (years := _years(record, own)) else record
        for index, record in enumerate(records)
    ]


def _years(record: SourceRecord, reference: SourceRecord) -> float:
    """Return by how many seconds a source lies whole years from another one; 0 where it does not."""
    if _apart(record, reference, 0.0) < 180 * _DAY:
        return 0.0
    lengths = (sign * days * _DAY for days in (365, 366, 730, 731, 1095, 1096) for sign in (1, -1))
    return next((seconds for seconds in lengths if _apart(record, reference, seconds) <= _DAY), 0.0)


def _apart(record: SourceRecord, reference: SourceRecord, shift: float) -> float:
    """Return the seconds between the end of one source and the begin of the other."""
    first, last = (record.first_time or 0.0) - shift, (record.last_time or 0.0) - shift
    return max(first - (reference.last_time or 0.0), (reference.first_time or 0.0) - last)


def _shifts(records: Sequence[SourceRecord]) -> dict[int, Shift]:
    logs = [index for index, record in enumerate(records) if record.kind is Kind.LOG and record.last_time is not None]
    if len(logs) < 2:
        return {}
    reference = max(logs, key=lambda index: (len(_iterations(records[index])), -index))
    shifts = {}
    for index in logs:
        if index != reference and records[index].attempt == records[reference].attempt:
            found = _difference(records[index], records[reference])
            if found is not None:
                shifts[index] = found
    most = _majority([shifts[index].seconds if index in shifts else 0.0 for index in logs])
    if most == 0.0:
        return shifts
    # The reference itself is the one whose clock differs.
    why = shifts[next(index for index in shifts if shifts[index].seconds == most)].why
    moved = {index: replace(shift, seconds=shift.seconds - most) for index, shift in shifts.items()}
    return {index: shift for index, shift in moved.items() if shift.seconds} | {
        index: Shift(-most, why) for index in logs if index not in shifts
    }


def _majority(seconds: Sequence[float]) -> float:
    counts: dict[float, int] = {}
    for each in seconds:
        counts[each] = counts.get(each, 0) + 1
    best = max(counts, key=lambda each: (counts[each], each == 0.0))
    return best if counts[best] * 2 > len(seconds) else 0.0


def _iterations(record: SourceRecord) -> dict[int, tuple[float, Evidence]]:
    found: dict[int, tuple[float, Evidence]] = {}
    for step in record.steps:
        if step.kind == "iteration" and step.number is not None and step.time is not None:
            found.setdefault(step.number, (step.time, step.evidence))
    return found


def _difference(record: SourceRecord, reference: SourceRecord) -> Shift | None:
    return (
        _by_iterations(record, reference) or _by_collectives(record, reference) or _by_begin_and_end(record, reference)
    )


def _by_iterations(record: SourceRecord, reference: SourceRecord) -> Shift | None:
    own, other = _iterations(record), _iterations(reference)
    both = sorted(own.keys() & other.keys())
    if len(both) < _ITERATIONS or len(both) < _LIKENESS * len(own.keys() | other.keys()):
        return None
    differences = [own[number][0] - other[number][0] for number in both]
    middle = median(differences)
    if median([abs(each - middle) for each in differences]) > _AGREE:
        return None
    seconds = _zone(middle) or (middle if _DRIFT < abs(middle) < _LEAST_ZONE / 2 else 0.0)
    if not seconds or (_zone(middle) == 0.0 and not _overlap(record, reference)):
        return None
    first, second = own[both[0]][1], other[both[0]][1]
    told = f"both tell iteration {both[0]} ({words.place(first)}, {words.place(second)})"
    return Shift(seconds, f"{_shows(record, reference, seconds)}: {told}")


def _by_collectives(record: SourceRecord, reference: SourceRecord) -> Shift | None:
    """Compare the moments at which two sources gave up the same collective after the same time."""
    own, other = _collectives(record), _collectives(reference)
    both = sorted(own.keys() & other.keys())
    zones = {_zone(own[key][0] - other[key][0]) for key in both}
    if len(zones) != 1 or 0.0 in zones:
        return None
    seconds = zones.pop()
    first, second = own[both[0]][1], other[both[0]][1]
    told = f"both gave up the same collective ({words.place(first)}, {words.place(second)})"
    return Shift(seconds, f"{_shows(record, reference, seconds)}: {told}")


def _collectives(record: SourceRecord) -> dict[tuple[str, ...], tuple[float, Evidence]]:
    found: dict[tuple[str, ...], tuple[float, Evidence]] = {}
    for event in record.events:
        captures = event.captures
        if event.time is not None and {"seq", "op", "timeout_ms"} <= captures.keys():
            key = (captures["op"], captures["seq"], captures["timeout_ms"])
            found.setdefault(key, (event.time, event.evidence))
    return found


def _by_begin_and_end(record: SourceRecord, reference: SourceRecord) -> Shift | None:
    """Believe in a zone where both the first and the last times differ by the same whole half hours."""
    bounds = (record.first_time, record.last_time, reference.first_time, reference.last_time)
    if None in bounds or _same_writer(record, reference) or (_iterations(record) and _iterations(reference)):
        return None  # iterations would have told
    begin, end = _gap(record.first_time, reference.first_time), _gap(record.last_time, reference.last_time)
    seconds = _zone(end)
    if not seconds or _zone(begin) != seconds or seconds % (2 * _QUARTER):
        return None
    return Shift(seconds, f"{_shows(record, reference, seconds)}: they begin and end together otherwise")


def _gap(a: float | None, b: float | None) -> float:
    return (a or 0.0) - (b or 0.0)


def _same_writer(record: SourceRecord, reference: SourceRecord) -> bool:
    return record.rank is not None and record.rank == reference.rank and record.stream == reference.stream


def _zone(seconds: float) -> float:
    """Round a difference to quarters of an hour; 0 where it is no difference of zones."""
    rounded = round(seconds / _QUARTER) * _QUARTER
    is_zone = _LEAST_ZONE <= abs(rounded) <= 26 * 3600 and abs(seconds - rounded) <= _ZONE_SLACK
    return rounded if is_zone else 0.0


def _overlap(record: SourceRecord, reference: SourceRecord) -> bool:
    start = max(record.first_time or 0.0, reference.first_time or 0.0)
    return start < min(record.last_time or 0.0, reference.last_time or 0.0)


def _shows(record: SourceRecord, reference: SourceRecord, seconds: float) -> str:
    more = "more" if seconds > 0 else "less"
    return f"the clock of {record.path} shows {words.span(abs(seconds))} {more} than that of {reference.path}"


def _moved(record: SourceRecord, shift: Shift) -> SourceRecord:
    def at(time: float | None) -> float | None:
        return None if time is None else time - shift.seconds

    return _retimed(record, at)


def _retimed(record: SourceRecord, at: Callable[[float | None], float | None]) -> SourceRecord:
    return replace(
        record,
        events=[replace(each, time=at(each.time)) for each in record.events],
        tracebacks=[replace(each, time=at(each.time)) for each in record.tracebacks],
        steps=[replace(each, time=at(each.time)) for each in record.steps],
        first_time=at(record.first_time),
        last_time=at(record.last_time),
    )


def _dated_kernel(records: Sequence[SourceRecord]) -> list[SourceRecord]:
    """Give kernel messages a time where one names a process whose end a launcher dated."""
    deaths: dict[str, float] = {}
    for record in records:
        if record.kind is not Kind.KERNEL:
            for event in record.events:
                pid = event.captures.get("pid")
                if pid and event.time is not None:
                    deaths.setdefault(pid, event.time)
    return [_with_boot(record, deaths) if record.kind is Kind.KERNEL else record for record in records]


def _with_boot(record: SourceRecord, deaths: Mapping[str, float]) -> SourceRecord:
    for event in record.events:
        since = _since_boot(event)
        died = deaths.get(event.captures.get("pid", ""))
        if since is not None and died is not None:
            boot = died - since
            dated = [
                each if (own := _since_boot(each)) is None else replace(each, time=boot + own) for each in record.events
            ]
            return replace(record, events=dated)
    return record


def _since_boot(event: Event) -> float | None:
    found = _SINCE_BOOT.match(event.evidence.text) if event.time is None else None
    return float(found[1]) if found else None
