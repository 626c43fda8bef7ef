"""Finds jumps in the loss and the gradient norm, and iteration lines that stopped to show a loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import sub

from diagnose.classes import dataclass
from diagnose.facts.trend.changes import spread_of
from diagnose.facts.trend.middle import all_positive, median, stride_of

WINDOW = 30  # points before a jump that it is measured against
AFTER = 20  # points after it in which it may come back
_SPREADS = 12.0  # robust standard deviations of single points
_LEAST = {"loss": math.log(1.5), "grad_norm": math.log(10.0)}
_MOST = 3
_HUGE = 700.0  # the largest logarithm whose number can be written
_ENOUGH = 500  # points that the noise is measured on


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
    # Most series never jump; that costs a few passes of native code.
    near = list(values)
    known: Sequence[int] = range(len(near))
    if not all_positive(near):
        known = [at for at, value in enumerate(near) if 0 < value < math.inf]
        near = [near[at] for at in known]
    if len(near) < 2 * WINDOW:
        return []
    bound = max(_LEAST[metric], _SPREADS * _noise(near))
    highest = math.exp(min(bound, _HUGE) / 2)
    if all(
        max(near[at : at + WINDOW]) < highest * min(near[max(0, at - 2) : at + WINDOW])
        for at in range(0, len(near), WINDOW)
    ):
        return []
    found: list[Jump] = []
    free = WINDOW
    for at in [at for at in range(WINDOW, len(near)) if near[at] > highest * min(near[at - 1], near[at - 2])]:
        usual = median(near[at - WINDOW : at])
        if at < free or len(found) == _MOST or near[at] < usual * highest**2:
            continue
        after = near[at + 1 : at + 1 + AFTER]
        back = len(after) < 5 or min(after) < usual * highest
        found.append(Jump(known[at], usual, back))
        free = at + AFTER + WINDOW
    return found


def _noise(values: Sequence[float]) -> float:
    """Return the robust standard deviation of the logarithm's steps from point to point; of a part of many points."""
    thin = stride_of(len(values), _ENOUGH)
    before, after = map(math.log, values[:-1:thin]), map(math.log, values[1::thin])
    return spread_of(list(map(sub, after, before)))


def vanished(losses: Sequence[float], skipped: Sequence[float]) -> int | None:
    """Return the first point from which on the loss is missing on every line that skipped nothing.

    Where it comes back later, None: then single lines were garbled. Points before must have shown one.
    """
    last = max((at for at, value in enumerate(losses) if not math.isnan(value)), default=None)
    if last is None:
        return None
    told = [at for at in range(last + 1, len(losses)) if at >= len(skipped) or not skipped[at] > 0]
    return told[0] if told else None
