"""`diagnose log PATH…`: the main job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from diagnose.commands.errors import CommandError, one_line
from diagnose.report import RENDERERS

if TYPE_CHECKING:
    from diagnose.catalogue.model import Trouble

_WARNINGS = 5  # troubles in pattern files that are shown before the answer
_FAILED = ("identified", "ambiguous", "symptom_only", "unknown", "degraded")


def _warn(troubles: Sequence[Trouble]) -> None:
    for trouble in troubles[:_WARNINGS]:
        hint = f"; {trouble.hint}" if trouble.hint else ""
        where = f"{trouble.path}:{trouble.line}:{trouble.column}"
        click.echo(f"diagnose: warning: {one_line(f'{where}: {trouble.message}{hint}')}", err=True)
    if len(troubles) > _WARNINGS:
        more = len(troubles) - _WARNINGS
        click.echo(f"diagnose: warning: {more} more in pattern files; see `diagnose patterns check`", err=True)


def _settings(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what is not KEY=VALUE before any log is read."""
    if values:
        from diagnose.facts.config_file import parse_set

        for value in values:
            try:
                parse_set(value)
            except ValueError as error:
                raise click.BadParameter(str(error)) from error
    return values


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--format", "form", type=click.Choice(list(RENDERERS)), default="text", show_default=True)
@click.option("--output", metavar="FILE", help="Write the report to FILE.")
@click.option("--patterns", multiple=True, metavar="DIR", help="More patterns, a folder or a file. Repeatable.")
@click.option("--config", metavar="FILE", help="The run's configuration, where the log does not show it.")
@click.option("--env", metavar="FILE", help="The run's environment: a file of NAME=VALUE lines or a launch script.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_settings,
    help="One fact that the log lacks. Repeatable.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 where a failure or a degraded run was found.")
@click.option("--no-color", is_flag=True, help="No colours. NO_COLOR in the environment does the same.")
@click.option("-q", "--quiet", is_flag=True, help="One line.")
@click.option("-v", "--verbose", is_flag=True, help="Everything that was seen.")
def log(
    paths: tuple[str, ...],
    form: str,
    output: str | None,
    patterns: tuple[str, ...],
    config: str | None,
    env: str | None,
    settings: tuple[str, ...],
    exit_code: bool,
    no_color: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Say what failed first in a job's logs, and why.

    PATH is a log, a folder, or a pattern with * and ?; files may be compressed. `-` is standard input.

    \b
    Exit codes:
      0  a diagnosis was made, whatever it says
      1  with --exit-code: a failure or a degraded run was found
      2  wrong usage
      3  no input could be read
    """
    from pathlib import Path

    from diagnose import api
    from diagnose.catalogue import load
    from diagnose.commands.inputs import given, require_readable
    from diagnose.commands.output import context, write
    from diagnose.facts.config_file import ConfigFileError

    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.")
    catalogue = load(extra=[Path(path) for path in patterns])
    _warn(catalogue.troubles)
    inputs = given(paths)
    try:
        diagnosis = api.diagnose(inputs, config=config, env=env, settings=settings, catalogue=catalogue)
    except ConfigFileError as error:
        raise CommandError(str(error), 3) from error
    require_readable(diagnosis, inputs)
    how = context(catalogue, output=output, no_color=no_color, quiet=quiet, verbose=verbose)
    write(RENDERERS[form](diagnosis, how), output, [*inputs, *filter(None, (config, env))])
    return 1 if exit_code and diagnosis.verdict in _FAILED else 0
