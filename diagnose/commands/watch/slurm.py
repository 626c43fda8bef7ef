"""`diagnose watch slurm`: poll the queue."""

from __future__ import annotations

import click

from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.deliver.settings import Settings
    from diagnose.deliver.slurm.watch import Seen


@click.command("slurm")
@click.option("--user", metavar="NAME", help="Whose jobs. Default: all that you may see.")
@click.option("--interval", type=click.FloatRange(10, 86400), metavar="SECONDS", help="Between two looks. Default: 60.")
@click.option("--once", is_flag=True, help="Look once and leave.")
@click.option("--ledger", metavar="FILE", help="Remembers what was diagnosed. Default: in the user's state folder.")
@click.option("--settings", metavar="FILE", help="The configuration file, in place of the one that is found.")
def command(user: str | None, interval: float | None, once: bool, ledger: str | None, settings: str | None) -> int:
    """Diagnose every job of Slurm's that fails, once; needs no administrator.

    Prints a line a failed job; reports and notifications go where the configuration says.
    """
    from diagnose.commands.errors import CommandError
    from diagnose.deliver.ledger import Ledger
    from diagnose.deliver.slurm.query import SlurmError
    from diagnose.deliver.slurm.watch import Watch, default_ledger

    chosen = _chosen(settings, user, interval)
    path = ledger or chosen.watch.ledger or default_ledger()
    try:
        watch = Watch(chosen, Ledger(path))
    except OSError as error:
        raise CommandError(
            f"the ledger {path} cannot be written: {error.strerror}; name another with --ledger", 2
        ) from None
    if not once:
        watch.follow(_tell, _complain)
    try:
        for seen in watch.look():
            _tell(seen)
    except SlurmError as error:
        raise CommandError(str(error), 3) from error
    return 0


def _chosen(path: str | None, user: str | None, interval: float | None) -> Settings:
    from dataclasses import replace

    from diagnose.deliver.settings import load_settings

    found = load_settings(path)
    for trouble in found.troubles:
        _complain(str(trouble))
    section = found.watch
    return replace(found, watch=replace(section, user=user or section.user, interval=interval or section.interval))


def _tell(seen: Seen) -> None:
    from diagnose.report.clean import flat

    job, said = seen.job, seen.announced
    words = f"{said.verdict}: {said.summary}" if said.verdict else "no diagnosis"
    click.echo(flat(f"job {job.label} {job.state} {job.end}  {words}"))
    for problem in said.problems:
        _complain(f"job {job.label}: {problem}")


def _complain(sentence: str) -> None:
    from diagnose.commands.errors import one_line

    click.echo(f"diagnose: warning: {one_line(sentence)}", err=True)
