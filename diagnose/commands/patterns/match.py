"""`diagnose patterns match`: tries an expression on logs."""

from __future__ import annotations

import click


@click.command("match")
@click.argument("expression", metavar="REGEX")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--limit", type=click.IntRange(min=1), default=5, show_default=True, help="Lines to show of each kind.")
@click.option(
    "--patterns", "extra", multiple=True, metavar="DIR", help="More patterns, a folder or a file. Repeatable."
)
def command(expression: str, logs: tuple[str, ...], limit: int, extra: tuple[str, ...]) -> int:
    """Try an expression on logs: which lines it matches, which it nearly matches, and what it costs.

    Exits with 4 where the expression is not one that a pattern may have.
    """
    import sys
    from pathlib import Path

    from diagnose.author import UnreadableLogError, try_expression
    from diagnose.catalogue import load
    from diagnose.commands.errors import CommandError
    from diagnose.commands.output import width, write
    from diagnose.report.trial import render

    try:
        trial = try_expression(
            expression,
            logs,
            load(extra=[Path(path) for path in extra]),
            stdin=sys.stdin.buffer if "-" in logs else None,
        )
    except UnreadableLogError as error:
        raise CommandError(str(error), 3) from error
    write(render(trial, width=width(), limit=limit))
    return 4 if trial.faults else 0
