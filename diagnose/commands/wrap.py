"""`diagnose wrap -- COMMAND…`: run a job and, if it fails, say why."""

from __future__ import annotations

import click


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option("--log", metavar="FILE", help="Write all of the job's output to FILE as well.")
@click.option("--report", metavar="BASE", help="Write the report to BASE.json and BASE.md. Default: beside --log.")
@click.option("--timeout", type=click.FloatRange(1, 3600), metavar="SECONDS", help="For the diagnosis. Default: 60.")
@click.option("--settings", metavar="FILE", help="The configuration file, in place of the one that is found.")
@click.option("--patterns", multiple=True, metavar="DIR", help="More patterns, a folder or a file. Repeatable.")
@click.option("-q", "--quiet", is_flag=True, help="Print no diagnosis; report files and notifications are made.")
def wrap(
    command: tuple[str, ...],
    log: str | None,
    report: str | None,
    timeout: float | None,
    settings: str | None,
    patterns: tuple[str, ...],
    quiet: bool,
) -> int:
    """Run a job with its output untouched; if it fails, diagnose it.

    \b
    Exit codes:
      the job's own, 128 + n where signal n ended it
      126  the command cannot be run
      127  there is no such command
    """
    from diagnose.deliver.wrap.run import Options
    from diagnose.deliver.wrap.run import wrap as run

    return run(command, Options(log, report, timeout, settings, patterns, quiet))
