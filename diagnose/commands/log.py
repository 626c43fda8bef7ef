"""`diagnose log PATH…`: the main job."""

from __future__ import annotations

from typing import Literal

import click

from diagnose.commands.common import settings_of, warn
from diagnose.commands.errors import CommandError
from diagnose.report import RENDERERS

_FAILED = ("identified", "ambiguous", "symptom_only", "unknown", "degraded")


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
    callback=settings_of,
    help="One fact that the log lacks. Repeatable.",
)
@click.option(
    "--golden", type=click.FloatRange(0, 1e6, min_open=True), metavar="TFLOPS", help="TFLOP/s/GPU the run should reach."
)
@click.option("--baseline", metavar="LOG", help="The log of a good run to measure the speed against.")
@click.option(
    "--regression",
    type=click.FloatRange(0, 100),
    default=5.0,
    show_default=True,
    metavar="PERCENT",
    help="Slower than the reference by this much is a degraded run.",
)
@click.option(
    "--metrics",
    type=click.Choice(["all", "sampled", "off"]),
    default="sampled",
    show_default=True,
    help="How many iteration lines of large logs are read.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), metavar="N", help="Processes that read. Default: as many as processors."
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 where a failure or a degraded run was found.")
@click.option("--redact", is_flag=True, help="Mask tokens, keys and passwords, to share the report.")
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
    golden: float | None,
    baseline: str | None,
    regression: float,
    metrics: Literal["all", "sampled", "off"],
    jobs: int | None,
    exit_code: bool,
    redact: bool,
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
    from diagnose import api
    from diagnose.catalogue import load
    from diagnose.commands.inputs import given, require_readable
    from diagnose.commands.output import context, write
    from diagnose.commands.progress import meter
    from diagnose.facts.errors import ConfigFileError
    from diagnose.reason.slow import BaselineError

    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.")
    catalogue = load(extra=patterns)
    warn(catalogue.troubles)
    inputs = given(paths)
    try:
        diagnosis = api.diagnose(
            inputs,
            config=config,
            env=env,
            settings=settings,
            catalogue=catalogue,
            golden=golden,
            baseline=baseline,
            regression=regression,
            metrics=metrics,
            jobs=jobs,
            progress=meter(),
        )
    except (ConfigFileError, BaselineError) as error:
        raise CommandError(str(error), 3) from error
    require_readable(diagnosis, inputs)
    if redact:
        from diagnose.deliver.redact import redact as masked

        diagnosis = masked(diagnosis)
    how = context(catalogue, output=output, no_color=no_color, quiet=quiet, verbose=verbose)
    write(RENDERERS[form](diagnosis, how), output, [*inputs, *filter(None, (config, env, baseline))])
    return 1 if exit_code and diagnosis.verdict in _FAILED else 0
