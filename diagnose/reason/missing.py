"""Names what would make the answer surer: logs that are not there, logs that end early."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.facts.model import SourceRecord
from diagnose.facts.trend.middle import median
from diagnose.read.model import Kind
from diagnose.reason import words
from diagnose.reason.result import Finding, Verdict

_LARGEST = 100_000  # ranks: a larger world is a misread number
_EARLY = 60.0  # seconds by which a log ends too early to be only cut by a buffer
_KERNEL_HELPS = ("node", "host-memory", "gpu-hardware", "cuda-error")


def missing_of(records: Sequence[SourceRecord], verdict: Verdict, root: Finding | None) -> tuple[str, ...]:
    """List what is missing, most telling first; nothing where nothing failed."""
    if verdict == "no_failure":
        return ()
    found: list[str] = []
    world = next(
        (o.value for r in records for o in r.observations if o.key in ("run.world_size", "config.world_size")), None
    )
    found += _unheard(records, world if isinstance(world, int) else None)
    if root is not None and root.category in _KERNEL_HELPS and root.confidence != "high":
        found += _no_kernel_log(records, root.evidence[0].node if root.evidence else None)
    found += _ends_early(records)
    found.extend(f"{record.path} ends in mid-line" for record in records if record.cut and record.kind is Kind.LOG)
    return tuple(found[:8])


def _unheard(records: Sequence[SourceRecord], world: int | None) -> list[str]:
    """Name the ranks that have no file of their own where others have, and those of which no word is found anywhere."""
    own = {record.rank for record in records if record.rank is not None}
    if world is None and len(own) > 1:
        world = max(own) + 1  # a gap in the numbers of the files
        own = own if len(own) * 2 > world else set()
    if world is None or not 1 < world <= _LARGEST:
        return []
    heard = own | {rank for record in records for rank in (*record.ranks, *record.voices)}
    absent = [rank for rank in range(world) if rank not in (own or heard)]
    if not heard or not absent or (not own and len(heard) * 2 < world):
        return []  # in a shared log most ranks may have nothing to say
    return [f"no {'log' if own else 'word'} of {words.ranks(absent)} (of {world})"]


def _no_kernel_log(records: Sequence[SourceRecord], node: str | None) -> list[str]:
    kernel = [record for record in records if record.kind is Kind.KERNEL]
    if not kernel:
        return [f"no kernel log (dmesg or journalctl -k of {node or 'the node'}) to say why"]
    named = {record.node for record in kernel}
    if node is not None and node not in named and None not in named:
        return [f"no kernel log of {node}"]
    return []


def _ends_early(records: Sequence[SourceRecord]) -> list[str]:
    """Name the logs of ranks that end long before most others do."""
    ends = [
        (record.last_time, record) for record in records if record.rank is not None and record.last_time is not None
    ]
    if len(ends) < 3:
        return []
    usual = median([time for time, _ in ends])
    early = [(usual - time, record) for time, record in ends if usual - time > _EARLY]
    if len(early) * 4 > len(ends) and len(early) > 1:
        return []
    return [f"{record.path} (rank {record.rank}) ends {words.span(gap)} before the others" for gap, record in early[:4]]
