"""`diagnose slurm JOBID`: diagnose a job by its number."""

from __future__ import annotations

import click

from diagnose.commands.errors import CommandError
from diagnose.reason.result import TROUBLED
from diagnose.report import RENDERERS
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.deliver.slurm.job import Job

_MOST = 20  # tasks of an array that are diagnosed at once


@click.command()
@click.argument("job_id", metavar="JOBID")
@click.option("--format", "form", type=click.Choice(list(RENDERERS)), default="text", show_default=True)
@click.option("--output", metavar="FILE", help="Write the report to FILE.")
@click.option("--patterns", multiple=True, metavar="DIR", help="More patterns, a folder or a file. Repeatable.")
@click.option("--settings", metavar="FILE", help="The configuration file, in place of the one that is found.")
@click.option("--exit-status", type=int, metavar="N", help="Of the batch script, where a trap in it calls this.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 where a failure or a degraded run was found.")
@click.option("--no-color", is_flag=True, help="No colours. NO_COLOR in the environment does the same.")
@click.option("-q", "--quiet", is_flag=True, help="One line.")
@click.option("-v", "--verbose", is_flag=True, help="Everything that was seen.")
def slurm(
    job_id: str,
    form: str,
    output: str | None,
    patterns: tuple[str, ...],
    settings: str | None,
    exit_status: int | None,
    exit_code: bool,
    no_color: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Say why a job of Slurm's failed: finds its logs, and reads what Slurm says of it.

    JOBID is 123, or 123_4 for one task of an array; of a whole array every failed task is diagnosed.

    \b
    Exit codes:
      0  a diagnosis was made, whatever it says
      1  with --exit-code: a failure or a degraded run was found
      2  wrong usage
      3  Slurm does not answer, or does not know the job
    """
    from diagnose.api import load_catalogue
    from diagnose.commands.output import context, write
    from diagnose.deliver.redact import redact
    from diagnose.deliver.settings import load_settings
    from diagnose.deliver.slurm.handle import diagnose_job
    from diagnose.read.own import marked

    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.")
    chosen = _find(job_id)
    if len(chosen) > 1 and form not in ("text", "markdown", "jsonl"):
        raise CommandError(f"{len(chosen)} tasks of job {job_id} are to be told; use --format jsonl, or name one", 2)
    configuration = load_settings(settings)
    catalogue = load_catalogue([*configuration.patterns, *patterns])
    how = context(catalogue, output=output, no_color=no_color, quiet=quiet, verbose=verbose)
    texts: list[str] = []
    bad = False
    for job in chosen:
        diagnosis = diagnose_job(job, catalogue, exit_status=exit_status)
        bad |= diagnosis.verdict in TROUBLED
        if form == "text" and not quiet:
            texts.append(_headline(job))
        texts.append(RENDERERS[form](redact(diagnosis) if configuration.redact else diagnosis, how))
    told = "".join(texts)
    # With --exit-status the trap of a batch script asks: the answer goes into the job's own log.
    write(f"{marked(told)}\n" if exit_status is not None and not output else told, output)
    return 1 if exit_code and bad else 0


def _find(job_id: str) -> list[Job]:
    """Return the jobs that are meant; of an array those that failed. Raises CommandError (3)."""
    from diagnose.deliver.slurm.query import Slurm, SlurmError

    try:
        jobs = Slurm().find(job_id)
    except SlurmError as error:
        raise CommandError(str(error), 3) from error
    if not jobs:
        raise CommandError(f"Slurm does not know job {job_id}: it ended long ago, or was never there", 3)
    failed = [job for job in jobs if job.failed]
    return (failed or jobs)[:_MOST] if len(jobs) > 1 else jobs


def _headline(job: Job) -> str:
    from diagnose.report.clean import flat

    parts = [f"Job {job.label}", job.name and f"({job.name})", job.state or "state unknown"]
    if job.exit_code:
        parts.append(f"exit code {job.exit_code}")
    if job.nodes:
        parts.append(f"on {job.nodes}")
    return f"{flat(' '.join(part for part in parts if part))}\n"
