"""Finds the iteration at which a step time changed, where the lines that were read leave a gap there."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from diagnose.classes import replace
from diagnose.facts.reader import TextView
from diagnose.facts.series import Series, Shift
from diagnose.facts.series_forms import FORMS, Form, number_of
from diagnose.facts.series_meter import SeriesMeter
from diagnose.facts.trend.middle import median
from diagnose.read.model import Line

_NEAR = 48 * 1024  # bytes that are read line by line at the end
_PROBED = 48  # iteration lines whose median tells on which side of the change a place lies
_WALK = 400  # lines that are looked at for them
_ROUNDS = 40


def placed(shift: Shift, series: Series, meter: SeriesMeter, text: TextView) -> Shift:
    """Return the change at its true line, where lines were left out at its onset and the source can be read again.

    Arguments: the change as the sample shows it; the series; the meter that collected it; the text.
    """
    form = next((each for each in FORMS if each.name == series.form and each.fields[0][0] == "ms"), None)
    index = next((at for at, number in enumerate(series.numbers) if number == shift.number), 0)
    if form is None or form.number is None or index < 2 or not _left_out(series, index):
        return shift
    reach = 2 if series.every > 1 else 1
    low = meter.line(series, index - reach, text)
    high = meter.line(series, min(index + reach - 1, len(series) - 1), text)
    found = _search(form, low, high, math.sqrt(shift.before * shift.after), text)
    if found is None:
        return shift
    number = re.search(form.number.decode(), found.text)
    if number is None:
        return shift
    return replace(shift, number=int(number[1]), evidence=text.evidence(found))


def _left_out(series: Series, index: int) -> bool:
    usual = series.numbers[index - 1] - series.numbers[index - 2]
    return series.every > 1 or series.numbers[index] - series.numbers[index - 1] > 2 * max(usual, 1)


def _search(form: Form, low: Line, high: Line, bound: float, text: TextView) -> Line | None:
    """Halve the stretch between a fast and a slow line; `bound` is the step time between the two levels."""
    start, end = low, high
    for _ in range(_ROUNDS):
        if end.start - start.end <= _NEAR:
            break
        probe = text.line_at((start.end + end.start) // 2)
        told = list(_told(form, probe, end.start, text))[:_PROBED]
        if not told:
            return None
        if median([time for _, time in told]) > bound:
            end = told[0][0]
        else:
            start = told[-1][0]
    # The level behind the change must be seen too, so some lines behind the stretch count.
    told = list(_told(form, start, end.end + _NEAR // 2, text))
    best, found, total = 0.0, None, 0.0
    for at, (_, time) in enumerate(told[:-1]):
        total += max(-0.5, min(0.5, math.log(time / bound)))
        if total < best:
            best, found = total, told[at + 1][0]
    return found


def _told(form: Form, line: Line, end: int, text: TextView) -> Iterator[tuple[Line, float]]:
    """Yield the iteration lines from a line on, with their step times, up to an offset."""
    field = re.compile(form.fields[0][1])
    for each in [line, *text.after(line, _WALK)]:
        if each.start > end:
            return
        found = field.search(each.text.encode("utf-8", "replace"))
        time = number_of(found[1]) * form.fields[0][2] if found else 0.0
        if time > 0:
            yield each, time
