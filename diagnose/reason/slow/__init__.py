"""Slow runs: what the numbers of the iteration lines say, alone and against a reference."""

from __future__ import annotations

from diagnose.reason.slow.findings import findings_of
from diagnose.reason.slow.found import Found
from diagnose.reason.slow.numbers import baseline_of, speed_facts, speed_of, unmeasured
from diagnose.reason.slow.numerical import loss_incidents
from diagnose.reason.slow.reference import NO_REFERENCE, BaselineError, Reference

__all__ = [
    "NO_REFERENCE",
    "BaselineError",
    "Found",
    "Reference",
    "baseline_of",
    "findings_of",
    "loss_incidents",
    "speed_facts",
    "speed_of",
    "unmeasured",
]
