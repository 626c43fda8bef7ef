"""Gathers what the ranks of each process group say of their collectives, and compares it.

Sources: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp (watchdog messages of PyTorch 1.13 and later), and
flight-recorder dumps (see diagnose.facts.flight_recorder).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from diagnose.classes import dataclass
from diagnose.facts.flight_recorder import KEY
from diagnose.facts.model import SourceRecord
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence
from diagnose.reason import words
from diagnose.reason.incident import Incident

# A rank's number inside the group follows. The unique name tells the groups apart: the number counts per process, and
# all groups of one kind share the description. PyTorch 2.4 has the description without the word GUID.
_GROUP = Lazy(
    r"\[PG (?:ID )?([\w:.-]{1,120}) (?:PG GUID ([\w:.-]{1,120})(?:\(([^)]{0,80})\))? |\(([^)]{0,80})\) )?Rank \d+\]"
)
# Operations whose sizes are the same on all ranks of the group.
_EVEN = Lazy(r"(?i)all_?reduce|broadcast|all_?gather_?(?:base|into_tensor)|reduce_scatter_?(?:base|tensor)|^barrier")
_PAIRWISE = Lazy(r"(?i)send|recv|p2p|coalesced")


@dataclass(slots=True)
class State:
    """How far one rank came in one process group."""

    rank: int
    evidence: Evidence
    enqueued: int | None = None
    completed: int | None = None
    seq: int | None = None  # number of the operation that it waits in
    op: str = ""
    sizes: str = ""
    time: float | None = None

    @property
    def outside(self) -> bool:
        """It never entered the operation that the others wait in."""
        return self.enqueued is not None and self.enqueued == self.completed

    @property
    def inside(self) -> bool:
        """It waits in the operation that follows the last one it completed."""
        last = self.seq if self.enqueued is None else self.enqueued
        return self.completed is not None and last is not None and last > self.completed


States = Mapping[str, Mapping[int, State]]  # group -> rank -> state


def states_of(waiting: Sequence[Incident], records: Sequence[SourceRecord]) -> States:
    """Gather the states from the watchdog's lines and from dumps; the first that a rank says of a group counts."""
    groups: dict[str, dict[int, State]] = {}
    for each in waiting:
        captures = each.event.captures if each.event else {}
        if each.rank is None or not captures.keys() & {"seq", "enqueued"}:
            continue
        state = State(each.rank, each.evidence, time=each.time)
        told = groups.setdefault(_group(each.evidence.text), {}).setdefault(each.rank, state)
        if told.seq is not None and captures.get("seq", str(told.seq)) != str(told.seq):
            continue  # it speaks of a later operation
        told.seq = _number(captures, "seq") if told.seq is None else told.seq
        told.enqueued = _number(captures, "enqueued") if told.enqueued is None else told.enqueued
        told.completed = _number(captures, "completed") if told.completed is None else told.completed
        told.op = told.op or captures.get("op", "")
        told.sizes = told.sizes or _sizes(captures)
    _join_nameless(groups)
    for rank, group, state in _dumped(records):
        groups.setdefault(group, {}).setdefault(rank, state)
    return groups


def _join_nameless(groups: dict[str, dict[int, State]]) -> None:
    """Add what lines without a group's name say to the group in which the same rank waits at the same number."""
    for rank, state in list(groups.get("", {}).items()):
        same = [own[rank] for name, own in groups.items() if name and rank in own and own[rank].seq == state.seq]
        if len(same) == 1:
            same[0].op, same[0].sizes = same[0].op or state.op, same[0].sizes or state.sizes
            if (state.evidence.path, state.evidence.line) < (same[0].evidence.path, same[0].evidence.line):
                same[0].evidence = state.evidence
            del groups[""][rank]
    if not groups.get("", True):
        del groups[""]


def _group(text: str) -> str:
    found = _GROUP.search(text)
    if found is None:
        return ""
    name, kind = found[2] or found[1], found[3] or found[4]
    return f"{name} ({kind})" if kind else name


def _number(captures: Mapping[str, str], name: str) -> int | None:
    try:
        return int(captures[name])
    except (KeyError, ValueError):
        return None


def _sizes(captures: Mapping[str, str]) -> str:
    if "numel_in" in captures:
        return f"{captures['numel_in']} in, {captures.get('numel_out', '?')} out"
    return captures.get("shape", "")


