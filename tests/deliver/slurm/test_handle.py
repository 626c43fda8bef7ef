"""From a job to its diagnosis."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from diagnose.api import load_catalogue
from diagnose.catalogue.model import Catalogue
from diagnose.deliver.settings import SlurmSettings
from diagnose.deliver.slurm.handle import diagnose_job, report_base, task_of, wanted
from diagnose.deliver.slurm.job import Job, parse_scontrol, with_text
from tests.deliver.slurm.recorded import text


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """The packaged patterns."""
    return load_catalogue()


def made(tmp_path: Path, state: str, log: str = "iteration 1\n", **values: str) -> Job:
    """Give a job whose log lies in `tmp_path`."""
    path = tmp_path / "job.out"
    path.write_text(log)
    return with_text(Job("5", "gpt", state=state, stdout=str(path), **values))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "pattern"),
    [
        ("TIMEOUT", "slurm-time-limit"),
        ("DEADLINE", "slurm-time-limit"),
        ("NODE_FAIL", "slurm-node-failure"),
        ("BOOT_FAIL", "slurm-node-failure"),
        ("PREEMPTED", "slurm-preempted"),
        ("CANCELLED", "slurm-job-cancelled"),
    ],
)
def test_slurms_own_word(tmp_path: Path, catalogue: Catalogue, state: str, pattern: str) -> None:
    """Where the log says nothing, Slurm's state is the cause, and the evidence is Slurm's."""
    root = diagnose_job(made(tmp_path, state), catalogue).root_cause
    assert root is not None
    assert root.pattern == pattern
    assert root.evidence[0].path == "Slurm on job 5"


def test_out_of_memory(tmp_path: Path, catalogue: Catalogue) -> None:
    """OUT_OF_MEMORY proves what a bare kill in the log does not."""
    log = "srun: error: node-2: task 1: Killed\n"
    diagnosis = diagnose_job(made(tmp_path, "OUT_OF_MEMORY", log), catalogue)
    assert diagnosis.verdict == "identified"
    alone = diagnose_job(made(tmp_path, "", log), catalogue)
    assert alone.verdict == "symptom_only"


def test_silent_failure(tmp_path: Path, catalogue: Catalogue) -> None:
    """A job that failed without a word is never called healthy."""
    assert diagnose_job(made(tmp_path, "FAILED", exit_code="3:0"), catalogue).verdict == "unknown"
    assert diagnose_job(made(tmp_path, ""), catalogue, exit_status=3).verdict == "unknown"
    assert diagnose_job(made(tmp_path, "COMPLETED"), catalogue).verdict == "no_failure"


def test_limits_are_facts(tmp_path: Path, catalogue: Catalogue) -> None:
    """Limits and sizes that Slurm tells are facts of the run."""
    (job,) = parse_scontrol(text("time-limit.scontrol.txt"))
    config = diagnose_job(job, catalogue).run.config
    assert config["slurm.time"].value == "00:01:00"
    assert config["slurm.nodes"].value == 1
    assert config["slurm.time"].source.startswith("Slurm on job 1:")


def test_missing_log(tmp_path: Path, catalogue: Catalogue) -> None:
    """A log that is not there is named among the inputs, and Slurm's words still count."""
    job = replace(made(tmp_path, "TIMEOUT"), stdout=str(tmp_path / "gone.out"))
    diagnosis = diagnose_job(job, catalogue)
    assert diagnosis.verdict == "identified"
    assert any(item.path.endswith("gone.out") and item.problems for item in diagnosis.inputs)


def test_wanted() -> None:
    """Failed jobs are told, and those whose state is not known; cancelled ones where somebody asked for it."""
    plain, all_of_them = SlurmSettings(), SlurmSettings(cancelled=True)
    assert [wanted(Job("1", state=state), plain) for state in ("FAILED", "", "COMPLETED", "CANCELLED", "RUNNING")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert wanted(Job("1", state="CANCELLED"), all_of_them)


def test_report_base(tmp_path: Path) -> None:
    """A report is called after cluster, job and restart, and a name cannot leave the folder."""
    job = Job("7", array_id="3", array_task="1", restarts=2, cluster="../x")
    assert report_base(job, str(tmp_path)) == str(tmp_path / ".._x-3_1-2")
    assert report_base(job, str(tmp_path / "none")) == ""


def test_task() -> None:
    """The task names the logs, and carries Slurm's words."""
    (job,) = parse_scontrol(text("failed.scontrol.txt"))
    task = task_of(job, owner=0)
    assert task.paths[1] == "/home/alice/run/2.err"
    assert task.texts[0].kind == "slurm"
    assert (task.event.source, task.event.job_id, task.event.state) == ("slurm", "2", "FAILED")


def test_logs_beside_the_own_are_the_users(tmp_path: Path) -> None:
    """A hook names no file of somebody else that lies beside the log and bears the job's number."""
    log, beside = tmp_path / "slurm-48213.out", tmp_path / "step-48213.log"
    for path in (log, beside):
        path.write_text("x\n")
    job = Job("48213", stdout=str(log))
    mine = log.stat().st_uid
    assert task_of(job, owner=mine).paths == (str(log), str(beside))
    assert task_of(job, owner=mine + 1).paths == (str(log),)
