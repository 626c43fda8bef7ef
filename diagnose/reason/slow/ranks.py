"""Names a rank that is slower than the others: from a straggler detector's reports, or from step times a rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from diagnose.facts.model import Observation, SourceRecord
from diagnose.facts.series import Survey
from diagnose.facts.trend.changes import spread_of
from diagnose.facts.trend.middle import median
from diagnose.read.model import Evidence
from diagnose.reason import words
from diagnose.reason.slow.found import Found, percent

STRAGGLING = "straggling-rank"
_SLOWER = 0.10  # part by which the slowest rank must lag
_OFTEN = 0.6  # part of the reports that must name it
_POINTS, _RANKS = 20, 4  # steps of a rank, and ranks, that can be compared


def straggling(records: Sequence[SourceRecord]) -> Iterator[Found]:
    """Yield the rank that a detector names again and again, or whose steps take longest."""
    seen = [each for record in records for each in record.observations if each.key.startswith("straggler.")]
    found = _reported(seen) or _named(seen) or _timed(records)
    if found is not None:
        yield found


def _reported(seen: Sequence[Observation]) -> Found | None:
    reports = [each for each in seen if each.key == "straggler.report" and isinstance(each.value, dict)]
    slow = [each for each in reports if _lag(each) >= _SLOWER]
    if len(slow) < 2 or len(slow) * 2 < len(reports):
        return None
    rank, count = Counter(_of(each, "most_rank") for each in slow).most_common(1)[0]
    if count < _OFTEN * len(reports):
        return None
    own = [each for each in slow if _of(each, "most_rank") == rank]
    lag = median([_lag(each) for each in own])
    value = own[-1].value
    extras = [
        f"{name} {value[name]}" for name in ("MnClk", "MxTmp", "MnPwr") if isinstance(value, dict) and name in value
    ]
    captures = {"rank": f"{rank:.0f}", "slower": percent(lag * 100), "reports": str(count), "of": str(len(reports))}
    if extras:
        captures["extras"] = ", ".join(extras)
    why = (
        f"Rank {rank:.0f} is the slowest in {count} of {len(reports)} straggler reports, {captures['slower']} % slower "
        f"than the fastest{': ' + captures['extras'] if extras else ''}."
    )
    return Found(STRAGGLING, _lines(own), why, captures, "high" if count >= 3 else "medium")


def _named(seen: Sequence[Observation]) -> Found | None:
    warnings = [each for each in seen if each.key == "straggler.named" and isinstance(each.value, list)]
    ranks = Counter(rank for each in warnings if isinstance(each.value, list) for rank in each.value)
    if not ranks:
        return None
    rank, count = ranks.most_common(1)[0]
    if count < _OFTEN * len(warnings):
        return None
    own = [each for each in warnings if isinstance(each.value, list) and rank in each.value]
    captures = {"rank": str(rank), "reports": str(count), "of": str(len(warnings))}
    why = f"The straggler detection names rank {rank} in {count} of its {len(warnings)} warnings."
    return Found(STRAGGLING, _lines(own), why, captures, "high" if count >= 3 else "medium")


def _timed(records: Sequence[SourceRecord]) -> Found | None:
    """Compare the step times that ranks print for themselves; ranks that wait for each other print the same."""
    times: dict[int, tuple[float, Survey]] = {}
    for record in records:
        for survey in record.surveys:
            rank = survey.series.rank if survey.series.rank is not None else record.rank
            steady = survey.steady
            if rank is not None and steady is not None and steady.ms and steady.count >= _POINTS:
                times[rank] = (steady.ms, survey)
    if len(times) < _RANKS:
        return None
    usual = median([ms for ms, _ in times.values()])
    rank, (slowest, survey) = max(times.items(), key=lambda each: each[1][0])
    spread = spread_of([ms - usual for ms, _ in times.values()])
    if survey.steady is None or slowest < usual * (1 + _SLOWER) or slowest - usual < 6 * spread:
        return None
    slower = (slowest / usual - 1) * 100
    captures = {"rank": str(rank), "slower": percent(slower), "of": str(len(times))}
    why = f"The steps of {words.ranks([rank])} take {slower:.1f} % longer than the median of {len(times)} ranks."
    return Found(STRAGGLING, (survey.steady.evidence,), why, captures)


def _of(seen: Observation, key: str) -> float:
    value = seen.value.get(key) if isinstance(seen.value, dict) else None
    return float(value) if isinstance(value, int | float) else 0.0


def _lag(seen: Observation) -> float:
    least = _of(seen, "least")
    return _of(seen, "most") / least - 1 if least > 0 else 0.0


def _lines(seen: Sequence[Observation]) -> tuple[Evidence, ...]:
    return tuple(each.evidence for each in seen[:4] if each.evidence is not None)
