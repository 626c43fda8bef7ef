"""`diagnose log PATH…`: the main job."""

from __future__ import annotations

import click

from diagnose.commands.answer import REGRESSION, answer
from diagnose.commands.common import settings_of
from diagnose.report import RENDERERS
from diagnose.typed import Any, Literal


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
@click.option(
    "--baseline",
    metavar="LOG",
    help="The log of a good run: its speed is the reference, and what it says too is not new.",
)
@click.option(
    "--regression",
    type=click.FloatRange(0, 100),
    default=REGRESSION,
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
@click.option("--follow", is_flag=True, help="Diagnose while the job runs; report what changes until it has ended.")
@click.option(
    "--pid",
    type=click.IntRange(1),
    metavar="PID",
    help="With --follow: a process of the job here; its end is the job's end, and no line in a log is.",
)
@click.option(
    "--idle",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="With --follow: the job has ended when nothing was written for so long. Default: silence is no end.",
)
@click.option(
    "--settle",
    type=click.FloatRange(0),
    nargs=3,
    default=(10.0, 5.0, 40.0),
    show_default=True,
    metavar="LEAST QUIET MOST",
    help="With --follow: seconds to wait for more words after the first sign of the end, seconds without any, and "
    "seconds after which it is over in any case.",
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
    follow: bool,
    pid: int | None,
    idle: float | None,
    settle: tuple[float, float, float],
    exit_code: bool,
    redact: bool,
    no_color: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Say what failed first in a job's logs, and why.

    PATH is a log, a folder, or a pattern with * and ?; files may be compressed. `-` is standard input.

    With --follow the files need not be there yet, may grow, be cut and be replaced. The job counts as ended some
    seconds after the first sign of it: a failure that no progress follows, a launcher's or scheduler's word, a line
    that says the training is over, or the end of --pid. What is said before is marked as provisional. Ctrl-C ends it
    with what is known by then. With --format json or jsonl every change is one line of JSON.

    \b
    Exit codes:
      0  a diagnosis was made, whatever it says
      1  with --exit-code: a failure or a degraded run was found
      2  wrong usage
      3  no input could be read
    """
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.")
    options: dict[str, Any] = {
        "form": form,
        "output": output,
        "patterns": patterns,
        "config": config,
        "env": env,
        "settings": settings,
        "golden": golden,
        "baseline": baseline,
        "regression": regression,
        "metrics": metrics,
        "exit_code": exit_code,
        "redact": redact,
        "no_color": no_color,
        "quiet": quiet,
        "verbose": verbose,
    }
    if not follow:
        if any(option is not None for option in (pid, idle)):
            raise click.UsageError("--pid and --idle go with --follow.")
        return answer(paths, jobs=jobs, **options)
    from diagnose.commands.follow import follow_logs
    from diagnose.follow import Rules

    rules = Rules(settle[0], settle[1], settle[2], idle, pid)
    if rules.least > rules.most:
        raise click.UsageError("--settle: the least time to wait is longer than the most.")
    return follow_logs(paths, rules, **options)