def _dumped(records: Sequence[SourceRecord]) -> Iterable[tuple[int, str, State]]:
    for record in records:
        for each in record.observations:
            value = each.value
            if each.key != KEY or not isinstance(value, dict) or each.evidence is None:
                continue
            rank, group = value.get("rank"), value.get("group")
            if isinstance(rank, int) and isinstance(group, str):
                enqueued, completed, seq = (
                    number if isinstance(number := value.get(name), int) else None
                    for name in ("enqueued", "completed", "seq")
                )
                op, sizes = str(value.get("op") or ""), str(value.get("sizes") or "")
                yield rank, group, State(rank, each.evidence, enqueued, completed, seq, op, sizes)


def members_of(records: Sequence[SourceRecord]) -> set[int]:
    """Return the ranks that dumps name as members of the largest group."""
    groups = [
        {rank for rank in ranks if isinstance(rank, int)}
        for record in records
        for each in record.observations
        if each.key == KEY and isinstance(each.value, dict) and isinstance(ranks := each.value.get("ranks"), list)
    ]
    return max(groups, key=len, default=set())


def in_order(groups: States) -> list[tuple[str, Mapping[int, State]]]:
    """Return the groups, the one whose ranks gave up first first."""
    return sorted(groups.items(), key=lambda item: min((s.time or float("inf") for s in item[1].values()), default=0))


def outsiders(states: Mapping[int, State]) -> list[int]:
    """Name the ranks that never entered the operation, or are behind the majority; none where most are."""
    counted = {rank: state for rank, state in states.items() if state.enqueued is not None}
    if len(counted) < 2:
        return []
    outside = sorted(rank for rank, state in counted.items() if state.outside)
    if not outside:
        numbers = [state.enqueued for state in counted.values() if state.enqueued is not None]
        usual, _ = Counter(numbers).most_common(1)[0]
        outside = sorted(rank for rank, state in counted.items() if (state.enqueued or 0) < usual)
    return outside if len(outside) * 2 <= len(counted) else []


def odd_ones(states: Mapping[int, State]) -> list[int]:
    """Name the ranks that wait in another operation, or with other sizes, than the majority, at the same number."""
    numbers = Counter(state.seq for state in states.values() if state.seq is not None and state.op)
    if not numbers:
        return []
    seq, _ = numbers.most_common(1)[0]
    here = {rank: state for rank, state in states.items() if state.seq == seq and state.op}
    if len(here) < 3 or any(_PAIRWISE.search(state.op) for state in here.values()):
        return []
    calls = {rank: (state.op, state.sizes if _EVEN.search(state.op) else "") for rank, state in here.items()}
    (usual, most), *rest = Counter(calls.values()).most_common(2)
    if not rest or rest[0][1] * 2 >= most:
        return []
    return sorted(rank for rank, call in calls.items() if call != usual)


def lagging(states: Mapping[int, State]) -> int | None:
    """Name the one rank that gave up an earlier operation than all others, which wait in the same one."""
    numbered = {rank: state for rank, state in states.items() if state.seq is not None and state.op}
    last = max((state.seq or 0 for state in numbered.values()), default=0)
    behind = [rank for rank, state in numbered.items() if state.seq != last]
    ahead = {(state.op, state.sizes) for state in numbered.values() if state.seq == last}
    pairwise = any(_PAIRWISE.search(state.op) for state in numbered.values())
    return behind[0] if len(behind) == 1 and len(numbered) > 3 and len(ahead) == 1 and not pairwise else None


def stuck_inside(states: Mapping[int, State]) -> State | None:
    """Return a rank's state where all ranks wait in the same operation, which all of them entered."""
    if len(states) < 2 or len({state.seq for state in states.values()}) != 1:
        return None
    if not all(state.inside for state in states.values()):
        return None
    if len({state.completed for state in states.values()}) != 1:
        return None
    return min(states.values(), key=lambda state: (state.time is None, state.time or 0.0, state.rank))


def tell(state: State) -> str:
    """Write what a rank waits in: "ALLREDUCE number 12 (1 in, 1 out)"."""
    sizes = f" ({state.sizes})" if state.sizes else ""
    return f"{state.op or 'operation'} number {state.seq}{sizes} at {words.place(state.evidence)}"
