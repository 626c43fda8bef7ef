"""Judges a configuration that has not run: which patterns say that it would fail, in which releases, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from diagnose.catalogue.condition import Outcome, evaluate
from diagnose.catalogue.model import Catalogue, Pattern
from diagnose.facts.defaults import constructed_defaults
from diagnose.facts.model import Observation
from diagnose.facts.releases import Release, releases_for, spanning, spans
from diagnose.facts.run import Facts
from diagnose.facts.settled import settled
from diagnose.reason import words
from diagnose.reason.finding import make_finding
from diagnose.reason.plan import plan_of
from diagnose.reason.printed import Printed, printed_by
from diagnose.reason.result import ConfigValue, Finding, Fix
from diagnose.reason.scope import EventScope

ForecastVerdict = Literal["would_fail", "would_fail_later", "at_risk", "no_conflict"]
_NO_FAILURE = ("performance", "gpu-memory")  # categories of patterns that no error belongs to
_OUTSIDE = ("env.", "version.te", "version.torch", "run.expandable_segments")  # facts that no configuration holds


@dataclass(frozen=True, slots=True)
class Foretold:
    """One thing that a configuration leads to."""

    finding: Finding
    printed: Printed | None  # the error as it would be printed; None for what prints none
    releases: str  # for which releases it holds, in words; "" where the release is given
    depends_on: tuple[str, ...] = ()  # what nobody said and what decides it: names of variables and programs


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a configuration would lead to, before it has run."""

    verdict: ForecastVerdict
    summary: str  # one sentence a person can act on
    framework: str  # megatron-core | megatron-lm | megatron-bridge | nemo
    versions: dict[str, str]  # as given, or the lines of releases that were tried
    fails: tuple[Foretold, ...] = ()  # refused at start-up
    later: tuple[Foretold, ...] = ()  # accepted at start-up, fails afterwards
    depends: tuple[Foretold, ...] = ()  # fails or not, by what the configuration does not say
    risks: tuple[Foretold, ...] = ()  # runs, but slower or tighter than it should
    plan: tuple[Fix, ...] = ()  # all fixes that apply, in the order to try them
    config: dict[str, ConfigValue] = field(default_factory=dict)  # what somebody set


@dataclass(slots=True)
class _Held:
    """A pattern that holds: where first, and for which releases."""

    pattern: Pattern
    outcome: Outcome
    releases: list[Release]
    depends_on: tuple[str, ...] = ()


def forecast(catalogue: Catalogue, seen: Sequence[Observation], framework: str) -> Forecast:
    """Judge a configuration.

    Arguments: the catalogue; `seen`, what is known of the configuration, its environment and its versions; `framework`, the
    one that will construct it (megatron-core, megatron-lm, megatron-bridge or nemo).
    """
    given = Facts(seen)
    releases = releases_for(framework, given)
    exact = len(releases) == 1
    worlds = [(release, _constructed(seen, [release], framework)) for release in releases]

    def held(conditions: Mapping[str, str]) -> list[Foretold]:
        found = _held(catalogue, conditions, worlds)
        return [_foretold(each, _constructed(seen, each.releases, framework), framework, releases) for each in found]

    now, after = held(catalogue.predictions), held(catalogue.later)
    errors = [each for each in now if _fails(each) and not each.depends_on]
    later = [each for each in after if not each.depends_on]
    named = {each.finding.pattern for each in (*errors, *later)}
    depends = [each for each in (*now, *after) if each.depends_on and each.finding.pattern not in named]
    risks = [each for each in now if not _fails(each) and not each.depends_on]
    verdict: ForecastVerdict = (
        "would_fail" if errors else "would_fail_later" if later else "at_risk" if risks else "no_conflict"
    )
    first = [*errors, *later, *risks]
    return Forecast(
        verdict=verdict,
        summary=_summary(verdict, first),
        framework=framework,
        versions=given.versions() if exact else {releases[0].name: spans(releases, releases)},
        fails=tuple(errors),
        later=tuple(later),
        depends=tuple(depends),
        risks=tuple(risks),
        plan=plan_of(first[0].finding, [each.finding for each in first[1:]]) if first else (),
        config=_values(worlds[-1][1]),
    )


