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


def loss(number: int, value: str) -> str:
    """One step of a hand-written loop, with its loss."""
    return f"step {number} loss {value}\n"


def test_a_loss_that_is_finite_again(diagnose_logs: Diagnose) -> None:
    """A NaN that did not reach the weights is no failure; one that stays, or that ends the log, is."""
    start = loss(1, "2.1") + loss(2, "nan")
    again = "".join(loss(number, "2.0") for number in range(3, 7))
    assert diagnose_logs({"train.log": start + again}).verdict == "no_failure"
    for end in ("", loss(3, "nan"), loss(3, "2.0"), again + loss(7, "nan")):
        diagnosis = diagnose_logs({"train.log": start + end})
        assert diagnosis.root_cause is not None
        assert diagnosis.root_cause.pattern == "loss-nan"


STALE = "[writer] WARNING upload: OSError: [Errno 116] Stale file handle{said}\n"


def test_a_line_that_says_what_was_done(diagnose_logs: Diagnose) -> None:
    """A line that tells of an error and that it was tried again is no failure, unless a launcher says otherwise."""
    assert diagnose_logs({"convert.log": STALE.format(said="")}).verdict == "identified"
    assert diagnose_logs({"convert.log": STALE.format(said=", retried")}).verdict == "no_failure"
    failed = STALE.format(said=", retried") + "srun: error: gpu-7: task 0: Exited with exit code 1\n"
    assert diagnose_logs({"convert.log": failed}).verdict != "no_failure"


@pytest.mark.parametrize(
    ("end", "verdict"), [("[after training is done] datetime: 2026-05-06 10:00:12\n", "no_failure"), ("", "identified")]
)
def test_the_trainers_own_word_of_the_end(diagnose_logs: Diagnose, end: str, verdict: str) -> None:
    """What stands before the line with which a trainer says that its loop is over did not end it."""
    assert diagnose_logs({"train.log": step(10) + step(11) + STALE.format(said="") + end}).verdict == verdict


def test_epochs_end_with_the_same_bar(diagnose_logs: Diagnose) -> None:
    """A bar that stands at the same place in another epoch is progress; one that is drawn again is not."""
    bar = "Epoch {epoch}: 100%|##########| 100/100 [00:10<00:00, 9.9it/s, train_loss=1.{epoch}]\n"
    first, second = bar.format(epoch=0), bar.format(epoch=1)
    assert diagnose_logs({"train.log": first + STALE.format(said="") + second}).verdict == "no_failure"
    assert diagnose_logs({"train.log": first + STALE.format(said="") + first}).verdict == "identified"


ASIDE = """Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/{file}.py", line 303, in {function}
    finalizer()
OSError: [Errno 16] Device or resource busy: '.nfs0001'
"""


def test_exceptions_beside_the_program(diagnose_logs: Diagnose) -> None:
    """What multiprocessing prints while it tidies up, and a thread's exception after the run's end, end nothing."""
    tidy = ASIDE.format(file="multiprocessing/util", function="_run_finalizers")
    thread = ASIDE.format(file="threading", function="_bootstrap_inner")
    end = "[after training is done] datetime: 2026-05-06 10:00:12\n"
    assert diagnose_logs({"train.log": step(10) + tidy}).verdict == "no_failure"
    assert diagnose_logs({"train.log": step(10) + end + thread}).verdict == "no_failure"
    assert diagnose_logs({"train.log": step(10) + thread}).verdict != "no_failure"


def test_a_stamp_of_another_clock(diagnose_logs: Diagnose) -> None:
    """A line stamped hours later that stands before the last iteration is no silence."""
    stranger = "W0506 18:00:05.000 99 torch/distributed/run.py:862] Setting OMP_NUM_THREADS\n"
    steps = "".join(step(number, clock=f"10:00:{number:02d}") for number in range(10, 30))
    assert diagnose_logs({"train.log": stranger + steps}).verdict == "no_failure"


@pytest.mark.parametrize("level", ["WARNING:root:", "2026-11-29 10:00:00,123 - acme.loader - INFO - ", "[DEBUG] "])
def test_a_logger_below_errors(level: str, diagnose_logs: Diagnose) -> None:
    """An exception that a logger tells of in one line, as less than an error, is no failure."""
    log = f"{level}ImportError: cannot import name 'frob' from 'acme' (/opt/acme/__init__.py)\n"
    assert diagnose_logs({"train.log": log}).verdict == "no_failure"
    assert diagnose_logs({"train.log": log.replace(level, "ERROR:root:")}).verdict != "no_failure"
