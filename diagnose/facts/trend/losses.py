"""Finds jumps in the loss and the gradient norm, and iteration lines that stopped to show a loss."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from operator import sub

from diagnose.classes import dataclass
from diagnose.facts.trend.changes import spread_of
from diagnose.facts.trend.middle import median

WINDOW = 30  # points before a jump that it is measured against
AFTER = 20  # points after it in which it may come back
_SPREADS = 12.0  # robust standard deviations of single points
_LEAST = {"loss": math.log(1.5), "grad_norm": math.log(10.0)}
_MOST = 3


@dataclass(frozen=True, slots=True)
class Jump:
    """A value that left its level upward."""

    place: int  # index
    usual: float  # median of the points before
    back: bool


def jumps(values: Sequence[float], metric: str) -> list[Jump]:
    """Find at most three jumps of a metric, "loss" or "grad_norm"; only finite values above zero count.

    A jump exceeds the median of the points before it by a factor (1.5 for a loss, 10 for a gradient norm) and by twelve
    robust standard deviations of the whole series' steps from point to point. The first points, where a loss
    falls fast and norms are large, are left out.
    """
    known = [at for at, value in enumerate(values) if math.isfinite(value) and value > 0]
    logs = [math.log(values[at]) for at in known]
    if len(logs) < 2 * WINDOW:
        return []
    noise = spread_of([b - a for a, b in itertools.pairwise(logs)])
    bound = max(_LEAST[metric], _SPREADS * noise)
    # Most series never jump; that costs a few passes of native code.
    if max(map(sub, logs[2:], map(min, logs, logs[1:])), default=0.0) < bound / 2:
        return []
    found: list[Jump] = []
    at = WINDOW
    while at < len(logs) and len(found) < _MOST:
        # The cheap comparison first: a median is asked for only where a point stands out from the last one.
        if logs[at] - min(logs[at - 1], logs[at - 2]) < bound / 2:
            at += 1
            continue
        usual = median(logs[at - WINDOW : at])
        if logs[at] - usual < bound:
            at += 1
            continue
        after = logs[at + 1 : at + 1 + AFTER]
        back = len(after) < 5 or min(after) < usual + bound / 2
        found.append(Jump(known[at], math.exp(usual), back))
        at += AFTER + WINDOW
    return found


def vanished(losses: Sequence[float], skipped: Sequence[float]) -> int | None:
    """Return the first point from which on the loss is missing on every line that skipped nothing.

    Where it comes back later, None: then single lines were garbled. Points before must have shown one.
    """
    last = max((at for at, value in enumerate(losses) if not math.isnan(value)), default=None)
    if last is None:
        return None
    told = [at for at in range(last + 1, len(losses)) if at >= len(skipped) or not skipped[at] > 0]
    return told[0] if told else None
