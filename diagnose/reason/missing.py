"""Names what would make the answer surer: logs that are not there, logs that end early."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.facts.model import SourceRecord
from diagnose.read.model import Kind
from diagnose.reason import words
from diagnose.reason.result import Finding, Verdict

_KERNEL_HELPS = ("node", "host-memory", "gpu-hardware", "cuda-error")


def missing_of(records: Sequence[SourceRecord], verdict: Verdict, root: Finding | None) -> tuple[str, ...]:
    """List what is missing, most telling first; nothing where nothing failed."""
    if verdict == "no_failure":
        return ()
    found: list[str] = []
    world = next(
        (o.value for r in records for o in r.observations if o.key in ("run.world_size", "config.world_size")), None
    )
    own = sorted({record.rank for record in records if record.rank is not None})
    if isinstance(world, int) and own and len(own) < world <= 100_000:
        absent = [rank for rank in range(world) if rank not in set(own)]
        found.append(f"no log of {words.ranks(absent)} (of {world})")
    kernel = any(record.kind is Kind.KERNEL for record in records)
    if root is not None and root.category in _KERNEL_HELPS and root.confidence != "high" and not kernel:
        found.append("no kernel log (dmesg or journalctl -k of the node) to say why")
    found.extend(f"{record.path} ends in mid-line" for record in records if record.cut and record.kind is Kind.LOG)
    if verdict == "symptom_only" and root is None:
        found.append("the logs of the other ranks and nodes, where the first failure must be")
    return tuple(found[:8])
