"""The usual speed of a run, as facts for conditions and as the numbers of the report."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.facts.model import Observation, SourceRecord
from diagnose.facts.run import Facts
from diagnose.facts.series import Steady, Survey
from diagnose.reason.slow.reference import NO_REFERENCE, Reference, change_of

_ORIGIN = "metrics"


def best_survey(records: Sequence[SourceRecord]) -> Survey | None:
    """Return the survey that knows the speed best: printed times before those of clocks, then the longest."""
    found = [each for record in records for each in record.surveys if each.steady is not None]
    return max(found, key=_knowledge, default=None)


def _knowledge(survey: Survey) -> tuple[bool, bool, int]:
    steady = survey.steady
    assert steady is not None
    return not survey.series.derived, steady.ms is not None, steady.count


def steady_of(records: Sequence[SourceRecord]) -> Steady | None:
    """Return the usual speed of a run; None where no line tells."""
    survey = best_survey(records)
    return survey.steady if survey else None


def baseline_of(records: Sequence[SourceRecord]) -> tuple[Steady, str] | None:
    """Return the usual speed of a good run, and the path of the log that tells it; None where no line tells."""
    steady = steady_of(records)
    return (steady, steady.evidence.path) if steady is not None else None


def unmeasured(records: Sequence[SourceRecord], reference: Reference) -> tuple[str, ...]:
    """Say why a run could not be measured against its reference; nothing where it was, or where there is none."""
    steady = steady_of(records)
    if reference == NO_REFERENCE or (steady is not None and change_of(steady, reference) is not None):
        return ()
    if steady is None:
        return ("no iteration lines with a step time, to measure the run against its reference",)
    if reference.golden is not None and reference.baseline is None:
        return (
            "no TFLOP/s/GPU on the iteration lines to hold against the golden figure (Megatron-LM: --log-throughput)",
        )
    return ("the two runs print no number in common that speed could be compared by",)


def speed_facts(records: Sequence[SourceRecord], reference: Reference) -> list[Observation]:
    """Return what conditions can ask for: `run.tflops iteration_ms golden throughput_change`."""
    found: list[Observation] = []
    if reference.golden is not None:
        found.append(Observation("run.golden", reference.golden, None, "golden"))
    steady = steady_of(records)
    if steady is None:
        return found
    if steady.tflops is not None:
        found.append(Observation("run.tflops", steady.tflops, steady.evidence, _ORIGIN))
    if steady.ms is not None:
        found.append(Observation("run.iteration_ms", steady.ms, steady.evidence, _ORIGIN))
    change = change_of(steady, reference)
    if change is not None:
        found.append(Observation("run.throughput_change", round(change.percent, 2), steady.evidence, _ORIGIN))
    return found


def speed_of(records: Sequence[SourceRecord], facts: Facts) -> dict[str, float]:
    """Return the numbers of the report: medians of the steady iterations, how many, from which on, and their spread.

    `spread` is the robust standard deviation of the step time as a part of the median. `tokens_per_second` is the whole
    job's, where the batch size and the sequence length are known, else what the log prints. After a drop that stayed,
    `iteration_ms_after_drop` is the step time since then; the other numbers are those before it.
    """
    survey = best_survey(records)
    if survey is None or survey.steady is None:
        return {}
    steady = survey.steady
    length = facts.value("config.seq_length")
    tokens = steady.tokens_per_second
    if steady.ms and steady.batch and isinstance(length, int):
        tokens = steady.batch * length * 1000 / steady.ms
    rate = steady.samples_per_second
    if rate is None and steady.ms and steady.batch:
        rate = steady.batch * 1000 / steady.ms
    named = {
        "iteration_ms": steady.ms,
        "tflops_per_gpu": steady.tflops,
        "tokens_per_second": tokens,
        "samples_per_second": rate,
        "samples": float(steady.count),
        "steady_from": float(steady.number),
        "spread": round(steady.spread, 5),
        "iteration_ms_after_drop": survey.shift.after if survey.shift and survey.shift.until is None else None,
        "golden": _number(facts.value("run.golden")),
        "change_percent": _number(facts.value("run.throughput_change")),
    }
    return {key: value for key, value in named.items() if value is not None}


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
