"""What several commands share: warnings of broken pattern files, and facts given on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from diagnose.commands.errors import one_line

if TYPE_CHECKING:
    from diagnose.catalogue.model import Trouble

_WARNINGS = 5  # troubles in pattern files that are shown before the answer


def warn(troubles: Sequence[Trouble]) -> None:
    """Name the first broken pattern files on standard error."""
    for trouble in troubles[:_WARNINGS]:
        hint = f"; {trouble.hint}" if trouble.hint else ""
        where = f"{trouble.path}:{trouble.line}:{trouble.column}"
        click.echo(f"diagnose: warning: {one_line(f'{where}: {trouble.message}{hint}')}", err=True)
    if len(troubles) > _WARNINGS:
        more = len(troubles) - _WARNINGS
        click.echo(f"diagnose: warning: {more} more in pattern files; see `diagnose patterns check`", err=True)


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
