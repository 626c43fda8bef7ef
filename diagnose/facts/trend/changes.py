"""Finds where the level of a series changes: a rank test for one change, applied again to both sides.

The statistic is Wilcoxon's rank sum, standardised at every possible place and taken at its largest (the rank CUSUM of
Pettitt, 1979, with weights), so single outliers and heavy tails weigh nothing. It is divided by the square root of the
variance inflation that autocorrelation brings, measured on the two sides. The place is refined by least clipped
squares. `docs/slow-runs.md` says how often it errs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

from diagnose.classes import dataclass
from diagnose.facts.trend.middle import median, stride_of

CRITICAL = 3.2  # standard deviations; the false-alarm rate of a healthy run is measured with it
LEAST = 5  # points on either side of a change
SHORTEST = 10  # points that are tested at all
BLOCKS = 1000  # medians that a long series is reduced to before the search
DEPTH = 6
_EFFECT = 0.025  # logarithm of the ratio of two levels: smaller ones are no change
_SEPARATION = 15_000  # ways to draw the later points from all, where every one is slower than every earlier one
_CLEAR = 0.08  # smallest effect of a change in a short series that is told by complete separation
_LONG = 300  # points from which on means of batches tell autocorrelation
_ENOUGH = 10_000  # points that a spread is measured on
_MOST_MEMORY = 0.97  # autocorrelation of lag one that is reckoned with at most
_CAUTION = 0.4  # part by which the bound rises from no autocorrelation to a full one
_PLAIN = 3.0  # robust standard deviations of single points from which on an effect is too large to be wandering
_FAINT = 0.7  # smallest effect, in robust standard deviations of single points


@dataclass(frozen=True, slots=True)
class Level:
    """A stretch of points with one level."""

    start: int  # index of its first point
    end: int  # index behind its last point
    value: float  # median
    certainty: float = math.inf  # of the change at its start


def levels(values: Sequence[float]) -> list[Level]:
    """Cut a series of logarithms into stretches of one level; one stretch where nothing changed."""
    size = max(1, -(-len(values) // BLOCKS))
    blocks = _medians(values, size) if size > 1 else list(values)
    found = {at * size: z for at, z in _split(blocks, 0, DEPTH)}
    places = {0: math.inf}
    for at, certainty in sorted(found.items()):
        places[refined(values, at, max(places), _next(found, at, len(values)), 2 * size)] = certainty
    return _merged(values, places)


def _medians(values: Sequence[float], size: int) -> list[float]:
    """Return the medians of blocks; of an even number of points, the lower one of the middle two."""
    half = (size - 1) // 2
    whole = len(values) - len(values) % size
    found = [sorted(values[at : at + size])[half] for at in range(0, whole, size)]
    return [*found, median(values[whole:])] if whole < len(values) else found


def _next(found: dict[int, float], at: int, end: int) -> int:
    return min((other for other in found if other > at), default=end)


def _merged(values: Sequence[float], places: dict[int, float]) -> list[Level]:
    """Drop the changes that turn out too small, the smallest first."""
    starts = sorted(places)
    while True:
        ends = [*starts[1:], len(values)]
        parts = [Level(a, b, level_of(values[a:b]), places[a]) for a, b in zip(starts, ends, strict=True)]
        steps = [(abs(b.value - a.value), b.start) for a, b in pairwise(parts)]
        if not steps or min(steps)[0] >= _EFFECT:
            return parts
        starts.remove(min(steps)[1])


def _split(values: Sequence[float], offset: int, depth: int) -> list[tuple[int, float]]:
    place, certainty = one_change(values)
    if not depth or not place:
        return []
    left = _split(values[:place], offset, depth - 1)
    return [*left, (offset + place, certainty), *_split(values[place:], offset + place, depth - 1)]


def one_change(values: Sequence[float]) -> tuple[int, float]:
    """Find the one change of level in a series that is beyond doubt.

    Returns the index of the first point behind it and the certainty in standard deviations; (0, 0) where there is none.
    """
    count = len(values)
    if count < SHORTEST:
        return 0, 0.0
    ranks, tied = _ranks(values)
    middle = (count + 1) / 2
    spread = math.sqrt(max(tied, 1e-9))
    sums = list(accumulate(rank - middle for rank in ranks))
    best, place = 0.0, 0
    for k in range(LEAST, count - LEAST + 1):
        score = abs(sums[k - 1]) / math.sqrt(k * (count - k) / count)
        if score > best:
            best, place = score, k
    best /= spread
    if not place:
        return 0, 0.0
    place = refined(values, place, 0, count, max(5, count // 10))
    before, after = values[:place], values[place:]
    effect = abs(median(after) - median(before))
    noise = spread_of([*_centred(before), *_centred(after)])
    if effect < max(_EFFECT, _FAINT * noise):
        return 0, 0.0
    if _separate(before, after) and effect >= max(_CLEAR, 6 * noise):
        return place, max(best, CRITICAL)
    certainty = best / math.sqrt(_inflation(before, after, 0.0 if effect >= _PLAIN * noise else _CAUTION))
    return (place, certainty) if certainty >= CRITICAL else (0, 0.0)


def refined(values: Sequence[float], place: int, low: int, high: int, reach: int) -> int:
    """Move a change to the place, at most `reach` points away, where the two levels fit best.

    Squares of the distance from a level, clipped at three robust standard deviations, are summed on both sides.
    """
    before, after = values[low:place], values[place:high]
    if not before or not after:
        return place
    a, b = level_of(before), level_of(after)
    clip = max(3 * _noise(before, a, after, b), 1e-9) ** 2
    first, last = max(low + 1, place - reach), min(high - 1, place + reach)
    best, found, total = 0.0, first, 0.0
    for index in range(first, last):
        total += min((values[index] - a) ** 2, clip) - min((values[index] - b) ** 2, clip)
        if total < best:
            best, found = total, index + 1
    return found


def _noise(before: Sequence[float], a: float, after: Sequence[float], b: float) -> float:
    thin = stride_of(len(before) + len(after), _ENOUGH)
    return spread_of([*(value - a for value in before[::thin]), *(value - b for value in after[::thin])])


def level_of(values: Sequence[float]) -> float:
    """Return the median; of a long series, that of a part of its points."""
    return median(values[:: stride_of(len(values), _ENOUGH)])


def spread_of(values: Sequence[float]) -> float:
    """Return the robust standard deviation about zero; of a long series, that of a part of its points."""
    return 1.4826 * median(list(map(abs, values[:: stride_of(len(values), _ENOUGH)]))) if values else 0.0


def _centred(values: Sequence[float]) -> list[float]:
    level = median(values)
    return [value - level for value in values]


def _ranks(values: Sequence[float]) -> tuple[list[float], float]:
    """Give each value its rank, ties the mean of theirs; and the variance of the ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at + 1
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for index in order[at:end]:
            ranks[index] = (at + 1 + end) / 2
        at = end
    middle = (len(values) + 1) / 2
    return ranks, sum((rank - middle) ** 2 for rank in ranks) / max(1, len(values) - 1)


