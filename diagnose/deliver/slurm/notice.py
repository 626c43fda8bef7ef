"""Reads a job off the environment that Slurm gives its hooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from diagnose.deliver.slurm.job import ENDED_STATES, NO_TASK, Job, whole, with_text

_NONE = ("(null)", "None")


def from_jobcomp(environment: Mapping[str, str]) -> Job:
    """Read the environment of jobcomp/script: every word is there, the state among them."""
    task = environment.get("ARRAYTASKID", NO_TASK)
    array = environment.get("ARRAYJOBID", "0")
    in_array = task != NO_TASK and array not in ("", "0")
    return with_text(
        Job(
            id=environment.get("JOBID", ""),
            name=environment.get("JOBNAME", ""),
            user=environment.get("USERNAME", ""),
            uid=whole(environment.get("UID", "")),
            array_id=array if in_array else "",
            array_task=task if in_array else "",
            state=environment.get("JOBSTATE", ""),
            exit_code=environment.get("EXITCODE", ""),
            nodes=environment.get("NODES", ""),
            node_count=whole(environment.get("NODECNT", "")),
            tasks=whole(environment.get("PROCS", "")),
            time_limit=environment.get("LIMIT", ""),
            partition=environment.get("PARTITION", ""),
            cluster=environment.get("CLUSTER", ""),
            restarts=whole(environment.get("RESTARTS", "")) or 0,
            start=_time(environment.get("START", "")),
            end=_time(environment.get("END", "")),
            work_dir=environment.get("WORK_DIR", ""),
            stdout=environment.get("STDOUT", ""),
            stderr=environment.get("STDERR", ""),
        )
    )


def from_slurmctld(environment: Mapping[str, str], arguments: Sequence[str] = ()) -> Job:
    """Read the environment of EpilogSlurmctld or MailProg; `arguments` are MailProg's, whose subject names the state.

    EpilogSlurmctld is not told the state: a job at its time limit ends with 0:0 there, like a good one.
    """
    values = {key: "" if value in _NONE else value for key, value in environment.items()}
    task = values.get("SLURM_ARRAY_TASK_ID", "")
    return with_text(
        Job(
            id=values.get("SLURM_JOB_ID", "") or values.get("SLURM_JOBID", ""),
            name=values.get("SLURM_JOB_NAME", ""),
            user=values.get("SLURM_JOB_USER", ""),
            uid=whole(values.get("SLURM_JOB_UID", "")),
            array_id=values.get("SLURM_ARRAY_JOB_ID", "") if task else "",
            array_task=task,
            state=values.get("SLURM_JOB_STATE", "") or state_of_subject(arguments),
            exit_code=values.get("SLURM_JOB_EXIT_CODE2", ""),
            nodes=values.get("SLURM_JOB_NODELIST", ""),
            node_count=whole(values.get("SLURM_JOB_NUM_NODES", "")),
            partition=values.get("SLURM_JOB_PARTITION", ""),
            cluster=values.get("SLURM_CLUSTER_NAME", ""),
            restarts=whole(values.get("SLURM_JOB_RESTART_COUNT", "")) or 0,
            start=_time(values.get("SLURM_JOB_START_TIME", "")),
            end=_time(values.get("SLURM_JOB_END_TIME", "")),
            work_dir=values.get("SLURM_JOB_WORK_DIR", ""),
            stdout=values.get("SLURM_JOB_STDOUT", ""),
            stderr=values.get("SLURM_JOB_STDERR", ""),
        )
    )


def state_of_subject(arguments: Sequence[str]) -> str:
    """Find the state in MailProg's subject: `Slurm Job_id=1 Name=x Failed, Run time 00:00:00, FAILED, ExitCode 3`."""
    for argument in arguments:
        for word in reversed(argument.split(", ")):
            if word in ENDED_STATES:
                return word
    return ""


def _time(text: str) -> str:
    seconds = whole(text)
    return datetime.fromtimestamp(seconds).isoformat() if seconds and seconds < 1 << 34 else ""
