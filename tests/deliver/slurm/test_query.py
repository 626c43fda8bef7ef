"""Slurm's commands are asked with care."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from diagnose.deliver.slurm import query
from diagnose.deliver.slurm.query import Answer, Slurm, SlurmError, find_command, run_command
from tests.deliver.slurm.recorded import Commands, text

ROW = "12|12|train|alice|1000|OUT_OF_MEMORY|0:125|node1|1|8|01:00:00|64G|batch|alpha|a|b|/home/alice|0"
NO_SUCH = Answer(1, "", "slurm_load_jobs error: Invalid job id specified\n")


def test_controller_knows_the_job() -> None:
    """A job that the controller knows is not looked up elsewhere."""
    commands = Commands(scontrol=text("failed.scontrol.txt"))
    assert Slurm(commands).find("2")[0].state == "FAILED"
    assert commands.asked == [["scontrol", "show", "job", "2"]]


def test_forgotten_job() -> None:
    """A job that the controller has forgotten is looked up in the accounting."""
    assert Slurm(Commands(scontrol=NO_SUCH, sacct=ROW)).find("12")[0].state == "OUT_OF_MEMORY"


def test_no_accounting() -> None:
    """Without accounting a forgotten job is unknown, which is no error."""
    disabled = Answer(1, "", "Slurm accounting storage is disabled\n")
    assert Slurm(Commands(scontrol=NO_SUCH, sacct=disabled)).find("12") == []


def test_controller_is_away() -> None:
    """Where the controller does not answer the accounting may; where neither does, the error names the controller."""
    away = Answer(1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n")
    assert Slurm(Commands(scontrol=away, sacct=ROW)).find("12")[0].id == "12"
    with pytest.raises(SlurmError, match="Unable to contact slurm controller"):
        Slurm(Commands(scontrol=away)).find("12")


def test_old_accounting() -> None:
    """Releases whose accounting has no restart count are asked again without it."""

    def run(command: list[str]) -> Answer:
        if "Restarts" in command[-1]:
            return Answer(1, "", 'sacct: fatal: Invalid field requested: "Restarts"\n')
        return Answer(0, ROW.rpartition("|")[0], "")

    assert Slurm(run).recorded(["12"])[0].id == "12"  # type: ignore[arg-type]


def test_requeued_job() -> None:
    """Of a job that was queued again the last run is told."""
    later = ROW.replace("OUT_OF_MEMORY", "TIMEOUT")
    assert [job.state for job in Slurm(Commands(sacct=f"{ROW}\n{later}\n")).recorded(["12"])] == ["TIMEOUT"]


@pytest.mark.parametrize("job_id", ["", "x", "1;reboot", "--all", "1 2", "-1", "12_", "1" * 40])
def test_no_job_id(job_id: str) -> None:
    """What is no job id never reaches a command."""
    commands = Commands()
    with pytest.raises(SlurmError, match="no job id"):
        Slurm(commands).find(job_id)
    assert commands.asked == []


def test_states() -> None:
    """The queue is one question."""
    commands = Commands(squeue="4|CANCELLED\n12|RUNNING\nslurm_load_jobs: noise\n")
    assert Slurm(commands).states("alice") == {"4": "CANCELLED", "12": "RUNNING"}
    assert commands.asked[0][-1] == "--user=alice"


def test_many_jobs_are_one_question() -> None:
    """More than a few jobs are asked for at once, and only the wanted ones are returned."""
    commands = Commands(scontrol=text("array.scontrol.txt"))
    assert [job.id for job in Slurm(commands).show([str(n) for n in range(7, 30)])] == ["7"]
    assert commands.asked == [["scontrol", "show", "job"]]


def test_commands_are_found_without_a_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With an empty PATH the usual folders are looked at."""
    program = tmp_path / "scontrol"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", "")
    assert find_command("scontrol", [str(tmp_path)]) == str(program)
    assert find_command("scontrol", []) is None


def test_run_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A command that does not answer is given up; formats that a user has set do not reach it."""
    program = tmp_path / "squeue"
    program.write_text(f"#!{sys.executable}\nimport os, time\nprint(os.environ.get('SQUEUE_FORMAT'), flush=True)\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SQUEUE_FORMAT", "%i")
    assert run_command(["squeue"]).out == "None\n"
    program.write_text("#!/bin/sh\nexec sleep 20\n")
    monkeypatch.setattr(query, "TIMEOUT", 0.3)
    with pytest.raises(SlurmError, match="did not answer"):
        run_command(["squeue"])
