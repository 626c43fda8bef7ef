"""Remembers where each speaker of a merged log was heard, so that a rank that fell silent can be named."""

from __future__ import annotations

import re
from itertools import pairwise

from diagnose.facts.model import Held
from diagnose.facts.reader import TextView
from diagnose.read.labels import LABEL_BEHIND_NEWLINE, LONGEST
from diagnose.read.model import Evidence, Line

_DIGITS = re.compile(rb"\d+")
_FEWEST = 3  # speakers, to tell a file put together of their words from one where each spoke once
_MOST = 20_000  # speakers that are remembered; a job has no more ranks than this


class VoiceMeter:
    """A scan meter that keeps the first and the last place of each line label."""

    def __init__(self) -> None:
        self._first: dict[bytes, int] = {}
        self._last: dict[bytes, int] = {}

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        """Note the labels of one chunk of whole lines that starts at byte `offset`."""
        data = bytes(chunk)
        if b"]:" not in data and b": " not in data and b"]<std" not in data:
            return
        here = {found.group(): offset + found.start() + 1 for found in LABEL_BEHIND_NEWLINE.finditer(data)}
        head = LABEL_BEHIND_NEWLINE.match(b"\n" + data[:LONGEST])
        if head and head.group() not in here:
            here[head.group()] = offset
        if len(self._last) + len(here) > _MOST:
            here = {label: place for label, place in here.items() if label in self._last}
        if here.keys() - self._first.keys():
            for found in LABEL_BEHIND_NEWLINE.finditer(data):
                if found.group() in here:
                    self._first.setdefault(found.group(), offset + found.start() + 1)
            if head and head.group() in here:
                self._first[head.group()] = min(offset, self._first.get(head.group(), offset))
        self._last.update(here)

    def held(self) -> Held:
        """Tell whether the words of three speakers or more stand one after another, as `srun` and `cat` leave them."""
        spans = sorted((first, self._last[label], label) for label, first in self._first.items())
        if len(spans) < _FEWEST or any(a[1] > b[0] for a, b in pairwise(spans)):
            return "no"
        numbers = [int(digits[0]) for _, _, label in spans if (digits := _DIGITS.findall(label))]
        return "sorted" if numbers == sorted(numbers) else "apart"

    def lines(self, text: TextView) -> dict[int, Line]:
        """Return the last line of each global rank that was heard."""
        found: dict[int, Line] = {}
        for offset in sorted(self._last.values()):
            line = text.line_at(offset)
            rank = line.rank if line.rank is not None else line.local_rank
            if rank is not None:
                found[rank] = line
        return found


def voices_of(meter: VoiceMeter, text: TextView) -> dict[int, Evidence]:
    """Return the last words of each rank; a local rank counts as the rank where no global one is printed."""
    return {rank: text.evidence(line) for rank, line in sorted(meter.lines(text).items())}
