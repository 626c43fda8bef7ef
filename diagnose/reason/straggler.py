"""Finds the rank that the others waited for, where no line says what failed.

The evidence is who waited: a rank that timed out in a collective, or lost its peer, was there. The one that says
nothing of the kind did not come, or died. Collective counters say it outright: a rank whose enqueued and completed
numbers are equal never entered the operation. Where all ranks are inside, the operation itself hung.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnose.catalogue.model import Catalogue, Pattern
from diagnose.classes import dataclass, field, replace
from diagnose.facts.model import Event, SourceRecord
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence
from diagnose.reason import words
from diagnose.reason.clocks import Shift
from diagnose.reason.collective import (
    State,
    in_order,
    lagging,
    members_of,
    odd_ones,
    outsiders,
    states_of,
    stuck_inside,
    tell,
)
from diagnose.reason.heard import everyone_of, last_words
from diagnose.reason.identity import STOPPED, workers_of
from diagnose.reason.incident import Incident
from diagnose.reason.placement import Worker
from diagnose.reason.waited import longest_save, short, waited

SILENT = "rank-went-silent"  # the patterns that describe what is inferred here
EXITED = "rank-exited-silently"
DESYNC = "collective-desync"
INSIDE = "collective-hung-inside"
BEHIND = "collective-rank-behind"
FIRST = "collective-first-failed"
_STOPS = "torchrun-sigterm"  # the pattern of torchrun's word that it stops the workers that had not failed
_MOST = 8  # more than so many silent ranks name nobody, where they are not the smaller half
_NAMED = Lazy(r"/rank_(\d{1,6})\b|\brank(\d{1,6})\b|//cpu//\d{1,9}/(\d{1,6})$")  # the last: Gloo's address of a rank


@dataclass(frozen=True, slots=True)
class Straggler:
    """What is inferred: which pattern describes it, whom it names, and why it is thought so."""

    pattern: str
    ranks: tuple[int, ...]
    evidence: tuple[Evidence, ...]  # the line to point at, then what else shows it
    why: str
    captures: Mapping[str, str] = field(default_factory=dict)


class Search:
    """What the rules below look at."""

    def __init__(
        self,
        incidents: Sequence[Incident],
        records: Sequence[SourceRecord],
        world: int | None,
        shifts: Mapping[int, Shift],
    ) -> None:
        self.incidents = incidents
        self.records = records
        self.waiting = [each for each in incidents if each.pattern and each.pattern.victim and not each.recovered]
        self.said = {each.rank for each in self.waiting if each.rank is not None and not _only_told(each)}
        self.rows = [row for table in workers_of(incidents).values() for row in table]
        self.ends = {} if self.rows else _task_ends(incidents)
        self.rows += [row for row, _ in self.ends.values()]
        self.states = states_of(self.waiting, records)
        self.said |= {rank for group in self.states.values() for rank, state in group.items() if state.inside}
        self.everyone = everyone_of(records, world) | self.said | members_of(records)
        self.everyone |= {row.rank for row in self.rows}
        self.shifts = shifts
        self.told = {(each.evidence.path, each.evidence.line) for each in incidents}
        starts = [each.time - (waited(each) or 0.0) for each in self.waiting if each.time is not None]
        self.began = min(starts, default=None)  # when the others began to wait

    def last(self, rank: int) -> Evidence | None:
        """Return the last words of a rank before the others began to wait."""
        return last_words(rank, self.records, self.told, self.began, self.shifts)

    def first(self) -> Incident | None:
        """Return the first word of those that waited."""
        return min(self.waiting, key=lambda e: (e.time is None, e.time or 0, e.source, e.start), default=None)

    def since(self) -> str:
        """Write when the others began to wait."""
        return f" before the others began to wait at {words.clock(self.began)}" if self.began is not None else ""


def find_straggler(
    incidents: Sequence[Incident],
    records: Sequence[SourceRecord],
    world: int | None,
    shifts: Mapping[int, Shift],
) -> Straggler | None:
    """Infer what the others waited for; None where the logs do not tell.

    Arguments: the incidents of the last attempt with their ranks filled in, all records, the world size where it is
    known, and what was taken off the sources' times.
    """
    search = Search(incidents, records, world, shifts)
    for rule in (_mute, _by_counters, _named, _desync, _silent, _behind, _inside):
        found = rule(search)
        if found is not None:
            return replace(found, captures={**short(search.waiting), **longest_save(records), **found.captures})
    return None


def _only_told(each: Incident) -> bool:
    """Tell whether a rank says only that another one gave up: whether it waited itself its counters tell."""
    first = each.event.captures.get("first_rank") if each.event else None
    return first is not None and first != str(each.rank)


def inferred_incident(found: Straggler, catalogue: Catalogue) -> Incident | None:
    """Make an incident of what no line says; None where its pattern is switched off."""
    pattern: Pattern | None = catalogue.patterns.get(found.pattern)
    if pattern is None:
        return None
    line = found.evidence[0]
    if len(found.ranks) == 1:
        told = replace(line, rank=found.ranks[0])
    else:  # the line's own rank only says what it saw
        told = line if line.rank in found.ranks else replace(line, rank=None, node=None)
    captures = {"ranks": words.ranks(found.ranks), **found.captures} if found.ranks else dict(found.captures)
    event = Event(pattern.id, 0, captures, told, 0, rank=told.rank, node=told.node)
    return Incident(-1, 0, told, pattern, event)


def _mute(search: Search) -> Straggler | None:
    """A rank that the launcher saw fail, and that said nothing, while others waited for it or were only stopped."""
    rows = search.rows
    failed = {row.rank for row in rows if row.exitcode not in (*STOPPED, "", "0")}
    spoke = {each.rank for each in search.incidents if each.role in ("root", "cascade") and not each.recovered}
    if None in {each.rank for each in search.waiting}:
        return None  # it may be the one that speaks without a label
    mute = sorted(failed - spoke)
    others = (search.said | {row.rank for row in rows if row.exitcode in STOPPED}) - set(mute)
    stopped = any(each.pattern is not None and each.pattern.id == _STOPS for each in search.incidents)
    if len(mute) != 1 or not (others or (stopped and len(rows) == 1)):
        return None
    row = next(row for row in rows if row.rank == mute[0])
    line = search.ends[row.rank][1] if row.rank in search.ends else _line_of(row, search)
    last = search.last(mute[0])
    evidence = tuple(each for each in (line, last) if each is not None)
    if not evidence:
        return None
    why = (
        f"The launcher saw rank {mute[0]} end with exit code {row.exitcode} ({words.place(evidence[0])}), and no "
        f"line of it says why; {words.ranks(sorted(others)) or 'the others'} only waited for it or were stopped."
    )
    return Straggler(EXITED, (mute[0],), evidence, why, {"exitcode": row.exitcode})


def _line_of(row: Worker, search: Search) -> Evidence | None:
    told = (each for each in search.incidents if each.event and row.pid and each.event.captures.get("pid") == row.pid)
    return next((each.evidence for each in told), None)


def _task_ends(incidents: Sequence[Incident]) -> dict[int, tuple[Worker, Evidence]]:
    """Read srun's words on how single tasks ended, where its tasks are the ranks."""
    ends: dict[int, tuple[Worker, Evidence]] = {}
    for each in incidents:
        captures = each.event.captures if each.event and each.role == "wrapper" else {}
        if each.rank is None or captures.get("tasks") != str(each.rank):
            continue
        code = captures.get("exitcode") or ("-15" if captures.get("signal") == "Terminated" else "")
        ends.setdefault(each.rank, (Worker(each.start, each.rank, each.rank, code), each.evidence))
    return ends


