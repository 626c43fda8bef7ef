"""From a job of Slurm's to what is to be diagnosed: its logs, and Slurm's own words as one more source."""

from __future__ import annotations

import os

from diagnose.deliver.model import Event
from diagnose.deliver.settings import SlurmSettings
from diagnose.deliver.slurm.filename import log_paths, related_logs
from diagnose.deliver.slurm.job import Job
from diagnose.deliver.task import Task, Text
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.catalogue.model import Catalogue
    from diagnose.reason.result import Diagnosis

_UNSAFE = str.maketrans({"/": "_", "\0": "_"})


def wanted(job: Job, settings: SlurmSettings) -> bool:
    """Is there something to say of this job? Its state may be unknown; then its log decides."""
    if job.state == "COMPLETED" or (job.state == "CANCELLED" and not settings.cancelled):
        return False
    return job.failed or not job.state


def event_of(job: Job) -> Event:
    """Describe the job for those who are told of it."""
    return Event(
        source="slurm",
        job_id=job.label,
        name=job.name,
        user=job.user,
        cluster=job.cluster,
        paths=tuple(log_paths(job)),
        time=job.end,
        state=job.state,
    )


def task_of(
    job: Job, *, settings: str | None = None, report: str = "", owner: int | None = None, quiet_if_healthy: bool = False
) -> Task:
    """Make the task that diagnoses a job and announces it; the arguments are those of `Task`."""
    return Task(
        event=event_of(job),
        paths=tuple(all_logs(job, owner)),
        texts=(Text(words_of(job), job.text, "slurm"),) if job.text else (),
        settings=settings,
        report=report,
        owner=owner,
        quiet_if_healthy=quiet_if_healthy,
    )


def all_logs(job: Job, owner: int | None = None) -> list[str]:
    """Name the job's stdout and stderr, and the logs beside them that bear its number.

    With `owner`, a user id, the latter are this user's only: names in another's folder are not to be told.
    """
    paths = log_paths(job)
    return [*paths, *(path for path in related_logs(job, paths) if owner is None or _owner(path) == owner)]


def _owner(path: str) -> int:
    try:
        return os.stat(path).st_uid
    except OSError:
        return -1


def words_of(job: Job) -> str:
    """Name the source that holds Slurm's own words."""
    return f"Slurm on job {job.label}"


def report_base(job: Job, folder: str) -> str:
    """Return where the reports of a job go below `folder`, "" where that is no folder one may write to."""
    if not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        return ""
    return os.path.join(folder, f"{job.cluster or 'job'}-{job.label}-{job.restarts}".translate(_UNSAFE))


def diagnose_job(job: Job, catalogue: Catalogue, *, exit_status: int | None = None) -> Diagnosis:
    """Diagnose a job in this process.

    Arguments: the job; the patterns in force; `exit_status` of the batch script, where a trap in it knows.
    """
    from diagnose import api
    from diagnose.read.model import Kind, Source

    extra = [Source(words_of(job), Kind.SLURM, content=job.text.encode("utf-8", "replace"))]
    if exit_status:
        told = f"subprocess.CalledProcessError: Command 'batch script' returned non-zero exit status {exit_status}.\n"
        extra.append(Source("exit status", content=told.encode()))
    return api.diagnose(all_logs(job), catalogue=catalogue, extra=extra)
