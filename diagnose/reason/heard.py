"""Tells which ranks the job had, and what each was heard to say last."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from diagnose.facts.model import SourceRecord
from diagnose.read.model import Evidence, Kind
from diagnose.reason.clocks import Shift
from diagnose.reason.incident import Incident

_LARGEST = 100_000  # ranks: a larger world is a misread number
_SLACK = 2.0  # seconds between a rank's last words and the moment at which the others began to wait


def everyone_of(records: Sequence[SourceRecord], world: int | None) -> set[int]:
    """Return the ranks of the job: as many as the world has, else those heard of and the gaps between them."""
    if world and 0 < world <= _LARGEST:
        return set(range(world))
    heard = {rank for record in records for rank in (*record.ranks, *record.voices)}
    heard |= {record.rank for record in records if record.rank is not None}
    return heard | set(range(max(heard, default=-1) + 1)) if max(heard, default=0) < _LARGEST else heard


def never_joined(incidents: Sequence[Incident], records: Sequence[SourceRecord], world: int | None) -> tuple[int, ...]:
    """Return the ranks of which nothing is heard in a job whose others waited for them; empty where most are mute.

    Arguments: the incidents of the last attempt, all records, and the world size where it is known.
    """
    told = next((_joined(each) for each in incidents if _joined(each)), None)
    everyone = everyone_of(records, told[1] if told else world)
    heard = {each.rank for each in incidents} | {rank for record in records for rank in (*record.ranks, *record.voices)}
    heard |= {record.rank for record in records if record.bytes}
    absent = tuple(sorted(everyone - heard))
    if told is not None and len(absent) != told[1] - told[0]:
        return ()
    return absent if len(absent) * 2 <= len(everyone) else ()


def _joined(incident: Incident) -> tuple[int, int] | None:
    captures = incident.event.captures if incident.event else {}
    try:
        return int(captures["joined"]), int(captures["world"])
    except (KeyError, ValueError):
        return None


def last_words(
    rank: int,
    records: Sequence[SourceRecord],
    told: Collection[tuple[str, int]],
    began: float | None,
    shifts: Mapping[int, Shift],
) -> Evidence | None:
    """Return what a rank said last before the others began to wait; None where it is not heard.

    Arguments: the rank; all records; places of lines that are told as events already; the moment at which the others
    began to wait, where it is known; what was taken off the sources' times.
    """
    lines = [each for each in _lines(rank, records, shifts) if (each[1].path, each[1].line) not in told]
    early = [line for time, line in lines if began is None or time is None or time <= began + _SLACK]
    if early:
        return early[-1]
    return next((line for _, line in _lines(rank, records, shifts) if line.text.strip()), None)


def _lines(
    rank: int, records: Sequence[SourceRecord], shifts: Mapping[int, Shift]
) -> Iterator[tuple[float | None, Evidence]]:
    """Yield what is kept of a rank's words: steps and tail of its own logs, its last word and steps in shared ones."""
    for index, record in enumerate(records):
        if record.kind is not Kind.LOG:
            continue
        moved = shifts[index].seconds if index in shifts else 0.0
        if record.rank == rank:
            kept = {each.evidence.line: (each.time, each.evidence) for each in record.steps}
            kept |= {line.line: (_time(line, moved), line) for line in record.tail if line.text.strip()}
            yield from (kept[number] for number in sorted(kept))
        elif record.rank is None:
            yield from ((each.time, each.evidence) for each in record.steps if each.evidence.rank == rank)
            if rank in record.voices:
                yield _time(record.voices[rank], moved), record.voices[rank]


def _time(line: Evidence, moved: float) -> float | None:
    try:
        when = datetime.fromisoformat(line.time) if line.time and line.time[0] != "T" else None
    except ValueError:
        return None
    return None if when is None else (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - moved
