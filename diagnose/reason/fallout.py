"""Says of everything that is not the root why it is only fallout."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.reason import words
from diagnose.reason.choice import Choice
from diagnose.reason.incident import Incident
from diagnose.reason.result import Fallout
from diagnose.reason.waited import waited

_ROLES = ("cascade", "teardown", "wrapper", "confirmation", "root")


def fallout_of(incidents: Sequence[Incident], choice: Choice) -> tuple[Fallout, ...]:
    """List the fallout, one entry a pattern, in the order in which it was first seen."""
    root = choice.root.first if choice.root else None
    rooted = [each for group in (choice.root, *choice.rivals) if group for each in group.incidents]
    own = {id(each) for each in rooted}
    places = {each.place for each in rooted}
    doubles = {id(each) for each in choice.doubles}
    kinds: dict[str, list[Incident]] = {}
    for each in incidents:
        if each.recovered or id(each) in own or each.role not in _ROLES:
            continue
        if id(each) in doubles and each.place in places:
            continue  # a generic pattern tells the root's own line or traceback again: that is no news
        kinds.setdefault(each.kind, []).append(each)
    entries = [_entry(told, root, doubles) for told in kinds.values()]
    return tuple(sorted(entries, key=lambda entry: (entry.first.path, entry.first.line)))


def _entry(told: Sequence[Incident], root: Incident | None, doubles: set[int]) -> Fallout:
    first = min(told, key=lambda each: (each.time if each.time is not None else float("inf"), each.source, each.start))
    ranks = tuple(sorted({each.rank for each in told if each.rank is not None}))
    title = first.pattern.title if first.pattern else _exception(first)
    return Fallout(
        pattern=first.pattern.id if first.pattern else "unknown-exception",
        title=title,
        count=len(told),
        ranks=ranks,
        first=first.evidence,
        explained_by=_explained_by(root),
        why=_why(first, told, root, id(first) in doubles),
    )


def _exception(incident: Incident) -> str:
    unit = incident.traceback
    return (
        f"{unit.type}: {unit.message.splitlines()[0][:120]}" if unit and unit.message else (unit.type if unit else "")
    )


def _explained_by(root: Incident | None) -> str:
    if root is None:
        return ""
    return root.pattern.id if root.pattern else "unknown-exception"


def _why(first: Incident, told: Sequence[Incident], root: Incident | None, double: bool) -> str:
    where = words.place(first.evidence)
    if root is None:
        return f"{where} is a consequence; what it follows from is not in these logs"
    origin = _origin(root)
    if double:
        return f"{where} tells the same failure again"
    who = words.speaker(first.evidence) or where
    long = waited(first)
    if long is not None and first.time is not None:
        return f"{who} waited from {words.clock(first.time - long)} on, for {words.span(long)}; {origin}"
    if long is not None:
        return f"{who} waited for {words.span(long)} ({where}); {origin}"
    if first.role == "wrapper":
        return f"the launcher sums up at {where} what happened before it; {origin}"
    if first.role == "teardown":
        return f"{where} was printed while the processes were being stopped; {origin}"
    if first.role == "cascade" and first.time is not None and root.time is not None and first.time >= root.time:
        if first.time == root.time and first.source == root.source:
            return f"{where} tells of it in the same moment; {origin}"
        if first.assumed or root.assumed:
            return f"first {'after' if first.assumed else 'at'} {_moment(first)}; {origin}"
        return f"first at {_moment(first)}, {words.span(first.time - root.time)} after {origin}"
    if first.place == root.place:
        return f"{where} says this too"
    if first.role == "root" and first.source == root.source and first.start < root.start:
        return f"{where} stands above it in the log and follows from it; {origin}"
    if first.role == "root":
        later = "later in the same log" if first.source == root.source and first.start > root.start else "after it"
        return f"{where} came {later}; {origin}"
    return f"{where} reports a peer that is gone; {origin}"


def _origin(root: Incident) -> str:
    who = words.speaker(root.evidence) or "the root"
    if root.source < 0:
        return f"{who} was last heard at {words.place(root.evidence)}"
    return f"{who} failed {'after' if root.assumed and root.time is not None else 'at'} {_moment(root)}"


def _moment(incident: Incident) -> str:
    place = words.place(incident.evidence)
    return f"{words.clock(incident.time)} ({place})" if incident.time is not None else place
