"""What is left to say where no line names a cause: what the processes that speak were hit by, what the kernel did."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.catalogue.model import Catalogue
from diagnose.classes import dataclass, replace
from diagnose.facts.model import Event
from diagnose.reason import words
from diagnose.reason.incident import TRAINS, Group, Incident

# The pattern that describes each kind of victim, where nothing says what hit them.
_DESCRIBED = {"waiting": "collective-timed-out", "peer-gone": "peer-lost"}


@dataclass(frozen=True, slots=True)
class Consequence:
    """What stands in the place of a root where only consequences are visible."""

    group: Group
    why: str


def consequence(incidents: Sequence[Incident], catalogue: Catalogue) -> Consequence | None:
    """Find what is to be shown in place of a root; None where nothing says that the job was hit.

    It is never conclusive, for the cause is in another log.
    """
    left = [each for each in incidents if each.pattern and not each.recovered]
    return (
        _victims([each for each in left if each.pattern and each.pattern.victim], catalogue)
        or _symptom([each for each in left if each.role == "cascade"])
        or _symptom([each for each in left if each.role == "confirmation"])
    )


def killed(incidents: Sequence[Incident]) -> Consequence | None:
    """Take the kernel's record that it killed a process which trains, the line that tells most; None without one."""
    told = [each for each in incidents if each.role == "confirmation" and not each.recovered]
    told = [each for each in told if each.event and "pid" in each.event.captures]
    told = [each for each in told if each.event and TRAINS.search(each.event.captures.get("task", ""))]
    if not told:
        return None
    first = min(told, key=_order)
    same = [each for each in told if each.kind == first.kind]
    pid = first.event.captures["pid"] if first.event else ""
    best = max(
        (each for each in same if each.event and each.event.captures["pid"] == pid),
        key=_telling,
    )
    if best.pattern is None:
        return None
    # A fact of the kernel, but that the process was the job's own is only likely.
    best.pattern = replace(best.pattern, specificity="generic")
    group = Group([best, *(each for each in same if each is not best)])
    return Consequence(group, f"{words.place(best.evidence)} records it; no line of the job itself says how it ended.")


def _victims(victims: Sequence[Incident], catalogue: Catalogue) -> Consequence | None:
    if not victims:
        return None
    # Last words that only say that something failed step back behind a line that says what it was hit by.
    first = _first([each for each in victims if each.pattern and each.pattern.specificity != "generic"] or victims)
    pattern = catalogue.patterns.get(_DESCRIBED[first.pattern.victim]) if first.pattern else None
    if pattern is None:
        return _symptom(victims)
    ranks = sorted({each.rank for each in victims if each.rank is not None})
    captures = {**(first.event.captures if first.event else {}), "count": str(len(victims))}
    if ranks:
        captures["ranks"] = words.ranks(ranks)
    event = Event(pattern.id, 0, captures, first.evidence, first.start, first.lane, first.rank, time=first.time)
    hit = Incident(first.source, first.start, first.evidence, pattern, event, time=first.time)
    return Consequence(Group([hit]), _why(first))


def _symptom(symptoms: Sequence[Incident]) -> Consequence | None:
    """Take the first symptom itself: its own page says where the cause is to be looked for."""
    if not symptoms:
        return None
    first = _first(symptoms)
    same = sorted((each for each in symptoms if each.kind == first.kind), key=_order)
    if first.role == "confirmation":  # several lines of one record
        same.sort(key=_telling, reverse=True)
    for each in same:
        each.pattern = replace(each.pattern, conclusive=False) if each.pattern else None
    return Consequence(Group(same), _why(first))


def _first(hit: Sequence[Incident]) -> Incident:
    """Take the earliest; a line without time that stands above it in the same log came before it."""
    first = min(hit, key=_order)
    above = [each for each in hit if each.time is None and each.source == first.source and each.start < first.start]
    return min(above, key=lambda each: each.start, default=first)


def _why(first: Incident) -> str:
    return f"{words.place(first.evidence)} is the first to be hit; nothing in these logs says by what."


def _telling(each: Incident) -> int:
    return len(each.event.captures) if each.event else 0


def _order(each: Incident) -> tuple[bool, float, int, int]:
    return (each.time is None, each.time or 0.0, each.source, each.start)
