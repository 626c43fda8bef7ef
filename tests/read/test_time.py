"""Stamps."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from diagnose.read import time as stamps
from diagnose.read.model import Clock


def seconds(*parts: int) -> float:
    """Seconds since the epoch of a UTC time."""
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    ("text", "time", "clock"),
    [
        ("2026-11-29T21:29:38.5Z", seconds(2026, 11, 29, 21, 29, 38) + 0.5, Clock.UTC),
        ("2026-11-29T21:29:38+02:00", seconds(2026, 11, 29, 19, 29, 38), Clock.UTC),
        ("2026-11-29 21:29:38-0530", seconds(2026, 11, 30, 2, 59, 38), Clock.UTC),
        ("2026-11-29 21:29:38,250", seconds(2026, 11, 29, 21, 29, 38) + 0.25, Clock.LOCAL),
        ("2026-11-29_21:29:38", seconds(2026, 11, 29, 21, 29, 38), Clock.LOCAL),
    ],
)
def test_dated_stamps(text: str, time: float, clock: Clock) -> None:
    """Date and time of day become seconds, with the zone where one is printed."""
    match = stamps.DATED.match(text)
    assert match is not None
    assert stamps.dated(match) == (time, clock)


def test_impossible_dates_are_none() -> None:
    """A 31st of February is no time."""
    match = stamps.DATED.match("2026-02-31 10:00:00")
    assert match is not None
    assert stamps.dated(match) is None


@pytest.mark.parametrize(
    ("near", "year"),
    [
        (seconds(2026, 12, 1), 2026),
        (seconds(2027, 1, 2), 2026),
        (seconds(2026, 11, 29), 2026),
        (seconds(2026, 11, 1), 2025),
    ],
)
def test_yearless_stamps_lie_before_the_file_was_last_written(near: float, year: int) -> None:
    """The year is the latest that does not put the line more than a day behind the file's own time."""
    match = stamps.GLOG.match("E1129 22:24:30.319000 7669 api.py:12] failed")
    assert match is not None
    found = stamps.glog(match, near)
    assert found is not None
    assert found[0] == pytest.approx(seconds(year, 11, 29, 22, 24, 30) + 0.319)
    assert found[1] is Clock.YEARLESS


def test_leap_day_without_year() -> None:
    """A 29th of February belongs to the last leap year."""
    assert stamps.yearless(2, 29, "10", "00", "00", None, seconds(2027, 3, 1)) == (
        seconds(2024, 2, 29, 10),
        Clock.YEARLESS,
    )


def test_show_is_as_exact_as_the_log() -> None:
    """Zone, fraction and date are shown only where the log had them."""
    moment = seconds(2026, 11, 29, 22, 0, 0)
    assert stamps.show(moment, Clock.UTC) == "2026-11-29T22:00:00Z"
    assert stamps.show(moment + 0.25, Clock.LOCAL) == "2026-11-29T22:00:00.25"
    assert stamps.show(36000.0, Clock.UNDATED) == "T10:00:00"
    assert stamps.show(12.5, Clock.MONOTONIC) is None
    assert stamps.show(None, Clock.UTC) is None
    assert stamps.show(1e300, Clock.UTC) is None
