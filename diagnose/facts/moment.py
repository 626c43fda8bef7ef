"""Makes comparable moments out of the stamps on lines."""

from __future__ import annotations

from diagnose.read.model import Clock, Line

_DAY = 86_400.0
_SLACK = 3_600.0  # a log may be written to this long after its file's time stamp was read


def moment_of(line: Line, modified: float | None) -> float | None:
    """Return a line's time in seconds since the epoch, None where it cannot be compared with others.

    Arguments: the line; the time of the file's last change, which dates a time of day. Seconds since boot (dmesg) stay
    unknown: nothing says when the node booted.
    """
    if line.time is None or line.clock in (Clock.NONE, Clock.MONOTONIC):
        return None
    if line.clock is not Clock.UNDATED:
        return line.time
    if modified is None:
        return None
    today = modified - modified % _DAY
    dated = today + line.time % _DAY
    return dated if dated <= modified + _SLACK else dated - _DAY
