"""Reads the numbers of a log in a second process, while this one still loads what it judges them with.

Half of a short run is loading, and a third is the numbers on iteration lines: on two processors both are done at once.
Whatever goes wrong there, this process reads the numbers itself.
"""

from __future__ import annotations

import os
import signal
import stat

from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from diagnose.facts.numbers import Metrics, Numbers
    from diagnose.read.stream import ByteStream

LEAST, MOST = 300_000, 32_000_000  # bytes of a log whose numbers are worth a process, and are all read by one
_PIECE = 1 << 20


class Ahead:
    """A process that reads the numbers of one log.

    Args:
        path: the log.
        metrics: which of the numbers, as in `collect`.
        kept: called in that process when all is sent.

    Raises OSError where no process can be started. To be closed, whatever the reason.
    """

    def __init__(self, path: str, metrics: Metrics, kept: Callable[[], None]) -> None:
        self._path = path
        self._pipe, writer = os.pipe()
        try:
            self._process = os.fork()
        except OSError:
            os.close(self._pipe)
            os.close(writer)
            raise
        if not self._process:
            _work(path, metrics, writer, kept)
        os.close(writer)

    def reads(self, stream: ByteStream) -> bool:
        """Tell whether this is most probably what that process reads."""
        return self._process > 0 and stream.seekable and stream.source.path == self._path and stream.size <= MOST

    def numbers(self, stream: ByteStream) -> Numbers | None:
        """Wait for the numbers; None where that process found another file, or died."""
        found: Any = None
        data = bytearray()
        while piece := os.read(self._pipe, _PIECE):
            data += piece
        if data:
            from pickle import UnpicklingError, loads

            try:
                found = loads(data)
            except (EOFError, UnpicklingError):
                found = None  # it died while it told
        self._end()
        return found[1] if found is not None and found[0] == identity(stream) else None

    def close(self) -> None:
        """Leave no process behind."""
        if self._process:
            os.kill(self._process, signal.SIGKILL)
            self._end()

    def _end(self) -> None:
        os.close(self._pipe)
        os.waitpid(self._process, 0)
        self._process = 0


def identity(stream: ByteStream) -> tuple[str, str, int, float | None]:
    """What tells one state of a file from another."""
    return stream.source.path, stream.source.kind.value, stream.size, stream.modified


def look_ahead(asked: dict[str, Any], kept: Callable[[], None]) -> Ahead | None:
    """Begin to read the numbers of a plain command's log; None where that is not worth a process, or not possible.

    Arguments: the options as in `answer`; `kept`, called in the process at its end.
    """
    paths, metrics = asked["paths"], asked.get("metrics", "sampled")
    if len(paths) != 1 or metrics == "off" or asked.get("jobs", 2) < 2 or not hasattr(os, "fork"):
        return None
    try:
        status = os.stat(paths[0])
        if stat.S_ISREG(status.st_mode) and LEAST <= status.st_size <= MOST and len(os.sched_getaffinity(0)) > 1:
            import diagnose.facts.numbers  # noqa: F401 both processes need it: it is loaded once, before they part

            return Ahead(paths[0], metrics, kept)
    except (OSError, ValueError, AttributeError):
        pass
    return None


def _work(path: str, metrics: Metrics, writer: int, kept: Callable[[], None]) -> None:
    from diagnose.expressions import EXPRESSIONS

    code = 1
    try:
        _let_go(writer)
        data = _numbers(path, metrics)
        while data:
            data = data[os.write(writer, data) :]
        os.close(writer)
        code = 0
        EXPRESSIONS.save()
        kept()
    finally:
        os._exit(code)


def _let_go(writer: int) -> None:
    # Whoever reads what the first process prints waits for all that have it open, and that one may be killed.
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in {0, 1, 2} - {writer, nothing}:
        os.dup2(nothing, each)


def _numbers(path: str, metrics: Metrics) -> memoryview:
    from pickle import dumps

    from diagnose.facts.numbers import Meters, numbers_of
    from diagnose.read import Kind, LineIndex, Text, find_sources, open_stream
    from diagnose.scan import Database, scan

    sources, _ = find_sources([path])
    if len(sources) != 1 or sources[0].kind not in (Kind.LOG, Kind.KERNEL, Kind.SLURM):
        return memoryview(b"")
    with open_stream(sources[0]) as stream:
        if not stream.seekable:
            return memoryview(b"")
        index, meters = LineIndex(), Meters()
        result = scan(stream, index, Database(()), meters.sampled(metrics), meters.always(metrics))
        text = Text(stream, index, sources[0])
        numbers = numbers_of(meters, sources[0], text, text.existed, sampled=result.sampled)
        return memoryview(dumps((identity(stream), numbers)))
