"""A job's state, size and limits come off `scontrol show job`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data" / "slurm"


def test_limits(log: Any) -> None:
    """State, exit code, time limit and sizes of a record are facts."""
    facts = log((DATA / "time-limit.scontrol.txt").read_text()).facts()
    assert facts["run.scheduler_state"] == "TIMEOUT"
    assert facts["run.scheduler_exit_code"] == "0:15"
    assert facts["config.slurm.time"] == "00:01:00"
    assert (facts["config.slurm.nodes"], facts["config.slurm.ntasks"]) == (1, 1)


def test_other_lines(log: Any) -> None:
    """A line that only mentions the word is no record."""
    assert "run.scheduler_state" not in log("waiting for JobState=RUNNING NumNodes=4\n").facts()
