"""The result of a diagnosis: what reasoning yields and every report shows."""

from __future__ import annotations

from diagnose.classes import dataclass, field
from diagnose.read.model import Evidence
from diagnose.typed import Any, Literal

Verdict = Literal["identified", "ambiguous", "symptom_only", "unknown", "degraded", "no_failure"]
FAILED: tuple[Verdict, ...] = ("identified", "ambiguous", "symptom_only", "unknown")
TROUBLED: tuple[Verdict, ...] = (*FAILED, "degraded")  # failed, or slower than it should be
Confidence = Literal["high", "medium", "low"]
FixState = Literal["recommended", "already_applied", "not_applicable", "unknown"]
CauseState = Literal["confirmed", "possible", "ruled_out"]


@dataclass(frozen=True, slots=True)
class Check:
    """A question the program asked itself, and the answer."""

    id: str
    question: str
    answer: Literal["yes", "no", "unknown"]
    observed: str = ""  # the values that answered it; for "unknown": what to look at, or the command to run
    evidence: tuple[Evidence, ...] = ()  # the lines that answered it


@dataclass(frozen=True, slots=True)
class Cause:
    """One possible reason behind a failure."""

    id: str
    text: str
    state: CauseState
    why: str = ""  # the checks that decided it, in words


@dataclass(frozen=True, slots=True)
class Cost:
    """What a fix costs, as measured."""

    text: str  # one sentence, with its figure
    workload: str = ""  # the one workload it was measured on
    source: str = ""  # where the measurement is published


@dataclass(frozen=True, slots=True)
class Fix:
    """One thing to try."""

    id: str
    order: int  # counts from 1 in the list that holds it
    text: str  # imperative sentence
    how: tuple[str, ...] = ()  # lines to paste
    state: FixState = "recommended"
    why: str = ""  # why it has this state
    cost: Cost | None = None
    warning: str = ""  # what to mind before doing it
    references: tuple[str, ...] = ()
    forbidden: bool = False  # it would help, and another setting of the run forbids it; `why` gives the way out


@dataclass(frozen=True, slots=True)
class Finding:
    """One pattern that explains something in the log."""

    pattern: str  # pattern id; "unknown-exception" and the like for what no pattern knows
    title: str
    category: str
    role: str
    confidence: Confidence
    why: str  # in words a person can verify
    evidence: tuple[Evidence, ...]  # [0] is the line a specialist would point at
    summary: str = ""  # one sentence with the run's own values
    captures: dict[str, str] = field(default_factory=dict)
    causes: tuple[Cause, ...] = ()
    checks: tuple[Check, ...] = ()
    fixes: tuple[Fix, ...] = ()
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fallout:
    """Events that the root cause, or another event, explains."""

    pattern: str
    title: str
    count: int
    ranks: tuple[int, ...]
    first: Evidence
    explained_by: str  # pattern id of what explains it; "" when nothing does
    why: str  # line A at t1 on rank r, line B at t2 …


@dataclass(frozen=True, slots=True)
class Action:
    """Whether to start the job again, and how."""

    restart: Literal["as_is", "after_fix", "no", "unknown"] = "unknown"
    scope: Literal["config", "code", "data", "infrastructure", "scheduler", "unknown"] = "unknown"
    exclude_nodes: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """One configuration value of the run and where it was seen."""

    value: Any
    source: str  # "train.log:198", "--set", "default of Megatron Core 0.16"


@dataclass(frozen=True, slots=True)
class Run:
    """What is known of the run itself."""

    framework: str = "unknown"
    versions: dict[str, str] = field(default_factory=dict)
    config: dict[str, ConfigValue] = field(default_factory=dict)
    environment: dict[str, ConfigValue] = field(default_factory=dict)
    parallelism: dict[str, int] = field(default_factory=dict)  # tp, pp, vpp, cp, ep, dp
    world_size: int | None = None
    last_iteration: int | None = None
    last_checkpoint: int | None = None
    first_time: str | None = None
    last_time: str | None = None
    silent_seconds: float | None = None  # from the last progress line to the end of the log
    phase: str | None = (
        None  # start | build | load | first-step | forward | backward | optimizer | eval | save | capture | …
    )
    throughput: dict[str, float] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Input:
    """One input that was read, or could not be."""

    path: str
    bytes: int
    lines: int
    rank: int | None = None
    node: str | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """An earlier attempt of the same job, and what ended it."""

    number: int  # counts from 0
    pattern: str  # what ended it: a pattern id, "unknown-exception", or "" where nothing tells
    title: str
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The whole answer."""

    verdict: Verdict
    summary: str  # one sentence a person can act on
    root_cause: Finding | None = None
    alternatives: tuple[Finding, ...] = ()  # other roots that the evidence allows, best first
    fallout: tuple[Fallout, ...] = ()
    risks: tuple[Finding, ...] = ()  # conflicts seen in the configuration that have not failed (yet)
    plan: tuple[Fix, ...] = ()  # all fixes that apply, in the order to try them
    action: Action = Action()
    run: Run = Run()
    inputs: tuple[Input, ...] = ()
    missing: tuple[str, ...] = ()  # what would make the answer surer
    attempts: tuple[Attempt, ...] = ()  # earlier attempts, the first first; the last one is what is diagnosed
    notes: tuple[Evidence, ...] = ()  # for an unknown failure: the last telling lines
    provisional: bool = False  # the job had not ended when this was said
