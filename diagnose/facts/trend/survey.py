"""Measures one series: everything that reasoning asks about the course of a run, with the lines that show it."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Sequence

from diagnose.facts.series import RATES, Drift, LossMissing, Series, Shift, Spike, Stalls, Steady, Survey
from diagnose.facts.trend.losses import jumps, vanished
from diagnose.facts.trend.middle import all_positive, median
from diagnose.facts.trend.steps import Course, course
from diagnose.read.model import Evidence
from diagnose.typed import TypeVar

Show = Callable[[int], Evidence]  # the line of a point
Start = Callable[[int], int]  # the offset of a point's line
Around = Callable[[int], tuple[Evidence, ...]]  # telling lines near a point
_Number = TypeVar("_Number", int, float)
_NAMED = 40  # stalls that are named


def survey(series: Series, show: Show, start: Start, around: Around) -> Survey:
    """Measure a series.

    Arguments: the series; `show` gives the line of a point, `start` its offset, `around` the telling lines near it.
    """
    points, times = _times(series)
    ran = course(_picked(series.numbers, points), times)
    steady = _usual(ran, points)
    return Survey(
        series,
        steady=_steady(series, steady, ran.spread, show) if steady else None,
        shift=_shift(series, ran, points, show, around),
        drift=_drift(series, ran, steady, show),
        stalls=_stalls(series, ran, points, show),
        spikes=(*_spikes(series, "loss", show), *_spikes(series, "grad_norm", show)),
        missing=_missing(series, show, start),
    )


def _usual(ran: Course, points: Sequence[int]) -> Sequence[int]:
    """Return the steady points, without those behind a drop."""
    drop = ran.drop
    if drop is None:
        return _picked(points, ran.steady)
    slow = range(drop.start, len(points) if drop.end is None else drop.end)
    return [points[at] for at in ran.steady if at not in slow]


def _picked(column: Sequence[_Number], points: Sequence[int]) -> Sequence[_Number]:
    """Return the values of a column at points in their order; at once where the points have no gap."""
    if points and points[-1] - points[0] == len(points) - 1:
        return column[points[0] : points[-1] + 1]
    return [column[at] for at in points]


def _times(series: Series) -> tuple[Sequence[int], list[float]]:
    """Return the points that have a step time, and the times; rates stand in where no time is printed.

    Where the global batch size changes, only the points with the usual one can be compared.
    """
    name = "ms" if series.has("ms") else series.rate
    values = series.values[name].tolist() if name else []
    sizes, usual = _batches(series)
    points: Sequence[int] = range(len(values))
    if usual is not None or not all_positive(values):
        points = [
            at
            for at, value in enumerate(values)
            if 0 < value < math.inf and (usual is None or sizes is None or sizes[at] == usual)
        ]
        values = [values[at] for at in points]
    return points, [1000 / value for value in values] if name != "ms" else values


def _batches(series: Series) -> tuple[Sequence[float] | None, float | None]:
    """Return the global batch sizes and the most frequent one; None for it where there is only one."""
    sizes = series.values.get("batch")
    if sizes is None or len(set(sizes)) < 2:
        return sizes, None
    known = Counter(value for value in sizes if not math.isnan(value))
    return sizes, known.most_common(1)[0][0] if len(known) > 1 else None


def _steady(series: Series, points: Sequence[int], spread: float, show: Show) -> Steady:
    numbers = {name: _median(series.values.get(name), points) for name in ("ms", *RATES, "batch")}
    return Steady(
        numbers["ms"],
        numbers["tflops"],
        numbers["tokens_per_second"],
        numbers["samples_per_second"],
        numbers["batch"],
        series.numbers[points[0]],
        len(points) * series.every,
        spread,
        show(points[0]),
    )


def _median(column: Sequence[float] | None, points: Sequence[int]) -> float | None:
    if column is None:
        return None
    values = _picked(column, points)
    if math.isnan(sum(values)):
        values = [value for value in values if not math.isnan(value)]
    return median(values) if values else None


def _shift(series: Series, ran: Course, points: Sequence[int], show: Show, around: Around) -> Shift | None:
    drop = ran.drop
    if drop is None:
        return None
    at = points[drop.start]
    until = series.numbers[points[drop.end - 1]] if drop.end is not None else None
    return Shift(series.numbers[at], drop.before, drop.after, until, drop.certainty, show(at), around(at))


def _drift(series: Series, ran: Course, steady: Sequence[int], show: Show) -> Drift | None:
    if ran.rise is None or not steady:
        return None
    first, last = steady[0], steady[-1]
    return Drift(series.numbers[first], series.numbers[last], ran.rise.before, ran.rise.after, show(last))


def _stalls(series: Series, ran: Course, points: Sequence[int], show: Show) -> Stalls | None:
    slow = ran.slow
    if slow is None:
        return None
    places = [points[at] for at in slow.places]
    numbers = tuple(series.numbers[at] for at in places[:_NAMED])
    return Stalls(len(places), slow.period, slow.extra, slow.usual, slow.share, numbers, show(places[0]))


def _spikes(series: Series, metric: str, show: Show) -> tuple[Spike, ...]:
    column = series.values.get(metric)
    if column is None:
        return ()
    return tuple(
        Spike(metric, series.numbers[each.place], column[each.place], each.usual, each.back, show(each.place))
        for each in jumps(column, metric)
    )


def _missing(series: Series, show: Show, start: Start) -> LossMissing | None:
    losses = series.values.get("loss")
    if series.form != "megatron" or losses is None or not math.isnan(sum(losses)):
        return None  # a column without a gap: one native pass tells
    read = series.values.get("skipped", array("d", [math.nan]) * len(losses))
    # Only lines whose other fields were read can be said to lack a loss.
    points = [at for at in range(len(losses)) if not math.isnan(read[at])]
    place = vanished([losses[at] for at in points], [read[at] for at in points])
    if place is None:
        return None
    at = points[place]
    norm = series.values.get("grad_norm", read)[at]
    return LossMissing(series.numbers[at], len(points) - place, norm, show(at), start(at))