def _by_counters(search: Search) -> Straggler | None:
    """Equal numbers of enqueued and completed operations: the rank never entered the one that the others wait in."""
    for group, states in in_order(search.states):
        outside = outsiders(states)
        if not outside:
            continue
        state = states[outside[0]]
        rest = sorted(set(states) - set(outside))
        name = f" in process group {group}" if group else ""
        why = (
            f"{words.place(state.evidence)}: rank {outside[0]} had enqueued {state.enqueued} and completed "
            f"{state.completed}{name}, so it was not inside the operation that {words.ranks(rest)} waited in."
        )
        last = search.last(outside[0])
        if last is not None:
            why += f" Its last words{search.since()}: {words.place(last)}."
        evidence = tuple(each for each in (state.evidence, last, states[rest[0]].evidence) if each is not None)
        counters = {"enqueued": str(state.enqueued), "completed": str(state.completed)}
        return Straggler(SILENT, tuple(outside), evidence, why, counters)
    return None


def _named(search: Search) -> Straggler | None:
    """The store names the rank whose key did not come."""
    named: dict[int, Incident] = {}
    for each in search.incidents:
        key = each.event.captures.get("key", "") if each.event and not each.recovered else ""
        found = _NAMED.search(key)
        if found:
            named.setdefault(int(found[1] or found[2] or found[3]), each)
    absent = sorted(named.keys() - search.said)
    return _absent(search, absent, named[absent[0]]) if absent and len(absent) <= _MOST else None


