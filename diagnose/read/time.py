"""Turns the stamps of logs into seconds since the epoch, and says how far they can be trusted."""

from __future__ import annotations

import re
import time as _clock
from datetime import UTC, datetime

from diagnose.lazy import Lazy
from diagnose.read.model import Clock

DAY = 86400.0
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
MONTHS = {name: at for at, name in enumerate(_MONTHS.split(), 1)}

Stamp = tuple[float, Clock]

DATED = Lazy(
    r"(\d{4})-(\d\d)-(\d\d)[T _](\d\d):(\d\d):(\d\d)(?:[.,:](\d{1,9}))?\s?(Z\b|UTC\b|[+-]\d\d:?\d\d\b)?", re.ASCII
)
GLOG = Lazy(r"\[?[IWEFCDV](\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?", re.ASCII)
AMERICAN = Lazy(r"\[?(\d\d)/(\d\d)/(\d{4}|\d\d) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?", re.ASCII)
SYSLOG = Lazy(r"([A-Z][a-z][a-z]) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?", re.ASCII)
WEEKDAY = Lazy(r"[A-Z][a-z][a-z] ([A-Z][a-z][a-z]) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d)(?: (UTC))? (\d{4})", re.ASCII)
UNDATED = Lazy(r"\[?(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?=[\],| \t]|$)", re.ASCII)


def _seconds(
    year: int, month: int, day: int, hour: str, minute: str, second: str, fraction: str | None
) -> float | None:
    try:
        # A leap second is read as the second after it.
        whole = datetime(year, month, day, int(hour), int(minute), min(int(second), 59), tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None
    return whole + float("0." + fraction) if fraction else whole


def dated(match: re.Match[str]) -> Stamp | None:
    """Read a match of DATED; without a zone it is read as UTC and marked local."""
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    seconds = _seconds(int(year), int(month), int(day), hour, minute, second, fraction)
    if seconds is None:
        return None
    if not zone:
        return seconds, Clock.LOCAL
    if zone[0] in "+-":
        shift = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
        seconds -= shift if zone[0] == "+" else -shift
    return seconds, Clock.UTC


def yearless(
    month: int, day: int, hour: str, minute: str, second: str, fraction: str | None, near: float | None
) -> Stamp | None:
    """Read a stamp without a year: the latest year that does not lie more than a day behind `near`.

    `near` is a time when the log existed, such as the file's last change, in seconds since the epoch; None is now.
    """
    limit = (_clock.time() if near is None else near) + DAY
    try:
        year = datetime.fromtimestamp(limit, UTC).year
    except (ValueError, OverflowError, OSError):
        return None
    # 29 February exists in one year of four, at worst in one of eight.
    for back in range(9):
        seconds = _seconds(year - back, month, day, hour, minute, second, fraction)
        if seconds is not None and seconds <= limit:
            return seconds, Clock.YEARLESS
    return None


def glog(match: re.Match[str], near: float | None) -> Stamp | None:
    """Read a match of GLOG (glog and the C++ part of PyTorch: month, day and time of day)."""
    month, day, hour, minute, second, fraction = match.groups()
    return yearless(int(month), int(day), hour, minute, second, fraction, near)


def syslog(match: re.Match[str], near: float | None) -> Stamp | None:
    """Read a match of SYSLOG (RFC 3164)."""
    name, day, hour, minute, second, fraction = match.groups()
    month = MONTHS.get(name)
    return yearless(month, int(day), hour, minute, second, fraction, near) if month else None


def weekday(match: re.Match[str]) -> Stamp | None:
    """Read a match of WEEKDAY (ctime, `date`, `dmesg -T`)."""
    name, day, hour, minute, second, zone, year = match.groups()
    month = MONTHS.get(name)
    seconds = _seconds(int(year), month, int(day), hour, minute, second, None) if month else None
    return None if seconds is None else (seconds, Clock.UTC if zone else Clock.LOCAL)


def american(match: re.Match[str]) -> Stamp | None:
    """Read a match of AMERICAN (month/day/year, as Transformers' examples and Rich print it)."""
    month, day, year, hour, minute, second, fraction = match.groups()
    seconds = _seconds(int(year) % 100 + 2000, int(month), int(day), hour, minute, second, fraction)
    return None if seconds is None else (seconds, Clock.LOCAL)


def undated(match: re.Match[str]) -> Stamp | None:
    """Read a match of UNDATED as seconds of the day."""
    hour, minute, second, fraction = match.groups()
    if int(hour) > 23 or int(minute) > 59 or int(second) > 60:
        return None
    seconds = int(hour) * 3600.0 + int(minute) * 60 + int(second)
    return seconds + float("0." + fraction) if fraction else seconds, Clock.UNDATED


def show(time: float | None, clock: Clock) -> str | None:
    """Write a time in ISO 8601, without a zone where the log named none; None where there is no date or time."""
    if time is None or clock in (Clock.NONE, Clock.MONOTONIC):
        return None
    try:
        moment = datetime.fromtimestamp(round(time, 6), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    text = moment.strftime("T%H:%M:%S" if clock is Clock.UNDATED else "%Y-%m-%dT%H:%M:%S")
    if moment.microsecond:
        text += f".{moment.microsecond:06d}".rstrip("0")
    return text + "Z" if clock is Clock.UTC else text
