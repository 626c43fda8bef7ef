"""All that can be said about the speed of a run, most telling first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.catalogue.condition import Seen
from diagnose.classes import replace
from diagnose.facts.model import SourceRecord
from diagnose.facts.run import Facts
from diagnose.reason import words
from diagnose.reason.incident import Incident
from diagnose.reason.result import Confidence
from diagnose.reason.slow.found import Found, percent
from diagnose.reason.slow.inside import DROP, inside, silence
from diagnose.reason.slow.numbers import steady_of
from diagnose.reason.slow.numerical import spikes
from diagnose.reason.slow.ranks import straggling
from diagnose.reason.slow.reference import SEVERE, Change, Reference, change_of

BELOW, MLP = "throughput-below-reference", "throughput-drop-mlp-recompute"


def findings_of(
    records: Sequence[SourceRecord], facts: Facts, reference: Reference, incidents: Sequence[Incident]
) -> list[Found]:
    """List what the numbers say, and what lines say about performance; the first that may be a root is the root.

    Arguments: the records; the merged facts; what the run is measured against; the incidents, of which those of the
    category performance are told here and not among the failures.
    """
    found = [*silence(records), *inside(records, facts), *_below(records, facts, reference)]
    found += [*straggling(records), *spikes(records), *_told(incidents)]
    found = _alike_once(found)
    found.sort(key=lambda each: (not each.root, each.pattern != DROP or "until" in each.captures))
    return found


def _alike_once(found: Sequence[Found]) -> list[Found]:
    """Tell once what the logs of several ranks show alike, with the ranks counted; the first log's lines are shown."""
    alike: dict[tuple[str, bool], list[Found]] = {}
    for each in found:
        alike.setdefault((each.pattern, each.root), []).append(each)
    told: list[Found] = []
    for same in alike.values():
        own = [each for each in same if each.evidence[:1] and each.evidence[0].path == same[0].evidence[0].path]
        logs = {each.evidence[0].path for each in same if each.evidence}
        if len(logs) > 1:
            ranks = sorted({each.evidence[0].rank for each in same if each.evidence[0].rank is not None})
            who = f" ({words.ranks(ranks)})" if len(ranks) > 1 else ""
            own[0] = replace(own[0], why=f"{own[0].why} {len(logs)} logs show the like{who}.")
        told += own if len(logs) > 1 else same
    return told


def _below(records: Sequence[SourceRecord], facts: Facts, reference: Reference) -> Iterator[Found]:
    steady = steady_of(records)
    change = change_of(steady, reference) if steady is not None else None
    if steady is None or change is None or change.percent > -reference.regression:
        return
    severe = change.percent <= -SEVERE
    captures = {
        "change": percent(change.percent),
        "below": percent(-change.percent),
        "run": f"{change.run:.4g}",
        "reference": f"{change.reference:.5g}",
        "unit": change.unit,
        "against": "the golden figure" if change.against == "golden" else change.against,
        "severity": "severe" if severe else "regression",
    }
    modules = facts.lookup("config.recompute_modules")
    recomputed = _recomputes_mlp(facts, modules)
    shown = (steady.evidence, *(words.lines([modules]) if recomputed and modules else ()))
    confidence: Confidence = "high" if abs(change.percent) - reference.regression > 2 * change.error else "medium"
    pattern = MLP if recomputed else BELOW
    yield Found(pattern, shown, _why(change, reference, steady.count), captures, confidence)


def _why(change: Change, reference: Reference, count: int) -> str:
    against = "the golden figure" if change.against == "golden" else f"the good run {change.against}"
    return (
        f"The median of {count} steady iterations is {change.run:.1f} {change.unit}; {against} is "
        f"{change.reference:.2f}: {change.percent:.1f} % ± {max(change.error, 0.05):.1f}. "
        f"A regression begins at {reference.regression:g} %, a severe one at {SEVERE:g} %."
    )


def _recomputes_mlp(facts: Facts, modules: Seen | None) -> bool:
    named = modules.value if modules is not None else None
    selective = facts.value("config.recompute_granularity") == "selective"
    return selective and isinstance(named, list | str) and "mlp" in named


def _told(incidents: Sequence[Incident]) -> Iterator[Found]:
    """Yield what lines themselves say about performance, once a pattern."""
    seen: set[str] = set()
    for each in incidents:
        pattern = each.pattern
        if pattern is None or each.category != "performance" or each.role != "root" or pattern.id in seen:
            continue
        seen.add(pattern.id)
        captures = dict(each.event.captures) if each.event else {}
        yield Found(pattern.id, (each.evidence,), f"The log says so at {words.place(each.evidence)}.", captures)