def _constructed(seen: Sequence[Observation], releases: Sequence[Release], framework: str) -> Facts:
    """Give the configuration as the newest of the releases would hold it: defaults under it, its own changes on top."""
    core = releases[-1].core
    known = [
        *constructed_defaults(core, framework),
        *spanning(releases),
        *seen,
        Observation("run.framework", framework, None, "derived"),
    ]
    return Facts([*known, *settled(Facts(known), core, framework)])


def _held(catalogue: Catalogue, conditions: Mapping[str, str], worlds: Sequence[tuple[Release, Facts]]) -> list[_Held]:
    found: dict[str, _Held] = {}
    for name, condition in conditions.items():
        pattern = catalogue.patterns[name]
        for release, facts in worlds:
            outcome = evaluate(condition, EventScope(facts, pattern, None, frozenset(), {}))
            before = found.get(name)
            if outcome.answer:
                holding = [*(before.releases if before and not before.depends_on else []), release]
                found[name] = _Held(pattern, outcome, holding)
            elif (undecided := _undecided(outcome, pattern)) and (before is None or before.depends_on):
                found[name] = _Held(pattern, outcome, [*(before.releases if before else []), release], undecided)
    return list(found.values())


def _undecided(outcome: Outcome, pattern: Pattern) -> tuple[str, ...]:
    """Name what would decide a failure, where all of it lies outside of the configuration: variables, programs."""
    missing = [name for name in outcome.missing if not name.startswith("let.")]
    if outcome.answer is not None or not missing or pattern.role != "root" or pattern.category in _NO_FAILURE:
        return ()
    return tuple(words.bare(name) for name in missing) if all(name.startswith(_OUTSIDE) for name in missing) else ()


def _foretold(held: _Held, facts: Facts, framework: str, tried: Sequence[Release]) -> Foretold:
    evidence = words.lines(held.outcome.used.values())
    told = words.facts(held.outcome)
    if held.depends_on:
        why = f"It depends on {', '.join(held.depends_on)}, which nothing here sets. Known: {told}."
    else:
        why = f"The configuration holds it: {told}."
    scope = EventScope(facts, held.pattern, None, frozenset(), {})
    sure = held.pattern.category not in _NO_FAILURE and not held.depends_on
    confidence: Literal["high", "medium"] = "high" if sure else "medium"
    finding = make_finding(held.pattern, scope, evidence, confidence, why, framework)
    printed = printed_by(held.pattern, facts, framework)
    return Foretold(finding, printed, spans(held.releases, tried), held.depends_on)


def _fails(each: Foretold) -> bool:
    return each.finding.role == "root" and each.finding.category not in _NO_FAILURE


def _summary(verdict: ForecastVerdict, found: Sequence[Foretold]) -> str:
    if not found:
        return "No known conflict: nothing in this configuration is known to fail."
    first = found[0]
    text = first.finding.summary.rstrip(". ")
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    where = f" in {first.releases}" if first.releases else ""
    lead = {
        "would_fail": "Would fail at start-up",
        "would_fail_later": "Would start and fail later",
        "at_risk": "No known conflict, but a risk",
    }[verdict]
    return f"{lead}{where}: {text}{more}."


def _values(facts: Facts) -> dict[str, ConfigValue]:
    """List what somebody set; defaults would only hide it."""
    found: dict[str, ConfigValue] = {}
    for key, seen in facts.observations("config").items():
        known = facts.lookup(f"config.{key}")
        if known is not None and seen.origin != "default":
            found[key] = ConfigValue(seen.value, words.origin(known))
    return found
