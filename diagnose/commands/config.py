"""`diagnose config FILE`: the same knowledge, before the job runs."""

from __future__ import annotations

from importlib import import_module

import click

from diagnose.commands.common import settings_of
from diagnose.commands.errors import CommandError, warn

_FORMATS = {"text": "forecast_text", "json": "forecast_json"}
_BEHIND = "diagnose.commands.config.behind"


class _Config(click.Command):
    """A command that leaves what stands behind `--` to itself: it is another program's command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Cut the other program's command line off."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_BEHIND] = args[at + 1 :]
        return super().parse_args(ctx, args[:at])


@click.command(cls=_Config)
@click.argument("path", required=False, metavar="[FILE] [-- ARGUMENTS...]")
@click.option(
    "--framework-version",
    "versions",
    multiple=True,
    metavar="NAME=VERSION",
    help="A release: core=0.16.1, bridge=0.4.2, te=2.6. Without a name, the framework's. Repeatable.",
)
@click.option(
    "--framework",
    type=click.Choice(["megatron-core", "megatron-lm", "megatron-bridge", "nemo"]),
    help="What will construct the configuration, where its form does not tell.",
)
@click.option("--env", metavar="FILE", help="The environment: a file of NAME=VALUE lines or a launch script.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    callback=settings_of,
    help="One fact that the file lacks, such as world_size=32. Repeatable.",
)
@click.option("--patterns", multiple=True, metavar="DIR", help="More patterns, a folder or a file. Repeatable.")
@click.option("--format", "form", type=click.Choice(list(_FORMATS)), default="text", show_default=True)
@click.option("--output", metavar="FILE", help="Write the report to FILE.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 where it would fail, at start-up or later.")
@click.option("--no-color", is_flag=True, help="No colours. NO_COLOR in the environment does the same.")
@click.option("-q", "--quiet", is_flag=True, help="One line.")
@click.option("-v", "--verbose", is_flag=True, help="All fixes, with their measured costs.")
@click.pass_context
def config(
    ctx: click.Context,
    path: str | None,
    versions: tuple[str, ...],
    framework: str | None,
    env: str | None,
    settings: tuple[str, ...],
    patterns: tuple[str, ...],
    form: str,
    output: str | None,
    exit_code: bool,
    no_color: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Say whether a configuration would fail, before it runs.

    FILE is YAML of Megatron Bridge or NeMo, a launch script, or a file of Megatron-LM arguments. A command line, or
    overrides that go over FILE, stand behind `--`.

    \b
    Exit codes:
      0  the configuration was judged, whatever the answer
      1  with --exit-code: it would fail, at start-up or later
      2  wrong usage
      3  a file could not be read
    """
    from diagnose import api
    from diagnose.commands.output import context, write
    from diagnose.facts.config_file import ConfigFileError

    arguments: list[str] = ctx.meta[_BEHIND]
    if path is None and not arguments and not settings:
        raise click.UsageError("Name a configuration file, or give a command line behind `--`.")
    catalogue = api.load_catalogue(patterns)
    warn(catalogue.troubles)
    try:
        forecast = api.forecast(
            path,
            arguments=arguments,
            env=env,
            settings=settings,
            versions=versions,
            framework=framework,
            catalogue=catalogue,
        )
    except ConfigFileError as error:
        raise CommandError(str(error), 3) from error
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    how = context(catalogue, output=output, no_color=no_color, quiet=quiet, verbose=verbose)
    text: str = import_module(f"diagnose.report.{_FORMATS[form]}").render(forecast, how)
    write(text, output, [each for each in (path, env) if each])
    return 1 if exit_code and forecast.verdict in ("would_fail", "would_fail_later") else 0
