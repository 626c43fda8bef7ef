"""Judges a configuration that has not run: which patterns say that it would fail, in which releases, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnose.catalogue.condition import Outcome, Seen, evaluate
from diagnose.catalogue.model import Catalogue, Pattern
from diagnose.classes import dataclass, field, replace
from diagnose.facts.defaults import constructed_defaults, unknown_to
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
from diagnose.typed import Literal

ForecastVerdict = Literal["would_fail", "would_fail_later", "at_risk", "no_conflict"]
_NO_FAILURE = ("performance", "gpu-memory")  # categories of patterns that no error belongs to
# Facts that no configuration holds.
_OUTSIDE = ("env.", "version.te", "version.torch", "run.expandable_segments", "run.gpu_model")
_LEADS = {
    "would_fail": "Would fail at start-up",
    "would_fail_later": "Would start and fail later",
    "at_risk": "No known conflict, but a risk",
}


@dataclass(frozen=True, slots=True)
class Foretold:
    """One thing that a configuration leads to."""

    finding: Finding
    printed: tuple[Printed, ...]  # the error as it would be printed, a wording each; () for what prints none
    releases: str  # for which releases it holds, in words; "" where the release is given
    depends_on: tuple[str, ...] = ()  # what nobody said and what decides it: names of variables and programs


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a configuration would lead to, before it has run."""

    verdict: ForecastVerdict
    summary: str  # one sentence a person can act on
    framework: str  # megatron-core | megatron-lm | megatron-bridge | nemo
    versions: dict[str, str]  # as given
    tried: str = ""  # the releases that were tried where none is given, in words
    fails: tuple[Foretold, ...] = ()  # refused at start-up
    later: tuple[Foretold, ...] = ()  # accepted at start-up, fails afterwards
    depends: tuple[Foretold, ...] = ()  # fails or not, by what the configuration does not say
    risks: tuple[Foretold, ...] = ()  # runs, but slower or tighter than it should
    plan: tuple[Fix, ...] = ()  # all fixes that apply, in the order to try them
    config: dict[str, ConfigValue] = field(default_factory=dict)  # what somebody set


@dataclass(slots=True)
class _Held:
    """A pattern that holds: what decided it in the newest of the releases that go by the most of what was given."""

    pattern: Pattern
    outcome: Outcome
    releases: list[Release]
    shown: Release
    depends_on: tuple[str, ...] = ()


class _Judge:
    """One configuration in all the releases that are tried."""

    def __init__(self, catalogue: Catalogue, seen: Sequence[Observation], framework: str) -> None:
        self.catalogue = catalogue
        self.seen = seen
        self.framework = framework
        self.given = Facts(seen)
        self.releases = releases_for(framework, self.given)
        self.worlds = [(release, self._constructed([release])) for release in self.releases]

    def _constructed(self, releases: Sequence[Release], shown: Release | None = None) -> Facts:
        """Give the configuration as one of the releases, the newest, would hold it: defaults, its changes on top."""
        core = (shown or releases[-1]).core
        # Where nobody says which release it is, a setting speaks only for those releases that know it.
        unknown = unknown_to(core) if len(self.releases) > 1 else frozenset()
        seen = [each for each in self.seen if each.key not in unknown]
        known = [
            *constructed_defaults(core, self.framework),
            *spanning(releases),
            *seen,
            Observation("run.framework", self.framework, None, "derived"),
            Observation("run.planned", True, None, "derived"),
            Observation("run.environment_given", any(each.key.startswith("env.") for each in seen), None, "derived"),
        ]
        return Facts([*known, *settled(Facts(known), core, self.framework)])

    def all(self, conditions: Mapping[str, str]) -> list[Foretold]:
        """List what a set of conditions foretells."""
        return [self._foretold(each) for each in self._held(conditions)]

    def _held(self, conditions: Mapping[str, str]) -> list[_Held]:
        found: dict[str, _Held] = {}
        for name, condition in conditions.items():
            pattern = self.catalogue.patterns[name]
            for release, facts in self.worlds:
                outcome = evaluate(condition, EventScope(facts, pattern, None, frozenset(), {}))
                before = found.get(name)
                if outcome.answer and (before is None or before.depends_on):
                    found[name] = _Held(pattern, outcome, [release], release)
                elif outcome.answer and before is not None:
                    before.releases.append(release)
                    if _given(outcome) >= _given(before.outcome):
                        before.outcome, before.shown = outcome, release
                elif (undecided := _undecided(outcome, pattern)) and (before is None or before.depends_on):
                    holding = [*(before.releases if before else []), release]
                    found[name] = _Held(pattern, outcome, holding, release, undecided)
        return list(found.values())

    def _foretold(self, held: _Held) -> Foretold:
        facts = self._constructed(held.releases, held.shown)
        told = ", ".join(words.fact(key, seen) for key, seen in _telling(held.outcome).items())
        if held.depends_on:
            why = f"It depends on {', '.join(held.depends_on)}, which nothing here says. Known: {told}."
        else:
            why = f"The configuration holds it: {told}."
        sure = held.pattern.category not in _NO_FAILURE and not held.depends_on
        finding = make_finding(
            held.pattern,
            EventScope(facts, held.pattern, None, frozenset(), {}),
            words.lines(held.outcome.used.values()),
            "high" if sure else "medium",
            why,
            self.framework,
        )
        return Foretold(finding, self._printed(held), spans(held.releases, self.releases), held.depends_on)

    def _printed(self, held: _Held) -> tuple[Printed, ...]:
        wordings: dict[Printed, list[Release]] = {}
        for release, facts in self.worlds:
            printed = printed_by(held.pattern, facts, self.framework) if release in held.releases else None
            if printed is not None:
                wordings.setdefault(printed, []).append(release)
        return tuple(replace(each, releases=spans(found, self.releases)) for each, found in wordings.items())