def _silent(search: Search) -> Straggler | None:
    """The ranks that do not say that they waited."""
    silent = sorted(search.everyone - search.said)
    few = len(silent) <= min(_MOST, max(1, len(search.everyone) // 2)) or len(silent) * 2 < len(search.everyone)
    return _absent(search, silent, search.first()) if search.said and silent and few else None


def _absent(search: Search, silent: Sequence[int], first: Incident | None) -> Straggler | None:
    last = search.last(silent[0])
    evidence = tuple(line for line in (last, first.evidence if first else None) if line is not None)
    if not evidence:
        return None
    heard = f"{words.place(last)}: its last words{search.since()}" if last is not None else "no word of it is here"
    waiting = f"{words.ranks(sorted(search.said))} waited" if search.said else "The others waited"
    begun = f" ({words.place(first.evidence)} is the first to say so)" if first is not None else ""
    why = f"{waiting}{begun}; {words.ranks(silent)} said nothing of the kind ({heard})."
    return Straggler(SILENT, tuple(silent), evidence, " ".join(filter(None, (why, _signals(search)))))


def _signals(search: Search) -> str:
    """Tell which ranks were the first to signal a dump, and which only followed."""
    began = _saying(search, "First PG on this rank to signal dumping")
    followed = _saying(search, "Observed flight recorder dump signal from another rank")
    if not began or not followed:
        return ""
    return f"{words.ranks(began)} signalled the dump first; {words.ranks(followed)} only followed."


def _saying(search: Search, text: str) -> list[int]:
    return sorted({each.rank for each in search.incidents if each.rank is not None and text in each.evidence.text})


def _desync(search: Search) -> Straggler | None:
    """A rank that waits in another operation than the others, at the same number."""
    for _, states in in_order(search.states):
        odd = odd_ones(states)
        if odd:
            one = states[odd[0]]
            other = next(s for r, s in states.items() if r not in odd and s.seq == one.seq and s.op)
            why = f"Rank {one.rank} waits in {tell(one)}; rank {other.rank} waits in {tell(other)}."
            captures = {"op": one.op, "other_op": other.op, "seq": str(one.seq), "other": str(other.rank)}
            return Straggler(DESYNC, tuple(odd), (one.evidence, other.evidence), why, captures)
    return None


def _behind(search: Search) -> Straggler | None:
    """One rank gave up an earlier operation than all others did."""
    for _, states in in_order(search.states):
        rank = lagging(states)
        if rank is not None:
            one, other = states[rank], max(states.values(), key=lambda state: state.seq or 0)
            why = f"Rank {one.rank} waited in {tell(one)}; the others are further: rank {other.rank} in {tell(other)}."
            captures = {"op": one.op, "seq": str(one.seq), "other_op": other.op, "other_seq": str(other.seq)}
            return Straggler(BEHIND, (rank,), (one.evidence, other.evidence), why, captures)
    return None


def _inside(search: Search) -> Straggler | None:
    """All ranks are inside the same operation."""
    if len(search.everyone) < 2 or search.everyone - search.said:
        return None
    for group, states in in_order(search.states):
        state = stuck_inside(states)
        if state is None:
            continue
        never = state.completed is not None and (state.completed < 0 or (state.completed == 0 and state.seq == 1))
        name = f" of process group {group}" if group else ""
        why = (
            f"All that speak ({words.ranks(sorted(states))}) wait in the same {tell(state)}{name}, and the last that "
            f"they completed is number {state.completed}: all of them entered it."
        )
        evidence = (state.evidence, *(each.evidence for each in _others(states, state)[:2]))
        captures = {"seq": str(state.seq), "op": state.op or "operation", "completed": str(state.completed)}
        return Straggler(FIRST if never else INSIDE, (), evidence, why, captures)
    return None


def _others(states: Mapping[int, State], state: State) -> list[State]:
    return [each for rank, each in sorted(states.items()) if rank != state.rank]
