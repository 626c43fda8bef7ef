"""Remembers where each speaker of a merged log was heard, so that a rank that fell silent can be named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from diagnose.facts.model import Held
from diagnose.facts.reader import TextView
from diagnose.read.model import Evidence, Line

# Labels that identify a rank at the start of a line: torchrun --tee, PyTorch's excepthook, srun -l, Open MPI.
_LABEL = re.compile(rb"\n(?:\[[A-Za-z]+\d{1,6}\]:|\d{1,6}: |\[\d+,\d{1,7}\]<std\w+>)")
_MOST = 20_000  # speakers that are remembered; a job has no more ranks than this


class VoiceMeter:
    """A scan meter that notes which line labels each chunk has."""

    def __init__(self) -> None:
        self._last: dict[bytes, tuple[int, int]] = {}  # label behind its newline -> offset and size of its last chunk

    def feed(self, chunk: bytes, offset: int, first_line: int) -> None:
        """Note the labels of one chunk of whole lines that starts at byte `offset`."""
        data = bytes(chunk)
        if b"]:" not in data and b": " not in data and b"]<std" not in data:
            return
        labels = set(_LABEL.findall(data))
        if first := _LABEL.match(b"\n" + data[:64]):
            labels.add(first.group())
        if len(self._last) + len(labels) > _MOST:
            labels &= self._last.keys()
        self._last.update(dict.fromkeys(labels, (offset, len(data))))

    def lines(self, text: TextView) -> dict[int, Line]:
        """Return the last line of each global rank that was heard."""
        found: dict[int, Line] = {}
        for offset in sorted(self._places(text)):
            line = text.line_at(offset)
            rank = line.rank if line.rank is not None else line.local_rank
            if rank is not None:
                found[rank] = line
        return found

    def _places(self, text: TextView) -> Iterator[int]:
        chunks: dict[tuple[int, int], list[bytes]] = {}
        for label, place in self._last.items():
            chunks.setdefault(place, []).append(label)
        for (offset, size), labels in chunks.items():
            data = b"\n" + text.read(offset, offset + size)
            for label in labels:
                at = data.rfind(label)
                if at >= 0:
                    yield offset + at


def voices_of(meter: VoiceMeter, text: TextView) -> dict[int, Evidence]:
    """Return the last words of each rank; a local rank counts as the rank where no global one is printed."""
    return {rank: text.evidence(line) for rank, line in sorted(meter.lines(text).items())}
