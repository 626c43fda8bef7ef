"""The watcher tells every failed job once."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.deliver.ledger import Ledger
from diagnose.deliver.settings import Settings
from diagnose.deliver.slurm.job import Job
from diagnose.deliver.slurm.query import Answer, Slurm, SlurmError
from diagnose.deliver.slurm.watch import Seen, Watch
from diagnose.deliver.task import Announced
from tests.deliver.slurm.recorded import Commands, text

FAILED = text("failed.scontrol.txt")
ROW = "9|9|train|alice|1000|{state}|1:0|node1|1|8|01:00:00|64G|batch|alpha|a|{end}|/home/alice|0"


def announce(job: Job) -> Announced:
    """Stand for the diagnosis."""
    return Announced("identified", f"told {job.label}")


def make(tmp_path: Path, commands: Commands) -> Watch:
    """Give a watcher of prepared answers."""
    return Watch(Settings(), Ledger(str(tmp_path / "ledger")), slurm=Slurm(commands), announce=announce)


def labels(seen: list[Seen]) -> list[str]:
    """Name the jobs that were told."""
    return [each.job.label for each in seen]


def test_once(tmp_path: Path) -> None:
    """A failed job is told once, by this watcher and by the next one."""
    commands = Commands(squeue="2|FAILED\n5|COMPLETED\n6|RUNNING\n", scontrol=FAILED)
    watch = make(tmp_path, commands)
    assert labels(watch.look()) == ["2"]
    asked = len(commands.asked)
    assert watch.look() == []
    assert len(commands.asked) == asked + 1  # the queue only: what was shown is not asked for again
    assert make(tmp_path, commands).look() == []


def test_queued_again(tmp_path: Path) -> None:
    """The same number that fails again after a restart is another failure."""
    commands = Commands(squeue="2|FAILED\n", scontrol=FAILED)
    watch = make(tmp_path, commands)
    watch.look()
    commands.answers = {"squeue": "2|PENDING\n"}
    assert watch.look() == []
    commands.answers = {"squeue": "2|FAILED\n", "scontrol": FAILED.replace("Restarts=0", "Restarts=1")}
    assert labels(watch.look()) == ["2"]


def test_left_the_queue_unseen(tmp_path: Path) -> None:
    """A job that was there and is gone is looked up in the accounting."""
    commands = Commands(squeue="9|RUNNING\n10|RUNNING\n")
    watch = make(tmp_path, commands)
    assert watch.look() == []
    rows = ROW.format(state="FAILED", end="x") + "\n" + ROW.replace("9|9", "10|10").format(state="COMPLETED", end="y")
    commands.answers = {"squeue": "", "sacct": rows}
    assert labels(watch.look()) == ["9"]
    assert "--jobs=9,10" in commands.asked[-1]


def test_cancelled(tmp_path: Path) -> None:
    """Jobs that somebody cancelled are left alone, unless the configuration says otherwise."""
    cancelled = FAILED.replace("JobState=FAILED", "JobState=CANCELLED")
    assert make(tmp_path, Commands(squeue="2|CANCELLED\n", scontrol=cancelled)).look() == []


def test_pauses_double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While Slurm does not answer the pauses double, up to 15 minutes; then they are as before."""
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 6:
            commands.answers = {"squeue": ""}
        if len(pauses) == 7:
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", sleep)
    monkeypatch.setattr("random.uniform", lambda low, high: 1.0)
    commands = Commands(squeue=Answer(1, "", "slurm_load_jobs error: Unable to contact slurm controller\n"))
    sentences: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, commands).follow(lambda seen: None, sentences.append)
    assert pauses == [120, 240, 480, 900, 900, 900, 60]
    assert "the next look is in 120 s" in sentences[0]


def test_error_of_one_look(tmp_path: Path) -> None:
    """A single look raises where Slurm does not answer."""
    with pytest.raises(SlurmError):
        make(tmp_path, Commands()).look()
