"""What happened, one thing at a time: events and tracebacks brought together."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.catalogue.model import Catalogue, Pattern
from diagnose.classes import dataclass, field
from diagnose.facts.model import Event, SourceRecord
from diagnose.lazy import Lazy
from diagnose.read.model import Evidence, Kind, Traceback

TRAINS = Lazy(r"(?i)python|pt_\w+_|torch|ray::|train|deepspeed")  # names of processes, as the kernel cuts them
_SPECIFIC = {"specific": 3, "normal": 2, "generic": 1}
_JUMP = 5.0  # seconds: stamps of one file that go back by more show that it was put together out of order
_QUOTED = Lazy(r"^\s*traceback\s*: Traceback", needs=(": Traceback",))  # torchrun's table, with the @record decorator
_NOISE = Lazy(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)*|/[^\s'\":,)]+|[\"'][^\"']*[\"']")


@dataclass(slots=True)
class Incident:
    """One thing that a source reported: a pattern's event, or an exception that no pattern knows."""

    source: int  # index of the record
    start: int  # byte offset: the order inside one source
    evidence: Evidence
    pattern: Pattern | None = None  # None: an exception that no pattern knows
    event: Event | None = None
    traceback: Traceback | None = None
    chain: int | None = None  # first traceback of the chain of exceptions it stands in; None outside
    depth: int = 0  # position in that chain: what was raised earlier has the lower one
    handled: bool = False  # another exception was raised while this one was being handled
    time: float | None = None  # seconds since the epoch; its own, or that of the last stamped line before
    assumed: bool = False  # whether the time is that of the line before: it happened then or later
    block: int = 0  # which piece of a file that was put together out of time order
    held: bool = False  # its file gives each speaker's words together, by rank: position tells no order of speakers
    daemon: bool = False  # a scheduler's daemon or the kernel said it, not the job
    quoted: bool = False  # a launcher's summary quotes it
    attempt: int = 0
    recovered: str = ""  # why it is not a failure after all; "" it is one

    @property
    def role(self) -> str:
        """The pattern's role; an unknown exception may be the root."""
        return self.pattern.role if self.pattern else "root"

    @property
    def category(self) -> str:
        """The pattern's category; "" for an unknown exception."""
        return self.pattern.category if self.pattern else ""

    @property
    def rank(self) -> int | None:
        """The global rank that said it."""
        return self.evidence.rank

    @property
    def node(self) -> str | None:
        """The host that said it."""
        return self.evidence.node

    @property
    def lane(self) -> str:
        """The speaker's prefixes."""
        if self.event:
            return self.event.lane
        return self.traceback.lane if self.traceback else ""

    @property
    def own_time(self) -> float | None:
        """The time that its own line or its traceback tells, in seconds since the epoch."""
        if self.event and self.event.time is not None:
            return self.event.time
        return self.traceback.time if self.traceback else None

    @property
    def label(self) -> str:
        """The outermost label of its line: `3:` where a task's word is `3: [rank3]: …`."""
        return self.lane.partition(" ")[0]

    @property
    def place(self) -> tuple[int, str, int]:
        """Where it is told: the chain of exceptions it stands in, or its line."""
        if self.chain is not None:
            return self.source, "chain", self.chain
        return self.source, "line", self.evidence.line

    @property
    def weight(self) -> int:
        """How much the pattern knows: specific 3, normal 2, generic 1, unknown exception 0."""
        return _SPECIFIC[self.pattern.specificity] if self.pattern else 0

    @property
    def kind(self) -> str:
        """What makes two incidents the same failure on two ranks."""
        if self.pattern:
            return self.pattern.id
        if self.traceback is None:
            return "?"
        return f"?{self.traceback.type}: {_NOISE.sub('#', self.traceback.message[:300])}"


