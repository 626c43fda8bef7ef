"""Tells what a process says while it dies from talk that shows it lives on, and finds what was really raised."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.lazy import Lazy
from diagnose.read.model import Evidence, Traceback

_DYING = Lazy(
    r"\s{4}|\s*(?:wandb: |\[?[EWF]\d* |\[[EWF]\d{4} |terminate called|what\(\):|frame #|Exception raised"
    r"|srun: |slurmstepd: |CUDA kernel errors|For debugging|Compile with|warnings?\.warn|\S{1,300}: \w*Warning: "
    r"|Aborted|The above exception|During handling|\S{1,200}/resource_tracker\.py"
    r"|\[(?:ERROR|FATAL|CRITICAL)\]|E[A-Z]\d{4}: )"
)


def is_dying(body: str) -> bool:
    """Tell whether a line behind an exception is what a process and those around it still print when it ends."""
    return _DYING.match(body) is not None


def carried(units: Sequence[Traceback], number: int) -> Evidence | None:
    """Return the last line of the original traceback that an exception's message holds: what was really raised."""
    inner = [unit for unit in units if unit.caused == number and "Original Traceback" in unit.head.text]
    return inner[-1].final if inner and inner[-1].type else None
