"""What stands behind the end of a job takes nothing back."""

from __future__ import annotations

import pytest

from tests.conftest import Diagnose
from tests.reason.words import step

KILLED = "slurmstepd: error: Job 7518 exceeded memory limit (626359956 > 512000000), being killed\n"
LIMIT = "slurmstepd: error: *** JOB 7518 ON gpu-7 CANCELLED AT 2026-05-06T10:00:10 DUE TO TIME LIMIT ***\n"
NAMED = LIMIT.replace("slurmstepd:", "slurmstepd-gpu-7:")  # as Slurm 23.11 and later write it


@pytest.mark.parametrize(
    ("end", "pattern"),
    [(KILLED, "host-memory-limit-exceeded"), (LIMIT, "slurm-time-limit"), (NAMED, "slurm-time-limit")],
)
def test_buffered_progress(diagnose_logs: Diagnose, end: str, pattern: str) -> None:
    """Iterations that a buffer gave back after Slurm ended the job do not make a success of it."""
    log = step(10) + step(11) + end + step(12) + step(13)
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == pattern


CANCELLED = (
    "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
    "slurmstepd: error: *** STEP 7518.0 ON gpu-7 CANCELLED AT 2026-05-06T10:00:10 ***\n"
    "srun: error: gpu-7: tasks 0-7: Terminated\n"
)


@pytest.mark.parametrize("word", [CANCELLED, KILLED.replace("Job 7518", "Step 7518.0")])
def test_a_later_step_ran_to_the_end(diagnose_logs: Diagnose, word: str) -> None:
    """A step that was ended is no failure of the job where a later step in the same file trains on to its end."""
    later = "".join(step(number, clock=f"10:02:{number - 50:02d}") for number in range(50, 101))
    assert diagnose_logs({"slurm-7518.out": step(10) + step(11) + word + later}).verdict == "no_failure"


def test_a_later_step_runs_on(diagnose_logs: Diagnose) -> None:
    """Stamps later than the scheduler's word by more than a buffer holds show that the job went on."""
    later = step(12, clock="10:02:00") + step(13, clock="10:02:03")
    assert diagnose_logs({"slurm-7518.out": step(10) + step(11) + CANCELLED + later}).verdict == "no_failure"


def test_the_last_words_of_a_cancelled_step(diagnose_logs: Diagnose) -> None:
    """What a step still writes while it is being ended does not take the scheduler's word back."""
    later = step(12, clock="10:00:12") + step(13, clock="10:00:15")
    diagnosis = diagnose_logs({"slurm-7518.out": step(10) + step(11) + CANCELLED + later})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "slurm-job-cancelled"
