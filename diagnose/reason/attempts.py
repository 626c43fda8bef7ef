"""Tells the attempts of a job apart: a restart begins a new search for the first failure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.facts.model import SourceRecord
from diagnose.read.lazy import Lazy
from diagnose.reason.choice import choose
from diagnose.reason.incident import Incident
from diagnose.reason.result import Attempt

# torchrun's agent names its own pid before the file; it reports one failing worker for each attempt.
_AGENT = Lazy(r"(\d+) torch/distributed/elastic|torch\.distributed\.elastic")


def _marks(found: Sequence[Incident]) -> dict[int, list[int]]:
    """List, for each source, the offsets after which a new attempt runs."""
    marks: dict[int, list[int]] = {}
    ends: dict[tuple[int, str], list[int]] = {}
    for each in found:
        if each.pattern and each.pattern.marks == "restart":
            marks.setdefault(each.source, []).append(each.start)
        captures = each.event.captures if each.event and each.role == "wrapper" else {}
        if {"exitcode", "local_rank", "pid"} <= captures.keys():
            agent = _AGENT.search(each.evidence.text)
            ends.setdefault((each.source, (agent and agent.group(1)) or each.lane), []).append(each.start)
    for (source, _), starts in ends.items():
        if source not in marks and len(starts) > 1:
            marks[source] = starts[:-1]
    return marks


def number_attempts(found: Sequence[Incident], records: Sequence[SourceRecord]) -> int:
    """Write into each incident which attempt it belongs to; return the number of the last one that reports anything.

    Attempts come from paths (torchrun's `attempt_1`) or, inside one log, from a pattern that marks a restart and from
    the agent's reports of failed workers.
    """
    numbered = {index: record.attempt for index, record in enumerate(records) if record.attempt is not None}
    offset = max(numbered.values(), default=0)
    marks = _marks(found)
    for each in found:
        passed = sum(1 for start in marks.get(each.source, ()) if start < each.start)
        each.attempt = numbered.get(each.source, offset if not marks.get(each.source) else 0) + passed
    return max((each.attempt for each in found if each.role not in ("advice", "progress")), default=0)


def earlier_attempts(found: Sequence[Incident], last: int) -> tuple[Attempt, ...]:
    """Name what ended each earlier attempt, by the same choice of the root."""
    told: list[Attempt] = []
    for number in range(last):
        own = [each for each in found if each.attempt == number]
        root = choose(own).root
        if root is None:
            if any(each.role in ("wrapper", "cascade") for each in own):
                told.append(Attempt(number, "", "nothing in the log says why"))
            continue
        pattern, unit = root.first.pattern, root.first.traceback
        title = pattern.title if pattern else f"{unit.type}: {unit.message.splitlines()[0][:120]}" if unit else ""
        told.append(Attempt(number, pattern.id if pattern else "unknown-exception", title, root.first.evidence))
    return tuple(told)
