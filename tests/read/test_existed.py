"""When a log was written, where the date of its file cannot be right."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from diagnose.catalogue.model import Catalogue
from diagnose.facts.collect import Probe, collect
from diagnose.read import find_sources
from diagnose.read.existed import existed_at, last_dated, not_later_than
from diagnose.reason import Diagnosis, reason
from tests.reason.words import OUT_OF_MEMORY, step, traceback, watchdog

DAY = 86_400.0
COPIED = datetime(2027, 3, 1, tzinfo=UTC).timestamp()  # when somebody unpacked the logs


def test_last_dated() -> None:
    """The last date that a line begins with counts; one inside of a line does not."""
    begin = b"[2025-03-14 09:00:00] start\n"
    begin += b"built on the machine of somebody else, on a rainy day in spring, 2019-01-01 00:00:00\n"
    assert last_dated(begin, b"no date\n") == datetime(2025, 3, 14, 9, tzinfo=UTC).timestamp()
    assert last_dated(begin, b"3: [2025-03-15 09:00:00] end\n") == datetime(2025, 3, 15, 9, tzinfo=UTC).timestamp()
    assert last_dated(b"\xff\xfe 9999-99-99 99:99:99\n", b"") is None


@pytest.mark.parametrize(
    ("modified", "last", "existed", "limit"),
    [
        (100 * DAY, None, 100 * DAY, 100 * DAY),
        (None, 90 * DAY, 90 * DAY, 270 * DAY),
        (100 * DAY, 90 * DAY, 100 * DAY, 100 * DAY),  # it went on without dates
        (900 * DAY, 90 * DAY, 90 * DAY, 270 * DAY),  # a copy
    ],
)
def test_which_date_counts(modified: float | None, last: float | None, existed: float, limit: float) -> None:
    """The file's date counts unless it lies far behind the last stamp."""
    assert existed_at(modified, last) == existed
    assert not_later_than(modified, last) == limit


def diagnosed(folder: Path, logs: dict[str, str], catalogue: Catalogue, probe: Probe) -> Diagnosis:
    """Write logs as somebody would who unpacked them in another year, and diagnose them."""
    for name, text in logs.items():
        (folder / name).write_text(text)
        os.utime(folder / name, (COPIED, COPIED))
    sources, problems = find_sources([str(folder)])
    return reason([collect(source, probe) for source in sources], catalogue, problems=problems)


def test_no_year_beside_full_dates(tmp_path: Path, packaged: Catalogue, probe: Probe) -> None:
    """The launcher's stamps have no year: a copied log does not seem to be silent for the time since it was made."""
    log = "".join(step(number, clock=f"10:{number:02}:00") for number in range(1, 9)) + (
        "W0506 10:08:30.000000 4001 torch/distributed/elastic/agent/server/api.py:741] Received 15 death signal, "
        "shutting down workers\n"
    )
    diagnosis = diagnosed(tmp_path, {"train.log": log}, packaged, probe)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "signal-exception"
    assert diagnosis.root_cause.evidence[0].time == "2026-05-06T10:08:30"


def test_no_year_in_one_of_two_files(tmp_path: Path, packaged: Catalogue, probe: Probe) -> None:
    """A file whose stamps all lack the year is held against one that has it."""
    logs = {
        "rank_0.log": "".join(f"[2026-05-06 10:00:{second:02}] epoch 1\n" for second in range(40))
        + "".join(f"[2026-05-06 10:01:00] {line}\n" for line in traceback(OUT_OF_MEMORY).splitlines()),
        "rank_1.log": watchdog(1, "10:10:30"),
        "kern.log": "May  6 10:00:30 n1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=12, GPU has fallen off the bus.\n",
    }
    diagnosis = diagnosed(tmp_path, logs, packaged, probe)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].path.endswith("kern.log")
