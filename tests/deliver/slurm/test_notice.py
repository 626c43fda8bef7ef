"""The environment of a hook tells of the job."""

from __future__ import annotations

from diagnose.deliver.slurm.filename import log_paths
from diagnose.deliver.slurm.notice import from_jobcomp, from_slurmctld, state_of_subject
from tests.deliver.slurm.recorded import arguments, environment


def test_jobcomp() -> None:
    """jobcomp/script is told everything; an array index of 4294967294 means none."""
    job = from_jobcomp(environment("failed.jobcomp.env"))
    assert (job.label, job.name, job.state, job.exit_code, job.uid) == ("2", "fail job", "FAILED", "3:0", 0)
    assert log_paths(job) == ["/home/alice/run/o_fail job_00002_root_%.out", "/home/alice/run/2.err"]
    assert "JobState=FAILED" in job.text


def test_jobcomp_of_an_array() -> None:
    """A task of an array has the array's number, and the default name of its log."""
    job = from_jobcomp(environment("array.jobcomp.env"))
    assert job.label == "3_2"
    assert log_paths(job) == ["/home/alice/run/slurm-3_2.out"]


def test_jobcomp_at_the_time_limit() -> None:
    """The state is what counts: the exit code is 0:0."""
    job = from_jobcomp(environment("time-limit.jobcomp.env"))
    assert (job.state, job.exit_code, job.time_limit) == ("TIMEOUT", "0:0", "00:01:00")


def test_epilog() -> None:
    """EpilogSlurmctld is not told the state."""
    job = from_slurmctld(environment("array.epilog.env"))
    assert (job.label, job.state, job.exit_code, job.cluster) == ("3_1", "", "0:9", "bench")
    assert "JobState" not in job.text


def test_mailprog() -> None:
    """MailProg is told the state; releases that do not tell it name it in the subject."""
    told = environment("failed.mailprog.env")
    assert from_slurmctld(told).state == "FAILED"
    told.pop("SLURM_JOB_STATE")
    assert from_slurmctld(told, arguments("failed.mailprog.env")).state == "FAILED"
    assert not from_slurmctld(environment("began.mailprog.env")).ended


def test_subject() -> None:
    """A state in a job's own name is not taken for its state."""
    assert state_of_subject(["-s", "Slurm Job_id=1 Name=FAILED Ended, Run time 00:00:01, COMPLETED, ExitCode 0"]) == (
        "COMPLETED"
    )
    assert state_of_subject(["-s", "Slurm Job_id=1 Name=x Began, Queued time 00:00:02"]) == ""


def test_empty_environment() -> None:
    """Without any variable there is no job, and no error."""
    assert from_jobcomp({}).id == ""
    assert from_slurmctld({}).id == ""
