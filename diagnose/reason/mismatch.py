"""Which rank called another collective than the others, where ranks say what they called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from diagnose.reason.incident import Incident


def odd_rank(told: Sequence[Incident]) -> int | None:
    """Name the rank whose collective differs from the majority, from captures rank/op/shape and other/other_op/…"""
    calls: dict[int, tuple[str, str]] = {}
    for each in told:
        captures = each.event.captures if each.event else {}
        for prefix, rank in (("", captures.get("rank")), ("other_", captures.get("other"))):
            if rank is not None and rank.isdigit():
                calls[int(rank)] = (captures.get(f"{prefix}op", ""), captures.get(f"{prefix}shape", ""))
    if len(calls) < 3:
        return None
    (usual, most), *rest = Counter(calls.values()).most_common(2)
    if rest and rest[0][1] == most:
        return None
    odd = [rank for rank, call in calls.items() if call != usual]
    return odd[0] if len(odd) == 1 else None
