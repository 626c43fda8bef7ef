"""A hang without any error, and then the scheduler's time limit."""

from __future__ import annotations

from tests.conftest import Diagnose
from tests.reason.words import step

LIMIT = "slurmstepd: error: *** JOB 812 ON node-1 CANCELLED AT 2026-05-06T{clock} DUE TO TIME LIMIT ***\n"


def test_hang_before_time_limit(diagnose_logs: Diagnose) -> None:
    """Three hours of silence where a step takes three seconds are a hang, not a time limit that was too short."""
    log = "".join(step(number, clock=f"10:00:{number * 3:02d}") for number in range(1, 15))
    diagnosis = diagnose_logs({"slurm-812.out": log + LIMIT.format(clock="13:12:42")})
    assert diagnosis.verdict == "symptom_only"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "hang-before-time-limit"
    assert "silent for 3.2 h before, since iteration 14" in diagnosis.summary
    assert "TIME LIMIT" in diagnosis.root_cause.evidence[0].text


def test_who_stopped_first(diagnose_logs: Diagnose) -> None:
    """The rank whose log ends before the others' is named with its last words."""
    logs = {
        f"rank_{rank}.log": "".join(
            f"2026-05-06T10:{minute:02d}:00Z {step(minute, clock=f'10:{minute:02d}:00')}" for minute in range(1, 20)
        )
        for rank in (0, 1, 3)
    }
    logs["rank_2.log"] = "2026-05-06T10:00:01Z start\n2026-05-06T10:15:03Z waiting for a lock on /data/index\n"
    logs["slurm-812.out"] = LIMIT.format(clock="13:12:42")
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert "last words of rank 2" in diagnosis.summary
    assert any("waiting for a lock" in line.text for line in diagnosis.root_cause.evidence)


def test_working_until_the_limit(diagnose_logs: Diagnose) -> None:
    """A job that made progress until the limit only ran out of time."""
    log = "".join(step(number, clock=f"10:00:{number * 3:02d}") for number in range(1, 15))
    diagnosis = diagnose_logs({"slurm-812.out": log + LIMIT.format(clock="10:00:45")})
    assert diagnosis.verdict == "identified"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "slurm-time-limit"


def test_slow_steps_are_no_hang(diagnose_logs: Diagnose) -> None:
    """Eleven minutes are no hang where a step takes five."""
    log = "".join(step(number, clock=f"10:{number * 5:02d}:00").replace("3050.4", "300000.0") for number in range(1, 5))
    diagnosis = diagnose_logs({"slurm-812.out": log + LIMIT.format(clock="10:31:00")})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "slurm-time-limit"
