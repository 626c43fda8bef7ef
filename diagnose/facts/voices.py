"""Remembers where each speaker of a merged log was heard, so that a rank that fell silent can be named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from diagnose.facts.model import Held
from diagnose.facts.reader import TextView
from diagnose.read.model import Evidence, Line

# Labels that identify a rank at the start of a line: torchrun --tee, PyTorch's excepthook, srun -l, Open MPI.
_LABEL = re.compile(rb"\n(?:\[[A-Za-z]+\d{1,6}\]:|\d{1,6}: |\[\d+,\d{1,7}\]<std\w+>)")
_DIGITS = re.compile(rb"\d+")
_FEWEST = 3  # speakers, to tell a file put together of their words from one where each spoke once
_MANY = 4096  # speakers beyond which it is not looked at how their words lie
_DIGITS = re.compile(rb"\d+")
_FEWEST = 3  # speakers, to tell a file put together of their words from one where each spoke once
_MOST = 20_000  # speakers that are remembered; a job has no more ranks than this

Chunk = tuple[int, int]  # offset and size


class VoiceMeter:
    """A scan meter that keeps the first and the last chunk of each line label."""

    def __init__(self) -> None:
        # By label behind its newline; where in the chunk it stands is looked up at the end: most are heard in all.
        self._first: dict[bytes, Chunk] = {}
        self._last: dict[bytes, Chunk] = {}

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
        here = dict.fromkeys(labels, (offset, len(data)))
        self._first = {**here, **self._first}
        self._last.update(here)

    def held(self, text: TextView) -> Held:
        """Tell whether the words of three speakers or more stand one after another, as `srun` and `cat` leave them."""
        # A speaker who is heard where another one's words begin and go on rules it out, without a look at the text.
        if len(self._first) < _FEWEST or _entangled([(a, self._last[label]) for label, a in self._first.items()]):
            return "no"
        first, last = dict(_places(self._first, text, bytes.find)), dict(_places(self._last, text, bytes.rfind))
        spans = sorted((first[label], last[label], label) for label in first.keys() & last.keys())
        if len(spans) < _FEWEST or any(a[1] > b[0] for a, b in pairwise(spans)):
            return "no"
        numbers = [int(digits[0]) for _, _, label in spans if (digits := _DIGITS.findall(label))]
        return "sorted" if numbers == sorted(numbers) else "apart"

    def lines(self, text: TextView) -> dict[int, Line]:
        """Return the last line of each global rank that was heard."""
        found: dict[int, Line] = {}
        for _, offset in sorted(_places(self._last, text, bytes.rfind), key=lambda place: place[1]):
            line = text.line_at(offset)
            rank = line.rank if line.rank is not None else line.local_rank
            if rank is not None:
                found[rank] = line
        return found


def _entangled(spans: list[tuple[Chunk, Chunk]]) -> bool:
    """Do two speakers' words overlap by more than a chunk?"""
    return any(a[1] > b[0] for a, b in pairwise(sorted(spans)))


def _places(
    chunks: dict[bytes, Chunk], text: TextView, search: Callable[[bytes, bytes], int]
) -> Iterator[tuple[bytes, int]]:
    """Where the labels stand in their chunks, searched from one end."""
    together: dict[Chunk, list[bytes]] = {}
    for label, chunk in chunks.items():
        together.setdefault(chunk, []).append(label)
    for (offset, size), labels in together.items():
        data = b"\n" + text.read(offset, offset + size)
        for label in labels:
            at = search(data, label)
            if at >= 0:
                yield label, offset + at


def voices_of(meter: VoiceMeter, text: TextView) -> dict[int, Evidence]:
    """Return the last words of each rank; a local rank counts as the rank where no global one is printed."""
    return {rank: text.evidence(line) for rank, line in sorted(meter.lines(text).items())}
