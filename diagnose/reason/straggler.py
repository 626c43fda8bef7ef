"""Finds the rank that the others waited for, where no line says what failed.

The evidence is who waited: a rank that timed out in a collective, or lost its peer, was there. The one that says
nothing of the kind did not come, or died. Collective counters say it outright: a rank whose enqueued and completed
numbers are equal never entered the operation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from diagnose.catalogue.model import Pattern
from diagnose.classes import dataclass, field, replace
from diagnose.facts.model import Event, SourceRecord
from diagnose.read.model import Evidence
from diagnose.reason import words
from diagnose.reason.incident import Incident

SILENT = "rank-went-silent"  # the pattern that describes what is inferred here
_MOST = 8  # more than so many silent ranks name nobody


@dataclass(frozen=True, slots=True)
class Straggler:
    """The ranks that the others waited for, and why it is thought so."""

    ranks: tuple[int, ...]
    evidence: tuple[Evidence, ...]  # the last words of the first of them, then the first waiting rank's line
    why: str
    waiting: tuple[int, ...]  # the ranks that waited
    counters: Mapping[str, str] = field(default_factory=dict)  # its enqueued and completed numbers, where they say it


def find_straggler(
    incidents: Sequence[Incident], records: Sequence[SourceRecord], world: int | None
) -> Straggler | None:
    """Name the ranks that the others waited for; None where the logs do not tell.

    Arguments: the incidents of the last attempt with their ranks filled in, all records, and the world size where it
    is known.
    """
    waiting = [each for each in incidents if each.pattern and each.pattern.victim and not each.recovered]
    if not waiting:
        return None
    counted = _by_counters(waiting)
    if counted:
        return counted
    said = {each.rank for each in waiting if each.rank is not None}
    everyone = set(range(world)) if world and world <= 100_000 else _heard(records)
    silent = tuple(sorted(everyone - said))
    if not said or not silent or len(silent) > min(_MOST, max(1, len(everyone) // 2)):
        return None
    first = min(waiting, key=lambda each: (each.time is None, each.time or 0, each.source, each.start))
    last = _last_words(silent[0], records)
    evidence = tuple(line for line in (last, first.evidence) if line is not None)
    heard = f"{words.place(last)}: its last words" if last is not None else "no log of it is here"
    why = (
        f"{words.ranks(sorted(said))} waited ({words.place(first.evidence)} is the first to say so); "
        f"{words.ranks(silent)} said nothing of the kind ({heard})."
    )
    return Straggler(silent, evidence, why, tuple(sorted(said)))


def silent_incident(found: Straggler, pattern: Pattern) -> Incident:
    """Make an incident of what no line says: the last words of the rank that the others waited for."""
    line = found.evidence[0]
    told = replace(line, rank=found.ranks[0])
    captures = {"ranks": words.ranks(found.ranks), **found.counters}
    event = Event(pattern.id, 0, captures, told, 0, rank=found.ranks[0], node=told.node)
    return Incident(-1, 0, told, pattern, event)


def _heard(records: Sequence[SourceRecord]) -> set[int]:
    ranks = {rank for record in records for rank in record.ranks}
    ranks |= {rank for record in records for rank in record.voices}
    ranks |= {record.rank for record in records if record.rank is not None}
    only_local = {record.local_rank for record in records if record.local_rank is not None}
    return ranks | {rank for rank in only_local if len({record.node for record in records}) <= 1}


def _last_words(rank: int, records: Sequence[SourceRecord]) -> Evidence | None:
    for record in records:
        own = record.rank == rank or (record.rank is None and record.local_rank == rank)
        if own and record.tail:
            return record.tail[-1]
    return next((record.voices[rank] for record in records if rank in record.voices), None)


def _by_counters(waiting: Sequence[Incident]) -> Straggler | None:
    """Read enqueued and completed numbers: equal ones mean that the rank never entered the operation."""
    counted: dict[int, tuple[int, int, Incident]] = {}
    for each in waiting:
        numbers = _numbers(each.event) if each.event else None
        if numbers is not None and each.rank is not None and each.rank not in counted:
            counted[each.rank] = (*numbers, each)
    if len(counted) < 2:
        return None
    outside = sorted(rank for rank, (enqueued, completed, _) in counted.items() if enqueued == completed)
    if not outside:
        usual, _ = Counter(enqueued for enqueued, _, _ in counted.values()).most_common(1)[0]
        outside = sorted(rank for rank, (enqueued, _, _) in counted.items() if enqueued < usual)
    if not outside or len(outside) > len(counted) // 2:
        return None
    enqueued, completed, incident = counted[outside[0]]
    rest = tuple(sorted(set(counted) - set(outside)))
    why = (
        f"{words.place(incident.evidence)}: rank {outside[0]} had enqueued {enqueued} and completed {completed}, so it "
        f"was not inside the operation that {words.ranks(rest)} waited in."
    )
    counters = {"enqueued": str(enqueued), "completed": str(completed)}
    return Straggler(tuple(outside), (incident.evidence,), why, rest, counters)


def _numbers(event: Event) -> tuple[int, int] | None:
    try:
        return int(event.captures["enqueued"]), int(event.captures["completed"])
    except (KeyError, ValueError):
        return None


def odd_rank(told: Sequence[Incident]) -> int | None:
    """Name the rank whose collective differs from the majority, from captures rank/op/shape and other/other_op/…"""
    calls: dict[int, tuple[str, str]] = {}
    for each in told:
        captures = each.event.captures if each.event else {}
        for prefix, rank in (("", captures.get("rank")), ("other_", captures.get("other"))):
            if rank is not None and rank.isdigit():
                calls[int(rank)] = (captures.get(f"{prefix}op", ""), captures.get(f"{prefix}shape", ""))
    if len(calls) < 3:
        return None
    (usual, most), *rest = Counter(calls.values()).most_common(2)
    if rest and rest[0][1] == most:
        return None
    odd = [rank for rank, call in calls.items() if call != usual]
    return odd[0] if len(odd) == 1 else None
