"""`diagnose compare BEFORE AFTER`: what changed between runs, and what became of it."""

from __future__ import annotations

from importlib import import_module

import click

from diagnose.commands.common import settings_of
from diagnose.commands.errors import CommandError, warn

_FORMATS = {"text": "compare_text", "json": "compare_json", "markdown": "compare_markdown"}


@click.command()
@click.argument("paths", nargs=-1, metavar="BEFORE AFTER [MORE...]")
@click.option("--format", "form", type=click.Choice(list(_FORMATS)), default="text", show_default=True)
@click.option("--output", metavar="FILE", help="Write the report to FILE.")
@click.option("--patterns", multiple=True, metavar="DIR", help="More patterns, a folder or a file. Repeatable.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    callback=settings_of,
    help="One fact that no log shows and that holds for all. Repeatable.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 100),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="A difference below this means nothing in practice.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 where the last run is worse than the first.")
@click.option("--no-color", is_flag=True, help="No colours. NO_COLOR in the environment does the same.")
@click.option("-q", "--quiet", is_flag=True, help="One line.")
@click.option("-v", "--verbose", is_flag=True, help="Every rank, every setting, all fixes.")
def compare(
    paths: tuple[str, ...],
    form: str,
    output: str | None,
    patterns: tuple[str, ...],
    settings: tuple[str, ...],
    margin: float,
    exit_code: bool,
    no_color: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Say what changed between two runs, and which of them is better.

    BEFORE and AFTER are logs or folders of logs. Further runs make a table; each is held against the first.

    \b
    Exit codes:
      0  the runs were compared, whatever the answer
      1  with --exit-code: the last run is worse than the first
      2  wrong usage
      3  a run could not be read
    """
    from diagnose import api
    from diagnose.commands.output import context, write

    if len(paths) < 2:
        raise click.UsageError("Name at least two runs, BEFORE and AFTER.")
    catalogue = api.load_catalogue(patterns)
    warn(catalogue.troubles)
    try:
        comparison = api.compare(paths, settings=settings, margin=margin, catalogue=catalogue)
    except api.UnreadableError as error:
        raise CommandError(str(error), 3) from error
    how = context(catalogue, output=output, no_color=no_color, quiet=quiet, verbose=verbose)
    text: str = import_module(f"diagnose.report.{_FORMATS[form]}").render(comparison, how)
    write(text, output, list(paths))
    return 1 if exit_code and comparison.verdict == "worse" else 0
