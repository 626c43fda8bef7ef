"""Finds a hang that nobody reported: no error, no progress, and at last the scheduler's time limit or a cancel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from diagnose.classes import dataclass
from diagnose.facts.model import SourceRecord, Step
from diagnose.facts.trend.middle import median
from diagnose.read.model import Evidence, Kind
from diagnose.reason import words
from diagnose.reason.clocks import Shift
from diagnose.reason.heard import everyone_of, last_words
from diagnose.reason.incident import Incident
from diagnose.reason.phase import phase_of

HUNG = "hang-before-time-limit"  # the pattern that describes what is inferred here
_LEAST = 600.0  # seconds of silence that are no slow step
_STEPS = 10  # step times of silence that are no slow step
_APART = 5.0  # seconds between the last words of ranks that count as "stopped first"
_NAMED = 3  # ranks that stopped first, with their last words
_PHASES = {"save": "saving a checkpoint", "load": "loading a checkpoint", "eval": "evaluation"}


@dataclass(frozen=True, slots=True)
class Silence:
    """How long nothing was done before the scheduler ended the job."""

    seconds: float
    step: float | None  # seconds that an iteration usually took
    last: Step  # the last progress
    phase: str  # what was being done, in words; "" where nothing tells
    quiet: tuple[tuple[int, Evidence], ...] = ()  # ranks that stopped before the others, with their last words

    @property
    def hang(self) -> bool:
        """Is it too long for a slow step?"""
        return self.seconds >= max(_LEAST, _STEPS * (self.step or 0.0))

    def tell(self) -> str:
        """Write it: "silent for 3.2 h before, since iteration 1402 (last words of rank 5: train.log:88)"."""
        since = f"iteration {self.last.number}" if self.last.number is not None else words.place(self.last.evidence)
        doing = f", in {self.phase}" if self.phase else ""
        who = "; ".join(f"last words of rank {rank}: {words.place(line)}" for rank, line in self.quiet)
        return f"silent for {words.span(self.seconds)} before, since {since}{doing}{f' ({who})' if who else ''}"

    def captures(self) -> dict[str, str]:
        """Return the pattern's captures."""
        found = {"silent": words.span(self.seconds), "told": self.tell()}
        if self.step is not None:
            found["step"] = f"{self.step:.1f} s"
        if self.last.number is not None:
            found["iteration"] = str(self.last.number)
        return found


def silence_before(
    end: Incident, records: Sequence[SourceRecord], world: int | None, shifts: Mapping[int, Shift]
) -> Silence | None:
    """Measure the silence before the scheduler's word; None where times or progress are not known."""
    if end.time is None:
        return None
    steps = [
        step
        for record in records
        for step in record.steps
        if step.time is not None and step.kind != "exit" and step.time <= end.time
    ]
    if not any(step.kind == "iteration" for step in steps):
        return None
    last = max(steps, key=lambda step: step.time or 0.0)
    seconds = end.time - (last.time or 0.0)
    heard = [
        record.last_time
        for record in records
        if record.kind is Kind.LOG and record.last_time is not None and record.last_time < end.time - 1
    ]
    if any(time > end.time - seconds / 2 for time in heard):
        return None  # somebody was still talking
    return Silence(seconds, _step_time(steps), last, _phase(last), _quiet(records, world, shifts, last.time or 0.0))


def _step_time(steps: Sequence[Step]) -> float | None:
    printed = [step.metrics["ms"] / 1000 for step in steps if step.kind == "iteration" and "ms" in step.metrics]
    if printed:
        return median(printed)
    times = sorted(step.time for step in steps if step.kind == "iteration" and step.time is not None)
    gaps = [b - a for a, b in pairwise(times) if b > a]
    return median(gaps) if gaps else None


def _phase(last: Step) -> str:
    return _PHASES.get(phase_of((), [last]) or last.kind, last.text if last.kind == "phase" else "")


def _quiet(
    records: Sequence[SourceRecord], world: int | None, shifts: Mapping[int, Shift], latest: float
) -> tuple[tuple[int, Evidence], ...]:
    """Name the ranks whose own logs end clearly before the last progress, the first first."""
    ends: dict[int, float] = {}
    for record in records:
        if record.rank is not None and record.last_time is not None:
            ends[record.rank] = max(ends.get(record.rank, 0.0), record.last_time)
    if len(ends) < 2:
        return ()
    early = sorted((time, rank) for rank, time in ends.items() if time < latest - _APART)
    if len(early) * 2 > len(everyone_of(records, world)):
        return ()
    told = [(rank, last_words(rank, records, (), None, shifts)) for _, rank in early[:_NAMED]]
    return tuple((rank, line) for rank, line in told if line is not None)
