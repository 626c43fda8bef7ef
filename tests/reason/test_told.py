"""A line that tells of a failure in its own words is shown where nothing in the log is known."""

from __future__ import annotations

import pytest

from tests.conftest import Diagnose
from tests.reason.words import CHILD_FAILED, step

FAILED = "frobd[41]: gears turned 3 times\nFATAL: the frob of gear 7 does not turn\n"


def test_last_words_that_tell(diagnose_logs: Diagnose) -> None:
    """The line is the root, with low confidence, and the failure stays unknown."""
    diagnosis = diagnose_logs({"frob.log": FAILED})
    assert diagnosis.verdict == "unknown"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].line == 2
    assert (diagnosis.root_cause.pattern, diagnosis.root_cause.confidence) == ("unknown-error", "low")
    assert diagnosis.root_cause.category == "environment"
    assert "the frob of gear 7 does not turn" in diagnosis.summary


def test_placed_by_its_words(diagnose_logs: Diagnose) -> None:
    """The rules that place exceptions place the line, too."""
    diagnosis = diagnose_logs({"frob.log": "E0320 10:00:01 frob.cc:12] peer of gear 7: no route to host\n"})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "network"


@pytest.mark.parametrize(
    "log",
    [
        step(1) + FAILED,
        FAILED + "Training completed\n",
        FAILED + "gear 8 turns\ngear 9 turns\ngear 10 turns\n",
        "ERROR: frob 7 does not turn, retrying\n",
        "ERROR = 0\n",
        "[INFO] error: 0 of 12 frobs\n",
        "frob: WARNING: error: gear 7 is ignored\n",
        "args: log_level=ERROR\n",
        "  --frob  Exit where the checkpoint is not found\n",
        "frob: exit if the checkpoint is not found\n",
        "mismatch_of_gears .......... not found\n",
    ],
)
def test_no_failure(log: str, diagnose_logs: Diagnose) -> None:
    """A run that trained, ended well or went on did not fail, and a word in a setting tells nothing."""
    assert diagnose_logs({"frob.log": log}).verdict == "no_failure"


def test_many_logs(diagnose_logs: Diagnose) -> None:
    """Of a job's many logs each may end on anything."""
    assert diagnose_logs({f"frob-{number}.log": FAILED for number in range(4)}).verdict == "no_failure"


def test_behind_a_launcher(diagnose_logs: Diagnose) -> None:
    """Where a launcher says that the job failed, the first such line is shown, not the launcher's own words."""
    log = step(1) + FAILED + "ERROR: frobd exited with code 1\n" + CHILD_FAILED.format(code=1, local=0)
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.verdict == "unknown"
    assert diagnosis.root_cause is not None
    assert "gear 7" in diagnosis.root_cause.evidence[0].text


def test_the_first_of_equal_lines(diagnose_logs: Diagnose) -> None:
    """Of lines that say the same, the last one cut short, the first is shown."""
    line = "10:00:0{} W frob.cc:12] gear {} failed at the wheel that turns all of the others: it is stuck\n"
    log = "".join(line.format(number, number) for number in range(4)) + line.format(4, 4)[:80] + "\n"
    diagnosis = diagnose_logs({"frob.log": "turning\n" + log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].line == 2


def test_saved_before(diagnose_logs: Diagnose) -> None:
    """What was saved before the failure does not make it a good end."""
    log = "Saving checkpoints for 7200\nERROR - frob - uncaught exception: unable to connect to endpoint\n"
    diagnosis = diagnose_logs({"frob.log": log})
    assert (diagnosis.verdict, diagnosis.root_cause and diagnosis.root_cause.category) == ("unknown", "network")


def test_inside_an_exception_that_ended_nothing(diagnose_logs: Diagnose) -> None:
    """The last line of what Python printed and ignored tells of no failure, however many lines it has."""
    log = "gears turn\nException ignored in: <function Gear.__del__ at 0x7f>\nTraceback (most recent call last):\n"
    log += '  File "/opt/gear.py", line 7, in __del__\n    self.stop()\nOSError: the gear is gone\n'
    assert diagnose_logs({"frob.log": log + "its wheel was not found\n"}).verdict == "no_failure"
