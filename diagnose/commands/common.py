"""What several commands share: facts given on the command line."""

from __future__ import annotations

import click


def settings_of(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what is not KEY=VALUE before any file is read."""
    if values:
        from diagnose.facts.config_file import parse_set

        for value in values:
            try:
                parse_set(value)
            except ValueError as error:
                raise click.BadParameter(str(error)) from error
    return values
