"""Compares runs: the steps in order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from diagnose.catalogue.condition import Outcome, Seen, evaluate
from diagnose.catalogue.model import Catalogue, Pattern
from diagnose.facts.model import Observation, SourceRecord
from diagnose.reason import words
from diagnose.reason.compare.changes import change_between
from diagnose.reason.compare.differences import config_differences, environment_differences, version_differences
from diagnose.reason.compare.model import Change, Comparison, Noticed
from diagnose.reason.compare.side import Measurement, measure
from diagnose.reason.finding import make_finding
from diagnose.reason.scope import EventScope

MARGIN = 1.0  # percent


def compare(
    runs: Sequence[tuple[str, str, Sequence[SourceRecord]]],
    catalogue: Catalogue,
    *,
    given: Sequence[Observation] = (),
    margin: float = MARGIN,
) -> Comparison:
    """Compare runs; every later one is held against the first.

    Arguments: `runs`, at least two of (short name, path, records); the catalogue that made the records; `given`, facts
    that hold for all; `margin`, the percentage below which a difference means nothing in practice.
    """
    measured = [measure(name, path, records, catalogue, given) for name, path, records in runs]
    first = measured[0]
    changes = tuple(change_between(first, later, margin) for later in measured[1:])
    findings = _findings(measured, catalogue, margin)
    everything = [each.run for each in measured]
    return Comparison(
        verdict=changes[-1].verdict,
        summary=_summary(measured, changes, findings),
        margin_percent=margin,
        runs=tuple(each.side for each in measured),
        changes=changes,
        findings=findings,
        config=config_differences(everything, catalogue),
        environment=environment_differences(everything, catalogue),
        versions=version_differences(everything),
        missing=_missing(measured),
    )


def _findings(measured: Sequence[Measurement], catalogue: Catalogue, margin: float) -> tuple[Noticed, ...]:
    """Ask every pattern that knows comparisons about every pair; of pairs with one later run, the closest speaks."""
    found: dict[tuple[str, str], tuple[int, Noticed]] = {}
    for before, after in combinations(measured, 2):
        change = change_between(before, after, margin)
        facts = _pair(before, after, change)
        distance = len(config_differences([before.run, after.run], catalogue))
        told = bool(before.run.config and after.run.config)
        for name, condition in catalogue.comparisons.items():
            if ".config." in condition and not told:
                continue  # a run that does not print its configuration does not have the default one
            pattern = catalogue.patterns[name]
            scope = EventScope(after.facts, pattern, None, after.failures, facts)
            outcome = evaluate(condition, scope)
            key = (name, after.side.name)
            if outcome.answer and (key not in found or distance < found[key][0]):
                found[key] = (distance, _noticed(pattern, scope, outcome, before, after, change))
    return tuple(noticed for _, noticed in found.values())


def _noticed(
    pattern: Pattern, scope: EventScope, outcome: Outcome, before: Measurement, after: Measurement, change: Change
) -> Noticed:
    names = {"before": before.side.name, "after": after.side.name}
    told = [_told(key, seen, names) for key, seen in outcome.used.items() if key.startswith(("before.", "after."))]
    why = f"{change.why} {'; '.join(told)}." if told else change.why
    evidence = words.lines(outcome.used.values())
    finding = make_finding(pattern, scope, evidence, "medium", why, after.framework)
    return Noticed(before.side.name, after.side.name, finding)


def _told(key: str, seen: Seen, names: dict[str, str]) -> str:
    side, _, fact = key.partition(".")
    return f"{words.fact(fact, seen)} in {names[side]}"


def _pair(before: Measurement, after: Measurement, change: Change) -> dict[str, Seen]:
    """Name the facts of a pair: `before.*`, `after.*` and `change.*`."""
    facts = {f"before.{key}": seen for key, seen in before.known().items()}
    facts |= {f"after.{key}": seen for key, seen in after.known().items()}
    facts["change.outcome"] = Seen(change.outcome)
    speed, memory = change.throughput, change.memory
    if speed is not None:
        facts["change.throughput"] = Seen(speed.percent, after.steady.evidence if after.steady else None)
        facts["change.speed"] = Seen(speed.direction)
        facts["change.sure"] = Seen(abs(speed.percent) > speed.error_percent)
    if memory is not None:
        facts["change.peak"] = Seen(memory.percent)
        facts["change.peak_bytes"] = Seen(memory.after - memory.before)
        facts["change.memory"] = Seen(memory.direction)
    return facts


def _missing(measured: Sequence[Measurement]) -> tuple[str, ...]:
    found = []
    for each in measured:
        name = each.side.name
        if each.side.speed is None:
            found.append(f"no iteration lines with a step time in {name}")
        if not each.side.peaks:
            found.append(f"no memory line in {name}")
        if not each.run.config:
            found.append(f"no configuration in {name}; its differences are not known")
    batches = {each.side.name: each.steady.batch for each in measured if each.steady and each.steady.batch}
    if len(set(batches.values())) > 1:
        sizes = ", ".join(f"{size:.0f} in {name}" for name, size in batches.items())
        found.append(f"runs of the same work: the global batch size is {sizes}")
    return tuple(found)


def _summary(measured: Sequence[Measurement], changes: Sequence[Change], findings: Sequence[Noticed]) -> str:
    last = changes[-1]
    name, first = last.name, measured[0].side.name
    lead = {
        "better": f"{name} is better than {first}",
        "worse": f"{name} is worse than {first}",
        "mixed": f"{name} no longer fails, but is slower than {first}",
        "no_difference": f"{name} and {first} do not differ",
        "unknown": f"{name} and {first} cannot be compared: they print no number in common",
    }[last.verdict]
    failed = {"broke": f"{name} fails, {first} did not", "fixed": f"{name} no longer fails as {first} did"}
    if last.verdict in ("better", "worse"):
        lead = failed.get(last.outcome, lead)
    told = last.why.partition(". ")[2].rstrip(".") if last.verdict != "unknown" else ""
    noticed = next((each.finding.title for each in findings if each.after == name), "")
    return ". ".join(part for part in (f"{lead}{f': {told}' if told else ''}", noticed) if part) + "."
