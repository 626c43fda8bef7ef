"""What reading yields: sources, lines taken off their prefixes, and evidence."""

from __future__ import annotations

from enum import StrEnum

from diagnose.classes import dataclass, field


class Kind(StrEnum):
    """What kind of file a source is, as far as its name and head tell."""

    LOG = "log"  # words of a job: stdout, stderr, a merged log
    KERNEL = "kernel"  # dmesg, journalctl -k, /var/log/kern.log
    SLURM = "slurm"  # slurmctld.log, slurmd.log, scontrol show job
    ERROR_FILE = "error_file"  # torchrun's error.json
    SCRIPT = "script"  # the script that a launcher wrote for this very job, beside its logs
    FLIGHT_RECORDER = "flight_recorder"  # a dump of PyTorch's collectives: nccl_trace_rank_3


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about an input that a person must know: unreadable, cut, not a log."""

    path: str  # as the user gave it
    what: str  # one sentence: what is wrong and what follows
    fatal: bool = False  # True: nothing of this input was read


@dataclass(frozen=True, slots=True)
class Source:
    """One readable input and what its path alone tells."""

    path: str  # as shown to the user; "-" is standard input
    kind: Kind = Kind.LOG
    rank: int | None = None  # global rank, from the file name
    local_rank: int | None = None  # from a torchrun folder
    node: str | None = None  # host name, from the file name
    attempt: int | None = None  # torchrun attempt or Slurm restart count, from the path
    stream: str | None = None  # "stdout" or "stderr", from the file name
    content: bytes | None = None  # the text itself where it lies in no file: what a scheduler or an API answered


@dataclass(frozen=True, slots=True)
class Evidence:
    """One line of an input, as it can be shown and found again."""

    path: str  # as the user gave it
    line: int  # counts from 1
    text: str  # the original line, without its newline, escape codes and control characters
    rank: int | None = None  # global rank that said it
    node: str | None = None  # host that said it
    time: str | None = None  # ISO 8601; only as exact as the log was


@dataclass(slots=True)
class Line:
    """One line of a source with its prefixes taken off. Positions are byte offsets in the (decompressed) source."""

    number: int  # counts from 1
    start: int  # offset of its first byte
    end: int  # offset behind its last byte, before the newline
    text: str  # the line without newline, escape codes and control characters (tabs stay)
    body: str  # text behind all launcher and collector prefixes; a program's own stamp stays
    lane: str = ""  # the prefixes that identify the speaker, joined; "" when there are none
    rank: int | None = None  # global rank
    local_rank: int | None = None  # rank inside its node
    node: str | None = None  # host or pod name
    time: float | None = None  # seconds since 1970-01-01 UTC; see Clock for how sure
    clock: Clock = field(default=None)  # type: ignore[assignment]
    stream: str | None = None  # "stdout" or "stderr", where a collector says so

    def __post_init__(self) -> None:
        if self.clock is None:
            self.clock = Clock.NONE


class Clock(StrEnum):
    """How far a line's time can be trusted."""

    NONE = "none"  # no time on the line
    UTC = "utc"  # zone was printed
    LOCAL = "local"  # date without zone, read as UTC
    UNDATED = "undated"  # time of day without a date
    YEARLESS = "yearless"  # month and day without a year (glog, syslog)
    MONOTONIC = "monotonic"  # seconds since boot (dmesg)


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a Python traceback."""

    file: str
    line: int
    function: str
    code: str = ""  # the source line, where the traceback shows it


@dataclass(frozen=True, slots=True)
class Traceback:
    """One printed Python exception: a head, frames, and the final `Type: message`."""

    head: Evidence  # "Traceback (most recent call last):"
    final: Evidence  # the line that carries `Type: message` (or the bare type)
    type: str  # as printed, dotted; "" when the log ends before it
    message: str  # all lines of the message, joined by newlines
    frames: tuple[Frame, ...] = ()  # outermost first; at most 60, the middle ones are dropped first
    lines: tuple[int, int] = (0, 0)  # first and last line number
    message_lines: tuple[int, int] = (0, 0)  # first and last line number of the message part
    start: int = 0  # offset of the head, the order inside one source
    lane: str = ""  # the speaker's prefixes
    rank: int | None = None
    local_rank: int | None = None
    node: str | None = None
    time: float | None = None
    caused: int | None = None  # index of the traceback that followed "... direct cause of / during handling of ..."
    chain: str = ""  # "" first or alone; "cause" or "context": how it follows the one before
    ignored: bool = False  # printed by "Exception ignored in": never a failure by itself
    logged: bool = False  # printed by a logger call (the line before the head is a log line of the same speaker)
    notes: tuple[str, ...] = ()  # PEP 678 notes
    complete: bool = True  # False: the log was cut inside it
    talk_after: int = 0  # lines of ordinary talk by the same speaker after it, counted up to a few
