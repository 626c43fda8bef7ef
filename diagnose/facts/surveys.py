"""Measures all series of a source and adds the lines around what changed."""

from __future__ import annotations

import re

from diagnose.classes import replace
from diagnose.facts.onset import placed
from diagnose.facts.progress_lines import read_progress
from diagnose.facts.reader import TextView
from diagnose.facts.series import Series, Survey
from diagnose.facts.series_meter import SeriesMeter
from diagnose.facts.trend.survey import survey
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence

MOST = 64  # series of one source that are measured
_SHORTEST = 4  # points
_BEFORE, _AFTER, _KEPT = 60, 20, 4
_TELLING = Lazy(
    r"warn|error|fail|throttl|thermal|clock|power|slow|straggl|retr(?:y|ie)|time[d -]?out|fall(?:ing)? ?back|"
    r"NET/Socket|link|flap|\bXid|\bECC|degrad|checkpoint|validation|evaluat|resum|restart|data ?loader|prefetch|\bgc\b|"
    r"garbage|offload|swap|recompil|cache flush|epoch|batch size",
    re.IGNORECASE,
)


def surveys_of(meter: SeriesMeter, text: TextView, *, brief: bool = False) -> list[Survey]:
    """Measure the series that a meter collected, the longest first.

    Arguments: the meter, after the whole source was fed; the text, to show the lines; `brief` leaves out the lines
    around what changed, for one of very many sources that say the same.
    """
    found: list[Survey] = []
    for series in meter.series()[:MOST]:
        if len(series) >= _SHORTEST:
            series.rank = meter.line(series, 0, text).rank
            found.append(_survey(series, meter, text, brief=brief))
    for each in found:
        each.series.close()
    return found


def _survey(series: Series, meter: SeriesMeter, text: TextView, *, brief: bool) -> Survey:
    def show(index: int) -> Evidence:
        return meter.show(series, index, text)

    def around(index: int) -> tuple[Evidence, ...]:
        return () if brief else telling(meter, series, index, text)

    def start(index: int) -> int:
        return meter.line(series, index, text).start

    found = survey(series, show, start, around)
    if found.shift is None:
        return found
    return replace(found, shift=placed(found.shift, series, meter, text))


def telling(meter: SeriesMeter, series: Series, index: int, text: TextView) -> tuple[Evidence, ...]:
    """Return the lines near a point that may say why something changed there: warnings, saves, fallbacks."""
    line = meter.line(series, index, text)
    near = [*text.before(line, _BEFORE), *text.after(line, _AFTER)]
    kept = [each for each in near if _TELLING.search(each.body) and not read_progress(each.body)]
    kept = sorted(kept, key=lambda each: abs(each.number - line.number))[:_KEPT]
    return tuple(text.evidence(each) for each in sorted(kept, key=lambda each: each.number))