def _separate(before: Sequence[float], after: Sequence[float]) -> bool:
    """Are all later points, but for one stall in ten, beyond all earlier ones, and is that no chance?"""
    spare_before, spare_after = len(before) // 10, len(after) // 10
    a, b = sorted(before), sorted(after)
    apart = b[0] > a[len(a) - 1 - spare_before] if median(b) > median(a) else b[len(b) - 1 - spare_after] < a[0]
    return apart and math.comb(min(len(a) + len(b), 200), min(len(a), len(b), 100)) >= _SEPARATION


def _inflation(before: Sequence[float], after: Sequence[float], caution: float) -> float:
    """Return how much autocorrelation inflates the variance of sums: by lag one, and by means of batches.

    The correlation that is measured about two fitted levels is too small, by about (1 + 3 r) / n for either side
    (Kendall, 1954). The stronger it is, the fewer independent points a series has, and the less sure the estimate is:
    so more is asked for.
    """
    scores: list[float] = []
    for side in (before, after):
        ranks, variance = _ranks(side)
        middle, scale = (len(side) + 1) / 2, math.sqrt(max(variance, 1e-9))
        scores += [(rank - middle) / scale for rank in ranks]
    count = len(scores)
    lag = max(sum(a * b for a, b in pairwise(scores)) / count, 0.0)
    lag = min(lag + 2 * (1 + 3 * lag) / count, _MOST_MEMORY)
    inflation = max(1.0, (1 + lag) / (1 - lag), _batches(scores) if count >= _LONG else 1.0)
    return inflation * (1 + caution * lag) ** 2


def _batches(scores: Sequence[float]) -> float:
    size = max(5, math.isqrt(len(scores)) // 2)
    means = [sum(scores[at : at + size]) / size for at in range(0, len(scores) - size + 1, size)]
    return size * sum(mean * mean for mean in means) / len(means)
