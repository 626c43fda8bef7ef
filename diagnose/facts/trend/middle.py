"""The median and the like, without the statistics module, whose imports cost more than the program's start."""

from __future__ import annotations

import math
from collections.abc import Sequence


def median(values: Sequence[float]) -> float:
    """Return the middle of one number or more, the mean of the middle two where their count is even."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def all_positive(values: Sequence[float]) -> bool:
    """Tell, in native passes, whether all numbers are finite and above zero."""
    return bool(values) and math.isfinite(sum(values)) and min(values) > 0


def stride_of(count: int, most: int) -> int:
    """Return the step with which to take about `most` of many points: a prime, for patterns with a period.

    Two is left out: steps that alternate between two levels are the commonest pattern.
    """
    least = -(-count // most)
    if least <= 1:
        return 1
    return next(each for each in range(max(3, least), 2 * least + 3) if all(each % by for by in range(2, each)))