@dataclass(slots=True)
class Group:
    """The same failure, on one rank or on many."""

    incidents: list[Incident] = field(default_factory=list)  # earliest first

    @property
    def first(self) -> Incident:
        """The earliest of them."""
        return self.incidents[0]

    @property
    def ranks(self) -> tuple[int, ...]:
        """All global ranks that reported it, sorted."""
        return tuple(sorted({each.rank for each in self.incidents if each.rank is not None}))


def incidents_of(record: SourceRecord, index: int, catalogue: Catalogue) -> list[Incident]:
    """List what one source reported, by position: matched events, and tracebacks that no pattern knows."""
    chains = _chains(record.tracebacks)
    found: list[Incident] = []
    known: set[int] = set()
    for event in record.events:
        pattern = catalogue.patterns.get(event.pattern)
        if pattern is None:
            continue
        unit = record.tracebacks[event.traceback] if event.traceback is not None else None
        if event.traceback is not None and pattern.role not in ("advice", "progress"):
            known.add(event.traceback)
        chain, depth = chains[event.traceback] if event.traceback is not None else (None, 0)
        told = Incident(index, event.start, event.evidence, pattern, event, unit, chain, depth)
        told.time = told.own_time
        found.append(told)
    for number, unit in enumerate(record.tracebacks):
        if number not in known and unit.type:
            chain, depth = chains[number]
            told = Incident(index, unit.start, unit.final, None, None, unit, chain, depth, time=unit.time)
            told.handled = unit.caused is not None and record.tracebacks[unit.caused].chain == "context"
            found.append(told)
    found.sort(key=lambda each: each.start)
    for each in found:
        each.daemon = record.kind in (Kind.SLURM, Kind.KERNEL)
        each.held = record.held == "sorted"
        each.quoted = record.kind is Kind.ERROR_FILE or _is_quoted(each.traceback)
    _fill_times(found, record)
    return found


def _is_quoted(unit: Traceback | None) -> bool:
    return unit is not None and _QUOTED.search(unit.head.text) is not None


def _chains(units: Sequence[Traceback]) -> list[tuple[int, int]]:
    """Give every traceback the first one of its chain, and its depth in it."""
    chains = [(number, 0) for number in range(len(units))]
    for number, unit in enumerate(units):
        if unit.caused is None or unit.caused >= len(units):
            continue
        if number < unit.caused:
            first, depth = chains[number]
            chains[unit.caused] = (first, depth + 1)
        elif unit.rank == units[unit.caused].rank:  # told in the words of the exception that it led to
            first, depth = chains[unit.caused]
            chains[number] = (first, depth - 1)
    return chains


def _fill_times(found: list[Incident], record: SourceRecord) -> None:
    """Give an unstamped line the time of the last stamped one before it, and number the pieces between jumps back.

    In a file that was put together out of time order only the same speaker's stamps count, where speakers are told
    apart.
    """
    stamps = sorted(
        [(step.start, step.time, step.lane) for step in record.steps if step.time is not None]
        + [(each.start, each.time, each.lane) for each in found if each.time is not None]
    )
    jumps = _jumps(stamps)
    position, latest, block = 0, None, 0
    spoken: dict[str, float] = {}
    for each in found:
        while position < len(stamps) and stamps[position][0] <= each.start:
            _, latest, lane = stamps[position]
            spoken[lane.partition(" ")[0]] = latest
            position += 1
        while block < len(jumps) and jumps[block] <= each.start:
            block += 1
        each.block = block
        if each.time is None:
            each.time = spoken.get(each.label) if each.lane and (jumps or record.held != "no") else latest
            each.assumed = each.time is not None


def _jumps(stamps: Sequence[tuple[int, float, str]]) -> list[int]:
    """List the offsets at which the time jumps back by more than buffers and threads explain."""
    jumps: list[int] = []
    latest = None
    for start, time, _ in stamps:
        if latest is not None and time < latest - _JUMP:
            jumps.append(start)
            latest = time
        latest = time if latest is None else max(latest, time)
    return jumps
