"""What a source tells of its run: observations, progress, and the record that carries all of it."""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.classes import dataclass, field
from diagnose.facts.series import Survey
from diagnose.read.model import Evidence, Kind, Traceback
from diagnose.typed import Literal

Held = Literal["no", "apart", "sorted"]
Value = bool | int | float | str | None | list["Value"] | dict[str, "Value"]


@dataclass(frozen=True, slots=True)
class Observation:
    """One fact and where it was seen."""

    key: str  # "config.recompute_granularity", "env.NCCL_DEBUG", "version.core", "run.world_size", "memory.retries"
    value: Value  # typed: True, 4, 1e-4, "full", ["core_attn"], None
    evidence: Evidence | None  # None: given by the user (--set) or a default
    origin: str  # the reader: "megatron-arguments", "bridge-summary", "command-line", "set", "default", …


@dataclass(frozen=True, slots=True)
class Event:
    """One line that a pattern's alternative matched."""

    pattern: str  # id
    alternative: int  # index in the pattern's `match`
    captures: dict[str, str]  # named groups that took part
    evidence: Evidence  # the line a specialist would point at
    start: int  # byte offset, the order inside one source
    lane: str = ""  # the speaker's prefixes
    rank: int | None = None
    local_rank: int | None = None
    node: str | None = None
    time: float | None = None  # seconds since the epoch
    traceback: int | None = None  # index in SourceRecord.tracebacks of the unit it stands in


@dataclass(frozen=True, slots=True)
class Step:
    """One progress line: a finished iteration, an evaluation, a checkpoint."""

    kind: str  # iteration | eval | save | saved | load | loaded | phase | exit
    number: int | None  # iteration number
    start: int  # byte offset
    evidence: Evidence
    time: float | None = None
    lane: str = ""
    text: str = ""  # phase name or exit reason
    metrics: dict[str, float] = field(default_factory=dict)  # "ms", "tflops", "loss", "grad_norm", "skipped", …


@dataclass(slots=True)
class SourceRecord:
    """The small serialisable value that scanning one source yields; reasoning sees nothing else."""

    path: str
    kind: Kind = Kind.LOG
    bytes: int = 0
    lines: int = 0
    rank: int | None = None  # of the whole file, from its name or the only prefix seen
    local_rank: int | None = None
    node: str | None = None
    attempt: int | None = None
    stream: str | None = None
    problems: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)  # by position
    counts: dict[str, int] = field(default_factory=dict)  # pattern id -> lines, kept or not
    tracebacks: list[Traceback] = field(default_factory=list)  # by position
    observations: list[Observation] = field(default_factory=list)  # by position
    steps: list[Step] = field(default_factory=list)  # by position; first, last, and those around events
    tail: list[Evidence] = field(default_factory=list)  # the last lines that say something (at most 40)
    first_time: float | None = None
    last_time: float | None = None
    lanes: dict[str, int] = field(default_factory=dict)  # speaker -> last line number seen (sampled on large inputs)
    ranks: list[int] = field(default_factory=list)  # global ranks seen in prefixes, sorted
    voices: Mapping[int, Evidence] = field(default_factory=dict)  # rank -> its last words, in a log of several ranks
    held: Held = "no"  # each speaker's words stand together ("apart"), by rank ("sorted"): position tells no order
    surveys: list[Survey] = field(default_factory=list)  # the numbers of its iteration lines, and what they show
    cut: bool = False  # the log ends in mid-line
    sampled: bool = False  # metrics come from a sample of the lines
