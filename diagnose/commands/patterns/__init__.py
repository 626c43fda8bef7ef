"""`diagnose patterns …`: look at, write, check and test the pattern files."""

from __future__ import annotations

from importlib import import_module

import click

from diagnose.typed import cast

_COMMANDS = {
    "list": "listing",
    "new": "new",
    "match": "match",
    "check": "check",
    "test": "test",
    "docs": "docs",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        return cast(click.Command, import_module(f"{__name__}.{_COMMANDS[cmd_name]}").command)


@click.group(cls=_Commands)
def patterns() -> None:
    """List, write, check and test the pattern files."""
