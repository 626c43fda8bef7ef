"""Answers `diagnose log`, however its command line was read."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.commands.errors import CommandError, warn
from diagnose.reason.result import TROUBLED
from diagnose.report import renderer
from diagnose.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from diagnose.ahead import Ahead

REGRESSION = 5.0  # percent


def answer(
    paths: Sequence[str],
    *,
    form: str = "text",
    output: str | None = None,
    patterns: Sequence[str] = (),
    config: str | None = None,
    env: str | None = None,
    settings: Sequence[str] = (),
    golden: float | None = None,
    baseline: str | None = None,
    regression: float = REGRESSION,
    metrics: Literal["all", "sampled", "off"] = "sampled",
    jobs: int | None = None,
    exit_code: bool = False,
    redact: bool = False,
    no_color: bool = False,
    quiet: bool = False,
    verbose: bool = False,
    ahead: Ahead | None = None,
) -> int:
    """Diagnose the paths, print the report and return the exit code; the arguments are the command's options, and
    `ahead` as in `diagnose.api`.

    Raises CommandError where nothing can be read or written.
    """
    from diagnose import api
    from diagnose.catalogue import load
    from diagnose.commands.inputs import given, require_readable
    from diagnose.commands.output import context, write
    from diagnose.commands.progress import meter
    from diagnose.expressions import EXPRESSIONS
    from diagnose.facts.errors import ConfigFileError
    from diagnose.reason.slow import BaselineError

    catalogue = load(extra=patterns)
    warn(catalogue.troubles)
    inputs = given(paths)
    render = renderer(form)  # loaded while another process may read numbers
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
            ahead=ahead,
        )
    except (ConfigFileError, BaselineError) as error:
        raise CommandError(str(error), 3) from error
    require_readable(diagnosis, inputs)
    if redact:
        from diagnose.deliver.redact import redact as masked

        diagnosis = masked(diagnosis)
    how = context(catalogue, output=output, no_color=no_color, quiet=quiet, verbose=verbose)
    write(render(diagnosis, how), output, [*inputs, *filter(None, (config, env, baseline))])
    EXPRESSIONS.save()
    return 1 if exit_code and diagnosis.verdict in TROUBLED else 0
