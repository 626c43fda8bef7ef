"""Reads how long ranks waited, and whether the time-out was shorter than what the job does anyway."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.facts.model import SourceRecord
from diagnose.reason.incident import Incident

_WAITED = ("ran_for", "timeout_ms", "ms")  # captures of time-outs, all in milliseconds
_LIMIT = ("timeout_ms", "ms")


def waited(incident: Incident) -> float | None:
    """Return how long a timed-out operation had waited, in seconds."""
    return _seconds(incident, _WAITED)


def short(waiting: Sequence[Incident]) -> dict[str, str]:
    """Return the time-out of the operations as capture `limit`, in seconds."""
    limits = [limit for each in waiting if (limit := _seconds(each, _LIMIT)) is not None]
    return {"limit": f"{min(limits):g}"} if limits else {}


def longest_save(records: Sequence[SourceRecord]) -> dict[str, str]:
    """Return how long the longest checkpoint took as capture `save`, in seconds, where the log shows begin and end."""
    longest = 0.0
    for record in records:
        begun: float | None = None
        for step in record.steps:
            if step.kind == "save":
                begun = step.time
            elif step.kind == "saved" and begun is not None and step.time is not None:
                longest, begun = max(longest, step.time - begun), None
    return {"save": f"{longest:.0f}"} if longest > 0 else {}


def _seconds(incident: Incident, names: Sequence[str]) -> float | None:
    captures = incident.event.captures if incident.event else {}
    for name in names:
        try:
            return float(captures.get(name, "")) / 1000
        except ValueError:
            continue
    return None
