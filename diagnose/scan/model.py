"""What scanning takes and yields: anchors in, hits out."""

from __future__ import annotations

from collections.abc import Callable

from diagnose.classes import dataclass, field
from diagnose.typed import Protocol


@dataclass(frozen=True, slots=True)
class Anchor:
    """A set of byte literals of which one must stand on a line for its owner to care about the line."""

    key: str  # unique; "pattern-id#0" for an alternative, "fact:reader" for a fact reader, "tb" for a traceback
    literals: tuple[bytes, ...]  # each 4 bytes or longer, no newline; one of them is on every line that can match
    nocase: bool = False  # compare without regard to ASCII case
    narrow: str = ""  # a regular expression for the native engine that is rarer than the literals; "" none
    keep: int = 200  # how many first hits and how many last hits are kept; all are counted
    speakers: int = 0  # of so many line labels the first hit is kept too
    verify: Callable[[str], bool] | None = None  # asked with the cleaned line; None: the literal is enough


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """A line that an anchor's literal stands on (and that its verifier accepted)."""

    start: int  # offset of the line's first byte
    end: int  # offset behind the line's last byte, before the newline
    number: int  # line number, counts from 1
    key: str  # the anchor's key
    at: int = 0  # offset of the literal's last byte, to look at the right place of a very long line


class Watcher(Protocol):
    """Something that reads whole chunks."""

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        """Read one chunk of whole lines that starts at `offset`.

        `first_line` is the number of its first line; 0 where it is not known, in a source that can be read again.
        """


class Meter(Watcher, Protocol):
    """A watcher that reads numbers off iteration lines: cheap, native, sampled on large inputs."""

    @property
    def eager(self) -> bool:
        """Has it found something, so that it should see more of a source of middling size?"""


@dataclass(slots=True)
class Found:
    """What one anchor found in one stretch of a source."""

    first: list[Hit]
    last: list[Hit]
    speakers: dict[bytes, Hit]  # line label -> its first hit
    count: int
    guessed: bool  # the count is partly an estimate
    impatient: bool  # so many lines were refused that only a sample was looked at


@dataclass(slots=True)
class Stretch:
    """What a scan found in one part of a source. Line numbers count from the part's first line."""

    found: dict[int, Found] = field(default_factory=dict)  # index of an anchor -> what it found
    marks: list[tuple[int, int]] = field(default_factory=list)  # offset of a chunk, newlines before it in this part
    end: int = 0  # offset behind the last byte that was read
    newlines: int = 0
    cut: bool = False  # its last line has no newline
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ScanResult:
    """All that one pass over one source found."""

    hits: list[Hit] = field(default_factory=list)  # by position; at most 2 x keep + speakers for one anchor
    counts: dict[str, int] = field(default_factory=dict)  # anchor key -> lines that matched, kept or not
    size: int = 0  # bytes read (after decompression)
    lines: int = 0  # lines, the last one counts even when its newline is missing
    cut: bool = False  # the last line has no newline
    sampled: bool = False  # meters saw a sample of the chunks only
    problems: list[str] = field(default_factory=list)  # sentences: damaged archive, budget used up, …
    engine: str = ""  # "hyperscan", "aho-corasick" or "plain"
