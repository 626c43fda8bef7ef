"""`diagnose watch …`: follow a scheduler, and diagnose what fails."""

from __future__ import annotations

from importlib import import_module

import click

from diagnose.typed import cast

_COMMANDS = ("slurm", "k8s")


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        return cast(click.Command, import_module(f"{__name__}.{cmd_name}").command)


@click.group(cls=_Commands)
def watch() -> None:
    """Follow a scheduler where no hook can be installed; each failed job is diagnosed once."""
