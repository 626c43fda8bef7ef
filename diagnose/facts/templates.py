"""Tells what is new in a log: against a good run of the same job, or against what the log itself says again and again.

A line's template is the line with its numbers, addresses, paths and quoted words masked. Templates are counted, not
kept; of the lines only those that may be shown are.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence

from diagnose.classes import dataclass
from diagnose.facts.progress_lines import read_progress
from diagnose.read.clean import clean, strip_escapes
from diagnose.read.model import Evidence, Kind, Source
from diagnose.read.prefix import split
from diagnose.read.stream import open_stream
from diagnose.read.time import show

LARGEST = 64 * 1024 * 1024  # bytes that are looked at against a good run: of that the first, of a failed one the last
_NEAR_END = 8 * 1024 * 1024  # bytes that are looked at where no good run is known, shared by all sources
_LEAST = 64 * 1024  # bytes of each source that are looked at in any case
SHOWN = 12  # lines
_TEMPLATES = 300_000  # distinct templates that are counted
_CANDIDATES = 4000  # new lines of one source that are kept until the end; the last ones count
_LAST = 400  # lines at the end of a source that can be telling where no good run is known
_LONGEST = 2000  # bytes of a line that are masked
_OFTEN = 3  # a new template that comes more often is a kind of line that the good run did not print, and no event
_VARIES = re.compile(
    rb"0[xX][0-9a-fA-F]+|\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|(?:/[\w.@+=-]+){2,}/?|\b[0-9a-fA-F]{12,}\b"
    rb"|[-+]?\d+(?:[.:,_-]\d+)*(?:[eE][-+]?\d+)?"
)
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class Novel:
    """A line that is new."""

    evidence: Evidence
    count: int  # how often its template came


def template(raw: bytes) -> bytes:
    """Mask what varies in one line: numbers, addresses, paths, quoted words."""
    return b" ".join(_VARIES.sub(b"#", strip_escapes(raw[:_LONGEST])).split())


def known_templates(sources: Sequence[Source]) -> frozenset[bytes]:
    """Collect the templates of a good run."""
    known: set[bytes] = set()
    for source in sources:
        for _, raw in _lines(source, first=LARGEST):
            if len(known) < _TEMPLATES:
                known.add(template(raw))
    return frozenset(known)


def novel_lines(sources: Sequence[Source], known: Collection[bytes] | None = None) -> tuple[Evidence, ...]:
    """Return the lines that are new, at most `SHOWN`.

    With the templates of a good run: lines it did not print, the rarest first, then the last. Without: lines near the
    end whose template came once, in their order.
    """
    counts: Counter[bytes] = Counter()
    part = max(_LEAST, (_NEAR_END if known is None else LARGEST) // max(1, len(sources)))
    kept: list[tuple[Source, int, bytes, bytes]] = []
    for source in sources:
        if source.path == "-" or source.kind not in (Kind.LOG, Kind.KERNEL):
            continue
        last: deque[tuple[Source, int, bytes, bytes]] = deque(maxlen=_LAST if known is None else _CANDIDATES)
        for number, raw in _lines(source, last=part):
            key = template(raw)
            if key in counts or len(counts) < _TEMPLATES:
                counts[key] += 1
            if known is None or (key not in known and counts[key] <= _OFTEN):
                last.append((source, number, raw, key))
        kept += last
    most = 1 if known is None else _OFTEN
    new = [
        Novel(line, counts[key])
        for source, number, raw, key in kept
        if 0 < counts[key] <= most and (line := _evidence(source, number, raw)) is not None
    ]
    if known is None:
        return tuple(each.evidence for each in new[-SHOWN:])
    rare = sorted(enumerate(new), key=lambda pair: (pair[1].count, -pair[0]))[:SHOWN]
    return tuple(each.evidence for _, each in rare)


def _lines(source: Source, *, first: int | None = None, last: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines of the first or the last so many bytes of a source."""
    number = 0
    with open_stream(source) as stream:
        skipped = max(0, stream.size - last) if last is not None else 0
        for chunk in stream.chunks():
            if first is not None and chunk.offset >= first:
                return
            if chunk.offset + len(chunk.data) <= skipped:
                number += chunk.data.count(b"\n")
                continue
            lines = chunk.data.split(b"\n")
            for at, raw in enumerate(lines, number + 1):
                if raw.strip():
                    yield at, raw.rpartition(b"\r")[2] or raw
            number += len(lines) - 1


def _evidence(source: Source, number: int, raw: bytes) -> Evidence | None:
    """Make a line quotable; None where it is progress or has no word."""
    text = clean(raw[:8192]).replace("\r", "")
    if not _WORD.search(text) or read_progress(text):
        return None
    prefix = split(text)
    rank = prefix.rank if prefix.rank is not None else source.rank
    return Evidence(source.path, number, text, rank, prefix.node or source.node, show(prefix.time, prefix.clock))
