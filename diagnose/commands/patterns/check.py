"""`diagnose patterns check`: says what is wrong with pattern files, with line and column."""

from __future__ import annotations

import click


@click.command("check")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing where all is well.")
def command(files: tuple[str, ...], quiet: bool) -> int:
    """Check pattern files: those given, or all that are in force. Exits with 4 where one is invalid."""
    from pathlib import Path

    from diagnose.catalogue import check_files, load
    from diagnose.commands.errors import CommandError
    from diagnose.commands.output import write
    from diagnose.data import data_path
    from diagnose.report.clean import safe
    from diagnose.report.words import plural

    missing = [path for path in files if not Path(path).exists()]
    if missing:
        raise CommandError(f"{missing[0]}: no such file or folder; name a pattern file or a folder of them", 3)
    troubles = check_files([Path(path) for path in files] or [data_path("patterns")])
    if not files:
        # The layers of the site, the user and the project are read in any case; their troubles count too.
        troubles += [trouble for trouble in load(cache=False).troubles if trouble not in troubles]
    if troubles:
        broken = len({trouble.path for trouble in troubles})
        lines = [safe(str(trouble)) for trouble in troubles]
        write("\n".join([*lines, f"{plural(len(troubles), 'error')} in {plural(broken, 'file')}"]) + "\n")
        return 4
    if not quiet:
        write("all is well\n")
    return 0
