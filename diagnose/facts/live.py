"""One source that is being written: its bytes are read once, as they come; its record can be asked for at any time."""

from __future__ import annotations

import os
from functools import partial

from diagnose.facts.collect import FEW, collect, record_of
from diagnose.facts.model import SourceRecord
from diagnose.facts.numbers import Meters, Metrics, numbers_of
from diagnose.facts.probe import Probe
from diagnose.read import Kind, LineIndex, Source, Text
from diagnose.read.growing import AT_ONCE, GrowingFile
from diagnose.scan.live import LiveScan
from diagnose.scan.sampler import ALL_UP_TO, Sampler
from diagnose.scan.scan import CHUNK

_METERED, _LEAST_METERED = 4, 64_000  # bytes whose numbers are read whole, for a byte of room, and at least
_LEAST_GATHERED = 8_192
__all__ = ["AT_ONCE", "LiveSource", "StillSource", "is_still"]


class LiveSource:
    """A log that grows.

    Args:
        source: its file.
        probe: what to look for.
        metrics: as in `collect`.
        room: bytes of memory that it may take, about; what is remembered of a file that is cut is most of it.
        brief: as in `collect`.
    """

    def __init__(self, source: Source, probe: Probe, *, metrics: Metrics, room: int, brief: bool = False) -> None:
        self.source = source
        self._probe = probe
        self._brief = brief
        self._stream = GrowingFile(source, room // 2)
        self._metrics: Metrics = metrics
        make = partial(
            _sampler,
            metrics=metrics,
            most=_LEAST_METERED if brief else min(ALL_UP_TO, max(_LEAST_METERED, _METERED * room)),
        )
        gather = min(CHUNK, max(_LEAST_GATHERED, room // 4))
        self._scan: LiveScan[Meters] = LiveScan(
            self._stream, probe.database, Meters(), make, gather, FEW if brief else None
        )
        self._record: SourceRecord | None = None
        self._told = (-1, -1)  # bytes and problems of that record

    @property
    def identity(self) -> tuple[int, int] | None:
        """Device and number of the file that is open."""
        return self._stream.identity

    @property
    def news(self) -> int:
        """How many lines were found that may matter."""
        return self._scan.news

    def read(self) -> int:
        """Read what was added; returns how many bytes."""
        before = self._stream.size
        for chunk in self._stream.take():
            self._scan.take(chunk)
        if self._stream.size > before:
            self._scan.rest()
        return self._stream.size - before

    def end(self) -> None:
        """Read the last line too, which has no end: nobody writes any more."""
        for chunk in self._stream.flush():
            self._scan.take(chunk)

    def record(self) -> SourceRecord:
        """Return what the source says up to here."""
        state = (self._scan.size, len(self._stream.problems))
        if self._record is None or state != self._told:
            index = LineIndex()
            result, meters = self._scan.result(index)
            text = Text(self._stream, index, self.source)
            existed = text.existed
            numbers = partial(numbers_of, meters, self.source, text, existed, sampled=result.sampled, brief=self._brief)
            self._record = record_of(self.source, self._probe, result, text, numbers, existed, brief=self._brief)
            self._told = state
        return self._record

    def close(self) -> None:
        """Let the file go."""
        self._stream.close()


class StillSource:
    """A file that is written at once (an archive, a dump, torchrun's error file): read anew when it changed."""

    def __init__(self, source: Source, probe: Probe, *, metrics: Metrics) -> None:
        self.source = source
        self._probe = probe
        self._metrics: Metrics = metrics
        self._seen: tuple[int, int] | None = None
        self._record: SourceRecord | None = None
        self.identity: tuple[int, int] | None = None
        self.news = 0

    def read(self) -> int:
        """Look whether it changed; returns its bytes where it did."""
        try:
            status = os.stat(self.source.path)
        except OSError:
            return 0
        seen = (status.st_size, status.st_mtime_ns)
        if seen == self._seen:
            return 0
        self._seen, self._record, self.identity = seen, None, (status.st_dev, status.st_ino)
        self.news += 1
        return status.st_size

    def end(self) -> None:
        """There is no rest."""

    def record(self) -> SourceRecord:
        """Return what the file says."""
        if self._record is None:
            self._record = collect(self.source, self._probe, metrics=self._metrics)
        return self._record

    def close(self) -> None:
        """There is nothing to let go."""


def is_still(source: Source, *, packed: bool) -> bool:
    """Tell whether a file is no log that grows; `packed`: it is an archive."""
    return packed or source.kind in (Kind.ERROR_FILE, Kind.FLIGHT_RECORDER)


def _sampler(meters: Meters, *, metrics: Metrics, most: int) -> Sampler:
    return Sampler(meters.sampled(metrics), meters.always(metrics), most)
