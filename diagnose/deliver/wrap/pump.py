"""Carries a job's output through, byte for byte, and shows it to the recorder on the way."""

from __future__ import annotations

import fcntl
import os
import select
import sys
import termios
import threading
import time
from collections.abc import Sequence

from diagnose.classes import dataclass
from diagnose.deliver.wrap.record import Recorder

_PIECE = 1024 * 1024
_LONGEST = 64 * 1024  # bytes of an unfinished line that are held back from the record
_F_SETPIPE_SZ = 1031
_QUIET = 1.0  # seconds without output behind the job's end, then whoever still holds the pipe is left alone
_AFTER = 10.0  # seconds behind the job's end in which others may go on printing


@dataclass(slots=True, eq=False)
class _Route:
    """One of the job's streams on its way."""

    source: int  # the pipe's reading end
    target: int  # our own stdout or stderr
    rest: bytes = b""  # the beginning of a line, not yet recorded
    broken: bool = False  # nobody reads our own stream any more
    owed: int = 0  # bytes that lay in the pipe when the job ended, and were not carried yet


class Pump(threading.Thread):
    """Copies streams until they end. The job never waits for the record, only for whoever reads our own output."""

    def __init__(self, streams: Sequence[tuple[int, int]], recorder: Recorder) -> None:
        """Copy from each pipe to each target; `streams` are (reading end, target)."""
        super().__init__(name="pump", daemon=True)
        self._routes = {source: _Route(source, target) for source, target in streams}
        self._recorder: Recorder | None = recorder
        self._ending = threading.Event()
        self._unfinished: _Route | None = None  # whose unfinished line stands last in the record
        for source in self._routes:
            _widen(source)

    def finish(self) -> None:
        """Wait for what is still in the pipes once the job has ended."""
        self._ending.set()
        self.join()

    def run(self) -> None:
        """Copy until all pipes are closed, or nothing has come for a while since the job's end."""
        poll = select.poll()
        for source in self._routes:
            poll.register(source, select.POLLIN | select.POLLHUP)
        quiet, end = 0.0, 0.0
        while self._routes:
            ending = self._ending.is_set()
            ready = poll.poll(100 if ending else 250)
            quiet = 0.0 if ready or not ending else quiet + 0.1
            if ending and not end:
                # What the job itself printed stands in the pipes by now, and is carried however slow our reader is.
                end = time.monotonic() + _AFTER
                for route in self._routes.values():
                    route.owed = _waiting(route.source)
            late = ending and time.monotonic() > end and not any(route.owed > 0 for route in self._routes.values())
            if quiet >= _QUIET or late:
                break
            for source, _ in ready:
                if not self._carry(self._routes[source]):
                    poll.unregister(source)
                    self._record(self._routes.pop(source), last=True)
        for route in self._routes.values():
            self._record(route, last=True)

    def _carry(self, route: _Route) -> bool:
        """Carry one piece; False at the end of the stream."""
        try:
            data = os.read(route.source, _PIECE)
        except OSError:
            return False
        if not data:
            return False
        route.owed -= len(data)
        if not route.broken:
            route.broken = not _write(route.target, data)
        route.rest += data
        self._record(route)
        return True

    def _record(self, route: _Route, last: bool = False) -> None:
        """Record whole lines, so that two streams in one record do not cut each other's."""
        cut = route.rest.rfind(b"\n") + 1
        if last or len(route.rest) - cut > _LONGEST:
            cut = len(route.rest)
        data, route.rest = route.rest[:cut], route.rest[cut:]
        if self._recorder is None or not data:
            return
        try:
            if self._unfinished not in (None, route):
                self._recorder.write(b"\n")
            self._recorder.write(data)
            self._unfinished = None if data.endswith(b"\n") else route
        except Exception:  # whatever is wrong with the record, the job goes on
            self._recorder = None


def _waiting(pipe: int) -> int:
    """Tell how many bytes lie in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def _widen(pipe: int) -> None:
    try:
        fcntl.fcntl(pipe, _F_SETPIPE_SZ, _PIECE)
    except OSError:
        return  # a smaller pipe works as well


def _write(target: int, data: bytes) -> bool:
    """Write all of it, waiting where the reader is slow; False where nobody reads, or the disk is full."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:
            select.select([], [target], [], 1.0)
        except OSError:
            return False
    return True
