"""`diagnose hook slurm KIND`: the scripts that announce a failed job."""

from __future__ import annotations

import click

_KINDS = ("mailprog", "epilog-slurmctld", "jobcomp", "trap")


@click.group()
def hook() -> None:
    """Write and install the hooks that have a failed job diagnosed without anyone typing a command."""


@hook.command("slurm")
@click.argument("kind", type=click.Choice(_KINDS))
@click.option("--install", "path", metavar="PATH", help="Put the script at PATH, in place of printing it.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--force", is_flag=True, help="Overwrite a file that is no hook of diagnose.")
@click.option("--mailer", metavar="PROGRAM", help="What sends mail, for mailprog. Default: /usr/bin/mail.")
@click.option("--settings", metavar="FILE", help="A configuration file other than /etc/diagnose/diagnose.yaml.")
def slurm(kind: str, path: str | None, dry_run: bool, force: bool, mailer: str | None, settings: str | None) -> None:
    """Print one of Slurm's hooks, or install it.

    \b
    mailprog          MailProg: appends the diagnosis to the mail about a failed job
    epilog-slurmctld  EpilogSlurmctld: runs on the controller at the end of every job
    jobcomp           JobCompType=jobcomp/script: the same, and is told the job's state
    trap              lines for a user's own batch script; needs no administrator
    """
    from diagnose.commands.errors import CommandError
    from diagnose.commands.output import write
    from diagnose.deliver.settings import load_settings
    from diagnose.deliver.slurm.hooks import HookError, install, script, steps

    configuration = load_settings(settings)
    limit = max(150, int(configuration.slurm.timeout) + 30)
    text = script(kind, mailer=mailer or configuration.slurm.mailer, settings=settings, limit=limit)
    if path is None:
        write(text)
        return
    then = "".join(f"then: {step}\n" for step in steps(kind, path))
    if dry_run:
        size = len(text.encode())
        write(f"would write {path}, {size} bytes, mode 755\n{then}")
        return
    try:
        install(path, text, force=force)
    except HookError as error:
        raise CommandError(str(error), 2) from error
    write(f"wrote {path}\n{then}")
