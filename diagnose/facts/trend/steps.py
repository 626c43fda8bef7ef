"""Reads the course of the step time: warm-up, steady state, a drop that stays, slow drift, stalls."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from operator import lt, sub

from diagnose.classes import dataclass
from diagnose.facts.trend.changes import Level, level_of, levels, spread_of
from diagnose.facts.trend.middle import median

WARM_UP = 50  # iterations that warm-up lasts at most
_PROBE = 100  # iterations whose median is what warm-up is over at
_DROP = 0.028  # logarithm of the ratio of step times from which on it is a drop (2.8 %)
_LASTING = 0.15  # part of the run that a slow stretch covers at least, where the run recovers
_HARD = 0.1  # and its size
_CHANCE = 1.5  # standard deviations by which a quarter of a stretch may miss its bound
_DRIFT = 0.06
_STEADY_RISE = 0.75  # Kendall's tau over the parts of a run that drifts
_PARTS = 20
_STALL = 0.3  # a stall takes at least so much longer than the usual step
_STALL_SPREADS = 8.0
_REGULAR = 0.7  # part of the distances between stalls that are multiples of the period


@dataclass(frozen=True, slots=True)
class Drop:
    """A lasting rise of the step time, by index."""

    start: int
    end: int | None  # index behind the slow stretch, where it recovered
    before: float  # milliseconds
    after: float
    certainty: float


@dataclass(frozen=True, slots=True)
class Rise:
    """A slow rise of the step time."""

    before: float  # milliseconds, median of the first part
    after: float


@dataclass(frozen=True, slots=True)
class Slow:
    """Single slow steps."""

    places: tuple[int, ...]  # indices
    period: int | None  # in iterations
    extra: float  # median loss, milliseconds
    usual: float
    share: float  # of the whole time


@dataclass(frozen=True, slots=True)
class Course:
    """What became of the step time."""

    steady: tuple[int, ...]  # indices of the steady points
    spread: float  # robust standard deviation of their logarithms
    drop: Drop | None = None
    rise: Rise | None = None
    slow: Slow | None = None


def warm_up(times: Sequence[float]) -> int:
    """Count the first iterations of an attempt that are slower than what follows: at least one, at most `WARM_UP`."""
    if len(times) < 4:
        return min(1, len(times) - 1) if times else 0
    ahead = [math.log(time) for time in times[len(times) // 4 if len(times) < 20 else 5 : _PROBE]]
    usual = median(ahead)
    bound = usual + max(0.02, 3 * spread_of([value - usual for value in ahead]))
    most = min(WARM_UP, len(times) // 4)
    return next((at for at in range(1, most) if math.log(times[at]) <= bound), max(1, most))


def attempts(numbers: Sequence[int]) -> list[int]:
    """Return the indices at which the iteration number goes back: a job that started again."""
    back = list(map(lt, numbers[1:], numbers))
    return [0, *(at for at, yes in enumerate(back, 1) if yes)] if True in back else [0]


def course(numbers: Sequence[int], times: Sequence[float]) -> Course:
    """Read a whole run. `times` are step times in milliseconds, all above zero, one for each iteration number."""
    starts = attempts(numbers)
    kept: list[int] = []
    for start, end in zip(starts, [*starts[1:], len(times)], strict=True):
        kept += range(start + warm_up(times[start:end]), end)
    if not kept:
        return Course((), 0.0)
    logs = list(map(math.log, map(times.__getitem__, kept)))
    found = levels(logs)
    if len(found) > 1 and _drifts(logs):
        drop, rise = None, _rise(logs)
        local = _line(logs)
    else:
        drop, rise = _drop(found, kept, logs), None
        local = [value for part in found for value in [part.value] * (part.end - part.start)]
    residuals = list(map(sub, logs, local))
    spread = spread_of(residuals)
    slow = _stalls(numbers, kept, local, residuals, spread, sum(times))
    if slow:
        stalled = set(slow.places)
        kept = [at for at in kept if at not in stalled]
    return Course(tuple(kept), spread, drop, rise, slow)


def _drop(found: Sequence[Level], kept: Sequence[int], logs: Sequence[float]) -> Drop | None:
    """Choose the first rise that stays to the end; else a hard one that lasted."""
    for at in range(1, len(found)):
        base, start = found[at - 1], found[at].start
        rise = level_of(logs[start:]) - base.value
        end = len(logs)
        if rise < _DROP or any(part.value < base.value + rise / 2 for part in found[at:]):
            size = found[at].value - base.value
            end = next((part.start for part in found[at:] if part.value < base.value + size / 2), end)
            if size < _HARD or end - start < _LASTING * len(logs):
                continue
        after = level_of(logs[start:end])
        bound = (base.value + after) / 2
        if _holds(logs[start:end], bound, above=True) and _holds(logs[base.start : base.end], bound, above=False):
            recovered = kept[end] if end < len(logs) else None
            return Drop(kept[start], recovered, math.exp(base.value), math.exp(after), found[at].certainty)
    return None


def _holds(part: Sequence[float], bound: float, *, above: bool) -> bool:
    """Tell whether every quarter of a stretch lies on its side of the bound, but for what chance may do."""
    size = max(3, len(part) // 4)
    level = level_of(part)
    slack = _CHANCE * spread_of([value - level for value in part]) / math.sqrt(size)
    quarters = [level_of(part[at : at + size]) for at in range(0, max(1, len(part) - size + 1), size)]
    return all(each > bound - slack if above else each < bound + slack for each in quarters)


def _parts(logs: Sequence[float], count: int) -> list[float]:
    edges = [len(logs) * each // count for each in range(count + 1)]
    return [level_of(logs[a:b]) for a, b in itertools.pairwise(edges) if b > a]


def _drifts(logs: Sequence[float]) -> bool:
    """Tell whether a straight line fits better than a step, it rises enough, and rises throughout."""
    parts = _parts(logs, _PARTS)
    if len(parts) < _PARTS or parts[-1] - parts[0] < _DRIFT:
        return False
    pairs = [(a, b) for at, a in enumerate(parts) for b in parts[at + 1 :]]
    if sum((b > a) - (b < a) for a, b in pairs) / len(pairs) < _STEADY_RISE:
        return False
    fine = _parts(logs, min(200, len(logs)))
    slope = (median(fine[-len(fine) // 4 :]) - median(fine[: len(fine) // 4])) / (0.75 * len(fine))
    middle = median(fine)
    line = sum(abs(value - middle - slope * (at - (len(fine) - 1) / 2)) for at, value in enumerate(fine))
    return line < 0.97 * min(_step_cost(fine, at) for at in range(2, len(fine) - 1, max(1, len(fine) // 60)))


def _step_cost(values: Sequence[float], at: int) -> float:
    a, b = median(values[:at]), median(values[at:])
    return sum(abs(value - a) for value in values[:at]) + sum(abs(value - b) for value in values[at:])


def _rise(logs: Sequence[float]) -> Rise:
    parts = _parts(logs, _PARTS // 2)
    return Rise(math.exp(parts[0]), math.exp(parts[-1]))


def _line(logs: Sequence[float]) -> list[float]:
    parts = _parts(logs, _PARTS)
    return [parts[min(len(parts) - 1, at * len(parts) // len(logs))] for at in range(len(logs))]


def _stalls(
    numbers: Sequence[int],
    kept: Sequence[int],
    local: Sequence[float],
    residuals: Sequence[float],
    spread: float,
    whole: float,
) -> Slow | None:
    bound = max(math.log1p(_STALL), _STALL_SPREADS * spread)
    if max(residuals) <= bound:
        return None
    found = [index for index, value in enumerate(residuals) if value > bound]
    if not found or len(found) > len(kept) // 3:
        return None
    lost = [math.exp(local[index]) * math.expm1(residuals[index]) for index in found]
    places = tuple(kept[index] for index in found)
    usual = math.exp(level_of(local))
    return Slow(places, period_of([numbers[at] for at in places]), median(lost), usual, sum(lost) / whole)


def period_of(numbers: Sequence[int]) -> int | None:
    """Return the distance that most neighbouring numbers are a multiple of; None where there is no such distance."""
    gaps = [b - a for a, b in itertools.pairwise(numbers) if b - a > 1]
    if len(gaps) < 3:
        return None
    period, times = Counter(gaps).most_common(1)[0]
    fitting = sum(1 for gap in gaps if gap % period in (0, 1, period - 1))
    return period if times >= 2 and fitting >= _REGULAR * len(gaps) else None


def near(numbers: Sequence[int], places: Sequence[int], within: int = 1) -> int:
    """Count the numbers that have one of the sorted `places` at most `within` before them."""
    count = 0
    for number in numbers:
        at = bisect_left(places, number - within)
        count += at < len(places) and places[at] <= number
    return count
