"""Chooses the root: which of the incidents came first, and says what the others are to it."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.classes import dataclass, field, replace
from diagnose.lazy import Lazy
from diagnose.reason.incident import TRAINS, Group, Incident
from diagnose.reason.mismatch import odd_rank

# Clocks of two hosts are trusted to this many seconds, those of one file to the order of its lines.
_TOLERANCE = 2.0
_STEP, _TASK = (
    Lazy(r"slurmstepd[\w.-]*: error: ", needs=("slurmstepd",)),
    Lazy(r"(?:srun|sbatch): error: [^:]{1,200}: task \d"),
)
_CONFIRMS_WITHIN = 180.0  # seconds between a kernel's record and the word of the launcher that saw its effect
_CONTAINER_WITHIN = 30.0  # the same where the process has one number in its container and another one in the kernel


@dataclass(slots=True)
class Choice:
    """The outcome of the search for the root."""

    root: Group | None = None
    rivals: list[Group] = field(default_factory=list)  # roots that cannot be told from it in time, best first
    later: list[Group] = field(default_factory=list)  # roots that came after it
    untold: bool = False  # whether all of these came after it the logs do not tell
    doubles: list[Incident] = field(default_factory=list)  # the same failure told again by another pattern
    confirmations: list[Incident] = field(default_factory=list)  # records that prove the root


def choose(incidents: Sequence[Incident]) -> Choice:
    """Choose the root among the incidents that were not recovered from; what is only slow has not failed."""
    choice = Choice()
    candidates = [
        each for each in incidents if each.role == "root" and not each.recovered and each.category != "performance"
    ]
    candidates = [each for each in candidates if not _told_before(each, incidents)]
    candidates, choice.doubles = _one_a_chain(candidates)
    groups = _group(candidates)
    if not groups:
        return choice
    groups.sort(key=_rough_order)
    root = _best(groups)
    odd = odd_rank(root.incidents)
    if odd is not None:  # the rank that differs is the one to look at, whoever spoke first
        root.incidents.sort(key=lambda each: each.rank != odd)
    choice.root = root
    _name_the_task(root)
    for group in groups:
        if group is root:
            continue
        (choice.rivals if _rival(root, group) else choice.later).append(group)
    open_order = [each for each in choice.later if _open_order(root, each)]
    choice.untold = bool(open_order)
    choice.later.sort(key=lambda group: group not in open_order)
    choice.confirmations = [each for each in incidents if _confirms(each, root)]
    if not _conclusive(root) and choice.confirmations:
        sure = any(_same_process(each, root) for each in choice.confirmations)
        _prove(root.first, choice.confirmations, sure)
    return choice


def _name_the_task(root: Group) -> None:
    """Take rank and node of a step's failure from the scheduler's line that names the one task or node of it."""
    first = root.first
    if first.rank is not None or first.node is not None or not _STEP.match(first.evidence.text):
        return
    told = {
        (each.rank, each.node)
        for each in root.incidents
        if each.node and (each.daemon or _TASK.match(each.evidence.text))
    }
    if len(told) == 1:
        rank, node = told.pop()
        first.evidence = replace(first.evidence, rank=rank, node=node)


def _prove(symptom: Incident, records: Sequence[Incident], sure: bool) -> None:
    """Let a symptom say what the records of its cause say; its line stays the one to point at."""
    record = max(records, key=lambda each: len(each.event.captures) if each.event else 0)
    if symptom.event is None or record.event is None:
        return
    captures = symptom.event.captures | record.event.captures
    symptom.event = replace(record.event, captures=captures, evidence=symptom.evidence)
    symptom.pattern = record.pattern
    if record.pattern is not None and not sure:  # another process of that name may have been meant
        symptom.pattern = replace(record.pattern, specificity="generic")


def _open_order(root: Group, group: Group) -> bool:
    """Tell whether another root may have come first after all.

    So it is where neither time nor position tells, and where two ranks speak in one file without times of their own:
    the order of their lines there is that of their buffers.
    """
    if _explains(root, group):
        return False
    a, b = root.first, group.first
    if _before(a, b) is None:
        return True
    spoken = a.source == b.source and a.rank is not None and b.rank is not None and a.rank != b.rank
    return spoken and b.weight > 1 and (a.time is None or b.time is None or a.time == b.time)


def _told_before(root: Incident, incidents: Sequence[Incident]) -> bool:
    """Tell whether a root that says only how a process ended follows a symptom that names it among its effects."""
    if root.pattern is None or root.pattern.conclusive:
        return False
    return any(
        each.role == "cascade"
        and not each.recovered
        and each.pattern is not None
        and root.pattern.id in each.pattern.explains
        and _before(each, root) is not False
        for each in incidents
    )


def _confirms(record: Incident, root: Group) -> bool:
    """Tell whether a record proves the root: it names it, and process, node and time do not speak against it."""
    if record.pattern is None or record.role != "confirmation" or root.first.kind not in record.pattern.confirms:
        return False
    if not _same_process(record, root) and not _counted_apart(record, root):
        return False
    return any(_same_place(record, each) for each in root.incidents)


def _same_process(record: Incident, root: Group) -> bool:
    killed = {pid for each in root.incidents if (pid := _pid(each)) is not None}
    return not killed or _pid(record) is None or _pid(record) in killed


def _counted_apart(record: Incident, root: Group) -> bool:
    """Tell whether a kill for a memory limit may be the job's although its process has another number there.

    A container counts its processes by itself, from one; the kernel's record gives the number of the host, which is
    higher. Then name, limit and moment have to do.
    """
    told = record.event.captures if record.event else {}
    limit = "cgroup" in told.get("scope", "") or told.get("constraint") == "CONSTRAINT_MEMCG"
    if not limit or not TRAINS.search(told.get("task", "")):
        return False
    numbers = [int(pid) for each in root.incidents if (pid := _pid(each)) is not None and pid.isdigit()]
    if not numbers or max(numbers) >= int(told["pid"]):
        return False
    return any(_same_moment(record, each) for each in root.incidents)


def _same_moment(a: Incident, b: Incident) -> bool:
    if a.time is not None and b.time is not None:
        return abs(a.time - b.time) <= _CONTAINER_WITHIN
    return a.source == b.source


def _pid(incident: Incident) -> str | None:
    return incident.event.captures.get("pid") if incident.event else None


def _same_place(a: Incident, b: Incident) -> bool:
    if a.node and b.node and a.node != b.node:
        return False
    return a.time is None or b.time is None or abs(a.time - b.time) <= _CONFIRMS_WITHIN


def _one_a_chain(candidates: Sequence[Incident]) -> tuple[list[Incident], list[Incident]]:
    """Keep the best told incident of every line and every chain of exceptions."""
    kept: list[Incident] = []
    doubles: list[Incident] = []
    places: dict[tuple[int, str, int], list[Incident]] = {}
    for each in candidates:
        places.setdefault(each.place, []).append(each)
    for told in places.values():
        best = max(told, key=_telling)
        kept.append(best)
        doubles.extend(each for each in told if each is not best)
    return kept, doubles


def _telling(each: Incident) -> tuple[int, int, int]:
    """Order what one chain of exceptions says: what is known best; the cause before what it led to.

    An exception that was only being handled when another one was raised tells less than that other one, where no
    pattern knows either.
    """
    handled = each.handled and each.weight == 0
    return each.weight, 0 if handled else 1, -each.depth


def _group(candidates: Sequence[Incident]) -> list[Group]:
    groups: dict[str, Group] = {}
    for each in sorted(candidates, key=_rough):
        groups.setdefault(each.kind, Group()).incidents.append(each)
    for group in groups.values():
        _unstamped_first(group)
    return list(groups.values())


def _unstamped_first(group: Group) -> None:
    """Put the line without a time that stands before the group's first one in the same file in front of it.

    A traceback has no stamp of its own; the watchdog that repeats the error below it has one.
    """
    first = group.first
    above = [
        each
        for each in group.incidents
        if each.time is None and each.source == first.source and each.start < first.start and not each.quoted
    ]
    if above:
        earliest = min(above, key=lambda each: each.start)
        earliest.time = first.time
        group.incidents.sort(key=lambda each: each is not earliest)


def _rough(each: Incident) -> tuple[bool, bool, float, int, int]:
    time = each.time if each.time is not None else float("inf")
    return (each.quoted, each.daemon, time, each.source, each.start)


def _rough_order(group: Group) -> tuple[bool, bool, float, int, int]:
    return _rough(group.first)


def _before(a: Incident, b: Incident) -> bool | None:
    """Tell whether `a` came before `b`; None where neither time nor position tells."""
    if a.source == b.source:
        apart = a.lane != b.lane or a.block != b.block
        if apart and a.time is not None and b.time is not None and abs(a.time - b.time) > _TOLERANCE:
            return a.time < b.time
        return a.start < b.start if a.label == b.label or not a.held else None
    if a.time is not None and b.time is not None:
        same_host = a.node is not None and a.node == b.node
        if abs(a.time - b.time) > (0.05 if same_host or _same_clock(a, b) else _TOLERANCE):
            return a.time < b.time
    return None


def _same_clock(a: Incident, b: Incident) -> bool:
    return a.node == b.node


def _best(groups: Sequence[Group]) -> Group:
    """Return the group that no other one comes before."""
    best = groups[0]
    for group in groups[1:]:
        if _beats(group, best):
            best = group
    return best


def _beats(a: Group, b: Group) -> bool:
    """Tell whether `a` is the better root: it explains `b`, came first, or tells the same failure better."""
    earlier = _before(a.first, b.first)
    if _explains(a, b) and (earlier is not False or (_conclusive(a) and not _conclusive(b))):
        return not (_explains(b, a) and earlier is False)
    if _explains(b, a) and (earlier is not True or (_conclusive(b) and not _conclusive(a))):
        return False
    known = a.first.weight and b.first.weight
    if earlier is None and known and _conclusive(a) != _conclusive(b):
        return _conclusive(a)  # what is only a symptom may be fallout of what is none
    if earlier is None or _same_breath(a.first, b.first):
        if a.first.weight != b.first.weight:
            return a.first.weight > b.first.weight
        if _conclusive(a) != _conclusive(b):
            return _conclusive(a)
    return bool(earlier)


def _conclusive(group: Group) -> bool:
    return group.first.pattern is None or group.first.pattern.conclusive


def _explains(group: Group, other: Group) -> bool:
    """Tell whether a root names another root among what it can cause."""
    pattern = group.first.pattern
    named = pattern.explains if pattern else ()
    return bool(other.first.pattern and (other.first.pattern.id in named or other.first.category in named))


def _same_breath(a: Incident, b: Incident) -> bool:
    """Tell whether one speaker said both right after another, and one of them knows little: one failure told twice."""
    if a.source != b.source or a.lane != b.lane or (not a.lane and a.rank != b.rank):
        return False
    near = abs(b.evidence.line - a.evidence.line) <= 200
    return near and min(a.weight, b.weight) <= 1 and abs((a.time or 0) - (b.time or 0)) <= _TOLERANCE


def _rival(root: Group, group: Group) -> bool:
    """Tell whether a group cannot be told from the root, and knows as much."""
    if _explains(root, group) or group.first.weight < min(root.first.weight, 2):
        return False
    if root.first.pattern and _conclusive(root) and not _conclusive(group):
        return False
    return _before(root.first, group.first) is None and root.first.weight <= group.first.weight
