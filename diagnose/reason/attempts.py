"""Tells the attempts of a job apart: a restart begins a new search for the first failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from diagnose.classes import replace
from diagnose.facts.model import SourceRecord, Step
from diagnose.lazy import Lazy
from diagnose.read.model import Kind
from diagnose.reason.choice import choose
from diagnose.reason.incident import Incident
from diagnose.reason.result import Attempt

# torchrun's agent names its own pid before the file; it reports one failing worker for each attempt.
_AGENT = Lazy(r"(\d+) torch/distributed/elastic|torch\.distributed\.elastic")
# The job's number in a name: `slurm-4350.out`, `4350.err`, `log-NAME_4350_0.out`, `NAME-4350_3.log` (array task).
_JOB = Lazy(r"(?:^|[._/-])(\d{3,9})(?:[._]\d{1,4}){0,2}\.(?:out|err|log|txt)$")
_CANCELLED = Lazy(r"slurmstepd[\w.-]*: error: \*\*\* (?:JOB|STEP) .{1,300} CANCELLED AT \d", needs=("slurmstepd",))
_GRACE = 120.0  # seconds after such a word in which the dying job may still print
_OVERLAP = 5.0  # seconds by which the logs of two jobs after one another may overlap
_Run = tuple[int, int]  # a job and its attempt


def part_jobs(records: Sequence[SourceRecord]) -> list[SourceRecord]:
    """Number the attempts of logs whose names tell different jobs that ran one after another.

    A folder often holds the logs of all submissions of a job. Where their times overlap they are left as they are.
    """
    runs: dict[_Run, list[int]] = {}
    for index, record in enumerate(records):
        job = _JOB.search(record.path) if record.kind is Kind.LOG and record.rank is None else None
        if job:
            runs.setdefault((int(job[1]), record.attempt or 0), []).append(index)
    spans = {run: _span([records[index] for index in own]) for run, own in runs.items()}
    known = sorted((span, run) for run, span in spans.items() if span is not None)
    apart = len(known) == len(spans) and all(a[1] <= b[0] + _OVERLAP for (a, _), (b, _) in pairwise(known))
    if len({job for job, _ in runs}) < 2 or not apart:
        return list(records)
    numbers = {index: number for number, (_, run) in enumerate(known) for index in runs[run]}
    return [replace(each, attempt=numbers.get(index, each.attempt)) for index, each in enumerate(records)]


def _span(records: Sequence[SourceRecord]) -> tuple[float, float] | None:
    times = [time for each in records for time in (each.first_time, each.last_time) if time is not None]
    return (min(times), max(times)) if times else None


def _marks(found: Sequence[Incident], records: Sequence[SourceRecord]) -> dict[int, list[int]]:
    """List, for each source, the offsets after which a new attempt runs."""
    marks = _requeues(found, records)
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
    for index, record in enumerate(records):
        if index not in marks and record.held == "no" and (starts := _begun_again(record, index, found)):
            marks[index] = starts
    return marks


def _times(marks: Mapping[int, Sequence[int]], found: Sequence[Incident]) -> list[float]:
    """Return when the attempts ended that the log with most of them tells of; nothing where one is not dated."""
    source = max(marks, key=lambda source: len(marks[source]), default=None)
    if source is None:
        return []
    dated = {each.start: each.own_time for each in found if each.source == source and each.own_time is not None}
    return sorted(dated[start] for start in marks[source]) if all(start in dated for start in marks[source]) else []


def _begun_again(record: SourceRecord, index: int, found: Sequence[Incident]) -> list[int]:
    """List the offsets of the failures after which iterations are counted again from a lower number, and later."""
    failures = sorted(each.start for each in found if each.source == index and each.role in ("root", "wrapper"))
    last: dict[str, Step] = {}
    starts: list[int] = []
    for step in sorted(record.steps, key=lambda step: step.start) if failures else ():
        if step.kind != "iteration" or step.number is None or step.time is None:
            continue
        before = last.get(step.lane)
        last[step.lane] = step
        if before is None or step.number > (before.number or 0) or step.time < (before.time or 0.0):
            continue
        between = [start for start in failures if before.start < start < step.start]
        if between and before.metrics.get("total") == step.metrics.get("total"):
            starts.append(between[-1])
    return starts


def _requeues(found: Sequence[Incident], records: Sequence[SourceRecord]) -> dict[int, list[int]]:
    """List the offsets of the scheduler's words that it ended a job which ran again after them.

    It did where it made progress long after them, or where it had trained and a checkpoint is loaded behind them.
    """
    ends: dict[int, list[Incident]] = {}
    for each in found:
        if each.own_time is not None and _CANCELLED.search(each.evidence.text):
            ends.setdefault(each.source, []).append(each)
    marks: dict[int, list[int]] = {}
    for source, told in ends.items():
        steps = [(step.start, step.time) for step in records[source].steps if step.time is not None]
        trained = min((step.start for step in records[source].steps if step.kind == "iteration"), default=None)
        loads = [step.start for step in records[source].steps if step.kind == "load"]
        for each, following in zip(told, [*told[1:], None], strict=True):
            until = following.start if following else float("inf")
            again = (each.own_time or 0.0) + _GRACE
            loaded = trained is not None and any(trained < each.start < start < until for start in loads)
            if loaded or any(each.start < start < until and time > again for start, time in steps):
                marks.setdefault(source, []).append(each.start)
    return marks


def number_attempts(found: Sequence[Incident], records: Sequence[SourceRecord]) -> int:
    """Write into each incident which attempt it belongs to; return the number of the last one.

    An attempt that reports nothing counts as the last one only where it reached its end. Attempts come from paths
    (torchrun's `attempt_1`) or, inside one log, from a pattern that marks a restart and from the agent's reports of
    failed workers.
    """
    numbered = {index: record.attempt for index, record in enumerate(records) if record.attempt is not None}
    offset = max(numbered.values(), default=0)
    begins = _begins(records)
    marks = _marks(found, records)
    most = max(map(len, marks.values()), default=0)
    times = _times(marks, found)
    shared: dict[int, list[Incident]] = {}
    for each in found:
        passed = sum(1 for start in marks.get(each.source, ()) if start < each.start)
        other = max(offset, most)
        if times and each.own_time is not None:
            other = sum(time < each.own_time for time in times)
        each.attempt = numbered.get(each.source, other if not marks.get(each.source) else 0) + passed
        if begins and each.source not in numbered and not marks.get(each.source):
            shared.setdefault(each.source, []).append(each)
    for told in shared.values():
        _by_time(told, begins)
    last = max((each.attempt for each in found if each.role not in ("advice", "progress")), default=0)
    went_on = (len(starts) for source, starts in marks.items() if _went_on(records[source], max(starts)))
    return max(last, *went_on, *(number for index, number in numbered.items() if _ended_well(records[index])), 0)


def _went_on(record: SourceRecord, start: int) -> bool:
    """Tell whether iterations were finished after a position: two, for one may have been held in a buffer."""
    return len({step.number for step in record.steps if step.kind == "iteration" and step.start > start}) > 1


def _ended_well(record: SourceRecord) -> bool:
    if any(step.kind == "exit" and step.number == 0 for step in record.steps):
        return True
    last = next((step for step in reversed(record.steps) if step.kind == "iteration"), None)
    return last is not None and last.number is not None and last.number >= last.metrics.get("total", float("inf"))


def _begins(records: Sequence[SourceRecord]) -> dict[int, float]:
    """Return when each attempt began; nothing where there is one only, or where that is not known of all."""
    begins: dict[int, float] = {}
    numbers = {record.attempt for record in records if record.attempt is not None}
    for record in records:
        if record.attempt is not None and record.first_time is not None:
            begins[record.attempt] = min(record.first_time, begins.get(record.attempt, record.first_time))
    times = [begins[number] for number in sorted(begins)]
    return begins if len(numbers) > 1 and begins.keys() == numbers and times == sorted(times) else {}


def _by_time(told: Sequence[Incident], begins: Mapping[int, float]) -> None:
    """Place what a file says that lived through all attempts: a batch script's output, a daemon's or a kernel's log.

    A line without a time belongs to the next one that has a time, for such a file only grows.
    """
    number = max(begins)
    for each in sorted(told, key=lambda each: each.start, reverse=True):
        if each.own_time is not None:
            begun = [attempt for attempt, begin in begins.items() if begin <= each.own_time]
            number = max(begun, default=min(begins))
        each.attempt = number


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
