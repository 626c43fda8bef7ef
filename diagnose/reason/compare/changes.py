"""Says how far two runs are from each other: speed with its uncertainty, memory, and how they ended."""

from __future__ import annotations

from diagnose.reason.compare.model import Change, ComparisonVerdict, Direction, Measured, Outcome, Peak, Side
from diagnose.reason.compare.side import Measurement
from diagnose.reason.slow.reference import Reference, change_of

_NORMAL = 1.96  # standard errors in half of a 95 % interval
_WORDS: dict[Outcome, str] = {
    "both_ran": "Both runs went on without failing",
    "both_failed": "Both runs failed",
    "fixed": "The first run failed and the later one did not",
    "broke": "The later run failed and the first one did not",
}


def change_between(before: Measurement, after: Measurement, margin: float) -> Change:
    """Compare two runs.

    Arguments: the two measurements; `margin`, the percentage below which a difference means nothing in practice.
    """
    throughput = _throughput(before, after, margin)
    memory = _memory(before.side, after.side, margin)
    outcome = _outcome(before.side, after.side)
    verdict = _verdict(outcome, throughput, memory)
    return Change(after.side.name, outcome, throughput, memory, verdict, _why(outcome, throughput, memory))


def _throughput(before: Measurement, after: Measurement, margin: float) -> Measured | None:
    if before.steady is None or after.steady is None:
        return None
    change = change_of(after.steady, Reference(baseline=before.steady, baseline_path=before.side.path))
    if change is None:
        return None
    error = _NORMAL * change.error
    direction = _direction(change.percent, max(margin, error), more="better")
    return Measured(change.reference, change.run, change.unit, round(change.percent, 2), round(error, 2), direction)


def highest(side: Side) -> Peak | None:
    """Return the peak of the rank that holds most; allocated memory before reserved."""
    allocated = [peak for peak in side.peaks if peak.allocated is not None]
    if allocated:
        return max(allocated, key=lambda peak: peak.allocated or 0.0)
    reserved = [peak for peak in side.peaks if peak.reserved is not None]
    return max(reserved, key=lambda peak: peak.reserved or 0.0, default=None)


def _memory(before: Side, after: Side, margin: float) -> Measured | None:
    pair = highest(before), highest(after)
    if pair[0] is None or pair[1] is None:
        return None
    kind = "allocated" if all(peak and peak.allocated for peak in pair) else "reserved"
    first, last = (getattr(peak, kind) for peak in pair)
    if not first or not last:
        return None
    percent = (last / first - 1) * 100
    return Measured(first, last, "bytes", round(percent, 2), 0.0, _direction(percent, margin, more="worse"))


def _direction(percent: float, bound: float, more: Direction) -> Direction:
    if abs(percent) <= bound:
        return "no_difference"
    less: Direction = "worse" if more == "better" else "better"
    return more if percent > 0 else less


def _outcome(before: Side, after: Side) -> Outcome:
    if before.failed:
        return "both_failed" if after.failed else "fixed"
    return "broke" if after.failed else "both_ran"


def _verdict(outcome: Outcome, throughput: Measured | None, memory: Measured | None) -> ComparisonVerdict:
    """A failure weighs most, then speed; memory decides where speed is the same."""
    if outcome == "broke":
        return "worse"
    if outcome == "fixed":
        return "mixed" if throughput is not None and throughput.direction == "worse" else "better"
    if throughput is not None and throughput.direction != "no_difference":
        return throughput.direction
    if memory is not None and memory.direction != "no_difference":
        return memory.direction
    return "unknown" if throughput is None and memory is None else "no_difference"


def _why(outcome: Outcome, throughput: Measured | None, memory: Measured | None) -> str:
    parts = [_WORDS[outcome] + "."]
    if throughput is not None:
        sure = f" ± {throughput.error_percent:.1f}" if throughput.error_percent else ""
        parts.append(
            f"Throughput {throughput.percent:+.1f} %{sure} "
            f"({throughput.before:.4g} to {throughput.after:.4g} {throughput.unit})."
        )
    if memory is not None:
        parts.append(f"Peak memory {memory.percent:+.1f} % ({memory.before / 1e9:.1f} to {memory.after / 1e9:.1f} GB).")
    return " ".join(parts)
