"""What the hook scripts run: reads the job off the environment, has it diagnosed, and never complains to Slurm."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from diagnose.deliver.settings import Settings, load_settings
from diagnose.deliver.slurm.handle import report_base, task_of, wanted
from diagnose.deliver.slurm.job import Job
from diagnose.deliver.slurm.notice import from_jobcomp, from_slurmctld
from diagnose.deliver.task import Announced
from diagnose.deliver.worker import run_boxed

_MAIL_TIMEOUT = 90.0  # seconds: the mail must not wait long for its report


def announce_job(job: Job, settings: Settings) -> Announced | None:
    """Diagnose a job whose end a hook announced; None where there is nothing to say of it."""
    if not job.id or not wanted(job, settings.slurm):
        return None
    task = task_of(
        job,
        settings=settings.path or None,
        report=report_base(job, settings.slurm.reports),
        owner=job.uid if job.uid is not None else -1,
        quiet_if_healthy=not job.state,
    )
    return run_boxed(task, settings.slurm.timeout)


def mail_body(arguments: Sequence[str], settings: Settings) -> str:
    """Return what is appended to the mail about a job: the report as Markdown, "" where nothing failed."""
    job = from_slurmctld(os.environ, arguments)
    if not job.id or not job.failed:
        return ""
    # Reports and notifications are the business of the other hooks: a mail is asked for by its reader.
    task = task_of(job, settings=settings.path or None, owner=job.uid if job.uid is not None else -1)
    from dataclasses import replace

    announced = run_boxed(replace(task, notify=False), min(_MAIL_TIMEOUT, settings.slurm.timeout))
    text = "\n\n".join(filter(None, (announced.markdown.strip(), "\n".join(announced.problems))))
    # Some `mail` programs take a line that begins with ~ for a command, and run it.
    return re.sub(r"^~", " ~", text, flags=re.MULTILINE)


def run(kind: str, arguments: Sequence[str]) -> int:
    """Do what the hook `kind` is for; what goes wrong is told to syslog, and the exit code is 0."""
    try:
        settings = load_settings()
        if kind == "mailprog":
            sys.stdout.write(mail_body(arguments, settings))
            return 0
        job = from_jobcomp(os.environ) if kind == "jobcomp" else from_slurmctld(os.environ)
        announced = announce_job(job, settings)
        if announced is not None:
            _log(job, announced.problems)
    except Exception as error:
        _log(None, (f"{kind}: {type(error).__name__}: {error}",))
    return 0


def _log(job: Job | None, problems: Sequence[str]) -> None:
    if not problems:
        return
    import syslog

    for problem in problems[:5]:
        name = f"job {job.label}: " if job else ""
        syslog.syslog(syslog.LOG_WARNING, f"diagnose: {name}{' '.join(problem.split())[:500]}")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
