"""The result of a comparison of runs: what reasoning yields and every report shows."""

from __future__ import annotations

from diagnose.classes import dataclass, field
from diagnose.read.model import Evidence
from diagnose.reason.result import ConfigValue, Finding, Verdict
from diagnose.typed import Literal

Outcome = Literal["both_ran", "both_failed", "fixed", "broke"]
Direction = Literal["better", "worse", "no_difference"]
ComparisonVerdict = Literal["better", "worse", "mixed", "no_difference", "unknown"]


@dataclass(frozen=True, slots=True)
class Peak:
    """The peak memory of one rank, in bytes."""

    rank: int | None  # None: the lines do not say which
    allocated: float | None
    reserved: float | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Speed:
    """The usual speed of a run: medians over its steady iterations."""

    iteration_ms: float | None
    tflops_per_gpu: float | None
    samples_per_second: float | None
    tokens_per_second: float | None
    iterations: int  # steady ones that were measured
    error_percent: float  # half of the 95 % confidence interval of the median
    evidence: Evidence  # the first steady iteration line


@dataclass(frozen=True, slots=True)
class Side:
    """One of the runs that are compared."""

    name: str  # short, for tables
    path: str
    verdict: Verdict
    summary: str
    pattern: str  # of the root cause; "" without one
    framework: str
    last_iteration: int | None
    speed: Speed | None
    peaks: tuple[Peak, ...]  # by rank

    @property
    def failed(self) -> bool:
        """Tell whether the run failed."""
        return self.verdict not in ("no_failure", "degraded")


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that is not the same in all runs."""

    key: str
    values: tuple[ConfigValue | None, ...]  # in the order of the runs; None: not seen
    asked: bool = False  # True: conditions of the catalogue ask for it


@dataclass(frozen=True, slots=True)
class Measured:
    """How far a number of one run is from that of another."""

    before: float
    after: float
    unit: str
    percent: float  # of the number itself: positive is more
    error_percent: float  # half of the 95 % confidence interval
    direction: Direction


@dataclass(frozen=True, slots=True)
class Change:
    """One run against the first."""

    name: str  # of the later run
    outcome: Outcome
    throughput: Measured | None  # None: the two print no number in common
    memory: Measured | None  # the highest peak of any rank
    verdict: ComparisonVerdict
    why: str  # in words a person can verify


@dataclass(frozen=True, slots=True)
class Noticed:
    """A pattern that a pair of runs shows."""

    before: str  # names of the runs
    after: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole answer."""

    verdict: ComparisonVerdict  # of the last run against the first
    summary: str  # one sentence a person can act on
    margin_percent: float  # what is no difference in practice
    runs: tuple[Side, ...]
    changes: tuple[Change, ...] = ()  # each later run against the first
    findings: tuple[Noticed, ...] = ()
    config: tuple[Difference, ...] = ()  # those that the catalogue asks for first
    environment: tuple[Difference, ...] = ()
    versions: tuple[Difference, ...] = ()
    missing: tuple[str, ...] = field(default_factory=tuple)  # what would make the answer surer
