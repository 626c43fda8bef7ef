"""Remembers where each speaker of a merged log was heard, so that a rank that fell silent can be named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from diagnose.facts.model import Held
from diagnose.facts.reader import TextView
from diagnose.read.labels import LABEL_BEHIND_NEWLINE, LONGEST
from diagnose.read.model import Evidence, Line

_DIGITS = re.compile(rb"\d+")
_FEWEST = 3  # speakers, to tell a file put together of their words from one where each spoke once
_MOST = 20_000  # speakers that are remembered; a job has no more ranks than this


Chunk = tuple[int, int]  # offset and size


class VoiceMeter:
    """A scan meter that keeps the first and the last chunk of each line label."""

    def __init__(self) -> None:
        # Labels with the newline before them. Where they stand in the chunk is looked up at the end, for the few that
        # matter: where many ranks talk, all of them are heard in every chunk.
        self._first: dict[bytes, Chunk] = {}
        self._last: dict[bytes, Chunk] = {}

    @property
    def eager(self) -> bool:
        """A sample is enough: who talks is heard in it, and the last words stand at the end."""
        return False

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        """Note the labels of one chunk of whole lines that starts at byte `offset`."""
        data = bytes(chunk)
        if b"]:" not in data and b": " not in data and b"]<std" not in data:
            return
        labels = set(LABEL_BEHIND_NEWLINE.findall(data))
        if head := LABEL_BEHIND_NEWLINE.match(b"\n" + data[:LONGEST]):
            labels.add(head.group())
        if len(self._last) + len(labels) > _MOST:
            labels &= self._last.keys()
        here = dict.fromkeys(labels, (offset, len(data)))
        self._first = {**here, **self._first}
        self._last.update(here)

    def held(self, text: TextView) -> Held:
        """Tell whether the words of three speakers or more stand one after another, as `srun` and `cat` leave them."""
        # Most often the chunks alone show that they do not.
        if _entangled([(chunk, self._last[label], label) for label, chunk in self._first.items()]):
            return "no"
        first, last = _places(self._first, text, last=False), _places(self._last, text, last=True)
        spans = [(first[label], last[label], label) for label in first.keys() & last.keys()]
        if _entangled(spans):
            return "no"
        numbers = [int(digits[0]) for _, _, label in sorted(spans) if (digits := _DIGITS.findall(label))]
        return "sorted" if numbers == sorted(numbers) else "apart"

    def lines(self, text: TextView) -> dict[int, Line]:
        """Return the last line of each global rank that was heard."""
        found: dict[int, Line] = {}
        for offset in sorted(_places(self._last, text, last=True).values()):
            line = text.line_at(offset)
            rank = line.rank if line.rank is not None else line.local_rank
            if rank is not None:
                found[rank] = line
        return found


def _entangled(spans: Sequence[tuple[Chunk, Chunk, bytes]] | Sequence[tuple[int, int, bytes]]) -> bool:
    """Are there fewer than three speakers, or do two of them take turns? Chunks that are one say nothing of that."""
    return len(spans) < _FEWEST or any(a[1] > b[0] for a, b in pairwise(sorted(spans)))  # type: ignore[operator]


def _places(chunks: dict[bytes, Chunk], text: TextView, *, last: bool) -> dict[bytes, int]:
    """Where in their chunks the labels stand first or last."""
    wanted: dict[Chunk, set[bytes]] = {}
    for label, chunk in chunks.items():
        wanted.setdefault(chunk, set()).add(label)
    found: dict[bytes, int] = {}
    for (offset, size), labels in wanted.items():
        data = b"\n" + text.read(offset, offset + size)
        for match in LABEL_BEHIND_NEWLINE.finditer(data):
            label = match.group()
            if label in labels and (last or label not in found):
                found[label] = offset + match.start()
    return found


def voices_of(meter: VoiceMeter, text: TextView) -> dict[int, Evidence]:
    """Return the last words of each rank; a local rank counts as the rank where no global one is printed."""
    return {rank: text.evidence(line) for rank, line in sorted(meter.lines(text).items())}