def forecast(catalogue: Catalogue, seen: Sequence[Observation], framework: str) -> Forecast:
    """Judge a configuration.

    Arguments: the catalogue; `seen`, what is known of the configuration, its environment and its versions;
    `framework`, the one that will construct it (megatron-core, megatron-lm, megatron-bridge or nemo).
    """
    judge = _Judge(catalogue, seen, framework)
    now, after = judge.all(catalogue.predictions), judge.all(catalogue.later)
    fails = [each for each in now if _fails(each) and not each.depends_on]
    later = [each for each in after if not each.depends_on]
    named = {each.finding.pattern for each in (*fails, *later)}
    depends = [each for each in (*now, *after) if each.depends_on and each.finding.pattern not in named]
    risks = [each for each in now if not _fails(each) and not each.depends_on]
    verdict: ForecastVerdict = (
        "would_fail" if fails else "would_fail_later" if later else "at_risk" if risks else "no_conflict"
    )
    found = [*fails, *later, *risks]
    return Forecast(
        verdict=verdict,
        summary=_summary(verdict, found),
        framework=framework,
        versions=judge.given.versions(),
        tried=spans(judge.releases, judge.releases),
        fails=tuple(fails),
        later=tuple(later),
        depends=tuple(depends),
        risks=tuple(risks),
        plan=plan_of(found[0].finding, [each.finding for each in found[1:]]) if found else (),
        config=_values(judge.worlds[-1][1]),
    )


def _undecided(outcome: Outcome, pattern: Pattern) -> tuple[str, ...]:
    """Name what would decide a failure, where all of it lies outside of the configuration: variables, programs."""
    missing = [name for name in outcome.missing if not name.startswith("let.")]
    if outcome.answer is not None or not missing or pattern.role != "root" or pattern.category in _NO_FAILURE:
        return ()
    return tuple(words.bare(name) for name in missing) if all(name.startswith(_OUTSIDE) for name in missing) else ()


def _given(outcome: Outcome) -> int:
    """Count the settings that somebody gave and that decided: some releases take one for another, or do not know it."""
    return sum(seen.source not in ("default", "settled") for seen in outcome.used.values())


def _telling(outcome: Outcome) -> dict[str, Seen]:
    """Return the facts that somebody set; where there are none, those that are so by default."""
    used = {key: seen for key, seen in outcome.used.items() if key.startswith(("config.", "env."))}
    told = {key: seen for key, seen in used.items() if seen.source != "default"}
    return told or used or dict(outcome.used)


def _fails(each: Foretold) -> bool:
    return each.finding.role == "root" and each.finding.category not in _NO_FAILURE


def _summary(verdict: ForecastVerdict, found: Sequence[Foretold]) -> str:
    if not found:
        return "No known conflict: nothing in this configuration is known to fail."
    text = found[0].finding.summary.rstrip(". ")
    where = f" in {found[0].releases}" if found[0].releases else ""
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{_LEADS[verdict]}{where}: {text}{more}."


def _values(facts: Facts) -> dict[str, ConfigValue]:
    """List what somebody set; defaults would only hide it."""
    found: dict[str, ConfigValue] = {}
    for key, seen in facts.observations("config").items():
        if seen.origin not in ("default", "settled"):
            found[key] = ConfigValue(seen.value, words.origin(Seen(seen.value, seen.evidence, seen.origin)))
    return found
