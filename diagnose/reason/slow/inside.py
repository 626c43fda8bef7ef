"""What became slower inside one run: a drop that stays, a slow drift, stalls, silence before the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.facts.model import Event, SourceRecord, Step
from diagnose.facts.run import Facts
from diagnose.facts.series import Drift, Series, Shift, Stalls, Survey
from diagnose.facts.trend.steps import near
from diagnose.read.model import Evidence
from diagnose.reason import words
from diagnose.reason.slow.found import Found, milliseconds, percent

DROP, DRIFT, STALLS, SILENCE = (
    "throughput-drop-inside-run",
    "throughput-drift",
    "periodic-stalls",
    "silence-before-end",
)
_WORTH = 0.05  # part of the run's time that stalls cost before they are named
_HEAVY = 0.10  # and before they degrade a run, where nothing says that they are wanted
_ROUND = 50  # a period that is a multiple of this is most likely a save or an evaluation
_QUIET, _STEPS = 300.0, 30  # seconds, and step times, of silence that are named
_EVENTS, _REACH = 3, 4000  # matched lines near the onset that are shown, and how many lines away they may be

_UNITS = {"": "", "samples_per_second": "samples/s", "tokens_per_second": "tokens/s", "tflops": "TFLOP/s per GPU"}


def inside(records: Sequence[SourceRecord], facts: Facts) -> Iterator[Found]:
    """Yield what became slower, of all records; a drop that several sources print is one."""
    surveys = [(record, survey) for record in records for survey in record.surveys]
    surveys.sort(key=lambda pair: (pair[1].series.derived, -len(pair[1].series)))
    dropped = next(((record, each) for record, each in surveys if each.shift), None)
    if dropped is not None and dropped[1].shift is not None:
        yield _drop(dropped[1].shift, dropped[1].series, dropped[0])
    drifted = next((each for _, each in surveys if each.drift), None)
    if drifted is not None and drifted.drift is not None and dropped is None:
        yield _drift(drifted.drift, drifted.series)
    stalled = next(((record, each) for record, each in surveys if _worth(each)), None)
    if stalled is not None and stalled[1].stalls is not None:
        yield _stalls(stalled[1].stalls, stalled[0], facts)


def _drop(shift: Shift, series: Series, record: SourceRecord) -> Found:
    rate = _UNITS[series.rate]
    captures = {
        "iteration": str(shift.number),
        "before": _pace(shift.before, rate),
        "after": _pace(shift.after, rate),
        "each": "" if rate else " a step",
        "change": percent(shift.change),
        "drop": percent(-shift.change),
        "times": f"{shift.after / shift.before:.2f}",
    }
    stayed = "and stays so to the end of the log"
    if shift.until is not None:
        captures["until"] = str(shift.until)
        stayed = f"until iteration {shift.until}"
    median = "median rate is" if rate else "median step takes"
    why = (
        f"The {median} {captures['before']} before iteration {shift.number} and {captures['after']} from "
        f"there on, {stayed}; {shift.certainty:.1f} standard deviations in a rank test."
    )
    around = (*shift.around, *_events_near(record, shift.evidence))
    if around:
        why += f" Near it: {', '.join(words.place(each) for each in around[:_EVENTS])}."
    if record.sampled or series.every > 1:
        why += " A sample of the iterations was read, so the onset is known to the nearest one read."
    evidence = (shift.evidence, *dict.fromkeys(around))
    return Found(DROP, evidence, why, captures, "high" if shift.certainty >= 6 else "medium")


def _pace(ms: float, rate: str) -> str:
    """Write a step time; where a rate is printed and it was made of that, the rate."""
    return f"{1000 / ms:,.4g} {rate}" if rate else milliseconds(ms)


def _events_near(record: SourceRecord, line: Evidence) -> list[Evidence]:
    found = [each.evidence for each in record.events if _close(each, line)]
    return sorted(found, key=lambda each: abs(each.line - line.line))[:_EVENTS]


def _close(event: Event, line: Evidence) -> bool:
    return line.line - _REACH <= event.evidence.line <= line.line + 20 and event.evidence.line != line.line


def _drift(drift: Drift, series: Series) -> Found:
    rate = _UNITS[series.rate]
    captures = {
        "what": "The rate fell" if rate else "The step time grew",
        "first": str(drift.first),
        "last": str(drift.last),
        "before": _pace(drift.before, rate),
        "after": _pace(drift.after, rate),
        "change": percent(drift.change),
        "drop": percent(-drift.change),
    }
    why = (
        f"{captures['what']} steadily from {captures['before']} near iteration {drift.first} to {captures['after']} "
        f"near iteration {drift.last}; a straight line fits it better than a step."
    )
    return Found(DRIFT, (drift.evidence,), why, captures)


def _worth(survey: Survey) -> bool:
    stalls = survey.stalls
    return stalls is not None and stalls.count >= 4 and stalls.share >= _WORTH


def _stalls(stalls: Stalls, record: SourceRecord, facts: Facts) -> Found:
    cause = _wanted(stalls, record, facts)
    captures = {
        "count": str(stalls.count),
        "extra": milliseconds(stalls.extra),
        "usual": milliseconds(stalls.usual),
        "share": percent(stalls.share * 100),
        "first": str(stalls.numbers[0]),
    }
    if stalls.period is not None:
        captures["period"] = str(stalls.period)
    if cause:
        captures["at"] = cause
    every = f" every {stalls.period} iterations" if stalls.period else ", at no regular distance"
    why = (
        f"{stalls.count} iterations take {captures['extra']} longer than the usual {captures['usual']}{every}; "
        f"together they cost {captures['share']} % of the time."
    )
    rounded = stalls.period is not None and stalls.period % _ROUND == 0
    heavy = stalls.share >= _HEAVY and not cause and not rounded
    return Found(STALLS, (stalls.evidence,), why, captures, "medium", root=heavy)


def _wanted(stalls: Stalls, record: SourceRecord, facts: Facts) -> str:
    """Say what stands beside the stalls: "save" or "evaluation"; "" where nothing does."""
    kinds = (("save", ("save", "saved"), "save_interval"), ("evaluation", ("eval",), "eval_interval"))
    for name, steps, key in kinds:
        places = sorted({step.number for step in record.steps if step.kind in steps and step.number is not None})
        if 2 * near(stalls.numbers, places) >= len(stalls.numbers):
            return name
        interval = facts.value(f"config.{key}")
        if isinstance(interval, int) and interval > 0 and stalls.period and stalls.period % interval == 0:
            return name
    return ""


def silence(records: Sequence[SourceRecord]) -> Iterator[Found]:
    """Yield the log that went on long after the last iteration of a run that has not reached its end."""
    for record in records:
        survey = next((each for each in record.surveys if each.steady), None)
        last = next((step for step in reversed(record.steps) if step.kind == "iteration"), None)
        if survey is None or survey.steady is None or last is None or last.time is None or record.last_time is None:
            continue
        if record.tail and 0 < record.tail[-1].line <= last.evidence.line:
            continue  # nothing stands behind it; the later stamp is another clock's
        quiet = record.last_time - last.time
        usual = (survey.steady.ms or 0.0) / 1000
        done = last.number is None or not last.metrics.get("total") or last.number >= last.metrics["total"]
        if done or quiet < max(_QUIET, _STEPS * usual) or any(_ends(step, last) for step in record.steps):
            continue
        after = next((step.kind for step in reversed(record.steps) if step.start > last.start), "")
        captures = {
            "iteration": str(last.number),
            "total": f"{last.metrics['total']:.0f}",
            "seconds": f"{quiet:.0f}",
            "quiet": words.span(quiet),
        }
        if after in ("save", "eval"):
            captures["during"] = {"save": "save", "eval": "evaluation"}[after]
        why = (
            f"{words.place(last.evidence)} is the last iteration ({last.number} of {captures['total']}); the log "
            f"goes on for {captures['quiet']}, where a step takes {milliseconds(usual * 1000)}."
        )
        yield Found(SILENCE, (last.evidence, *record.tail[-1:]), why, captures)


def _ends(step: Step, last: Step) -> bool:
    """Tell whether a line after the last iteration says that the training loop was left on purpose."""
    return step.start > last.start and (step.kind == "exit" or step.text == "after training is done")
