"""Remembers where each speaker of a merged log was last heard, so that a rank that fell silent can be named."""

from __future__ import annotations

import re

from diagnose.facts.reader import TextView
from diagnose.read.model import Evidence, Line

# Labels that identify a rank at the start of a line: torchrun --tee, PyTorch's excepthook, srun -l, Open MPI.
_LABEL = re.compile(rb"^(?:\[[A-Za-z]+\d{1,6}\]:|\d{1,6}: |\[\d+,\d{1,7}\]<std\w+>)", re.MULTILINE)
_MOST = 20_000  # speakers that are remembered; a job has no more ranks than this


class VoiceMeter:
    """A scan meter that keeps the last place of each line label."""

    def __init__(self) -> None:
        self._last: dict[bytes, int] = {}

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        """Note the labels of one chunk of whole lines that starts at byte `offset`."""
        data = bytes(chunk)
        if b"]:" not in data and b": " not in data and b"]<std" not in data:
            return
        for found in _LABEL.finditer(data):
            label = found.group()
            if label in self._last or len(self._last) < _MOST:
                self._last[label] = offset + found.start()

    def lines(self, text: TextView) -> dict[int, Line]:
        """Return the last line of each global rank that was heard."""
        found: dict[int, Line] = {}
        for offset in sorted(self._last.values()):
            line = text.line_at(offset)
            rank = line.rank if line.rank is not None else line.local_rank
            if rank is not None and (rank not in found or found[rank].number < line.number):
                found[rank] = line
        return found


def voices_of(meter: VoiceMeter, text: TextView) -> dict[int, Evidence]:
    """Return the last words of each rank; a local rank counts as the rank where no global one is printed."""
    return {rank: text.evidence(line) for rank, line in sorted(meter.lines(text).items())}
