"""A run's steady speed against a reference: a golden figure, or a good run's log."""

from __future__ import annotations

import math

from diagnose.classes import dataclass
from diagnose.facts.series import Steady

SEVERE = 15.0  # percent


@dataclass(frozen=True, slots=True)
class Reference:
    """What a run is measured against."""

    golden: float | None = None  # TFLOP/s/GPU
    baseline: Steady | None = None  # of a good run
    baseline_path: str = ""
    regression: float = 5.0  # percent below the reference from which on a run is called degraded


class BaselineError(ValueError):
    """A log that was given as the good run tells no speed; the message is `path: why`."""


NO_REFERENCE = Reference()


@dataclass(frozen=True, slots=True)
class Change:
    """How far a run is from its reference."""

    percent: float  # negative is slower
    error: float  # standard error of the percentage, from the spread of the iterations
    run: float
    reference: float
    unit: str
    against: str  # "golden", or the path of the good run


def change_of(steady: Steady, reference: Reference) -> Change | None:
    """Compare the steady speed; None where the two have no number in common."""
    if reference.golden is not None and steady.tflops is not None:
        return _change(steady.tflops, reference.golden, standard_error(steady), "TFLOP/s/GPU", "golden")
    base = reference.baseline
    if base is None:
        return None
    error = math.hypot(standard_error(steady), standard_error(base))
    pairs = [
        (steady.tflops, base.tflops, "TFLOP/s/GPU"),
        (_samples(steady), _samples(base), "samples/s"),
        (_inverse(steady.ms), _inverse(base.ms), "iterations/s"),
        (steady.tokens_per_second, base.tokens_per_second, "tokens/s"),
        (steady.samples_per_second, base.samples_per_second, "samples/s"),
    ]
    for run, other, unit in pairs:
        if run and other:
            return _change(run, other, error, unit, reference.baseline_path)
    return None


def _change(run: float, other: float, error: float, unit: str, against: str) -> Change:
    return Change((run / other - 1) * 100, error, run, other, unit, against)


def standard_error(steady: Steady) -> float:
    """Return the standard error of a median, in percent."""
    return 125.3 * steady.spread / math.sqrt(max(1, steady.count))


def _samples(steady: Steady) -> float | None:
    return steady.batch * 1000 / steady.ms if steady.batch and steady.ms else None


def _inverse(ms: float | None) -> float | None:
    return 1000 / ms if ms else None
