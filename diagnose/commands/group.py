"""The command group: `diagnose PATH…` means `diagnose log PATH…`; every error is one line."""

from __future__ import annotations

from importlib import import_module

import click

from diagnose import __version__
from diagnose.commands.errors import CommandError, guarded
from diagnose.commands.inputs import piped
from diagnose.commands.names import COMMANDS
from diagnose.typed import cast

_OWN_OPTIONS = ("-h", "--help", "--version")


class DefaultGroup(click.Group):
    """A group whose default command is `log`, and whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of importance."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        return cast(click.Command, getattr(import_module(module), name))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `log` in front of arguments that begin with no command and no option of the group."""
        if args and args[0] not in COMMANDS and args[0] not in _OWN_OPTIONS:
            args = ["log", *args]
        elif not args and piped():
            args = ["log", "-"]
        return super().parse_args(ctx, args)


@click.group(cls=DefaultGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="diagnose", message="%(prog)s %(version)s")
def group() -> None:
    """Say why a training job failed: what failed first, what is only fallout, and which fixes to try.

    `diagnose PATH…` means `diagnose log PATH…`. A file that is named like a command is reached with
    `diagnose log NAME`.
    """


def run(arguments: list[str]) -> int:
    """Run the group and give the exit code; errors go to standard error, one line each."""
    return guarded(lambda: _main(arguments))


def _main(arguments: list[str]) -> object:
    try:
        return group.main(arguments, prog_name="diagnose", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.UsageError as error:
        raise CommandError(f"{error.format_message()} Try `{_path(error)} --help`.", 2) from error
    except click.ClickException as error:
        raise CommandError(error.format_message(), error.exit_code) from error
    except click.Abort:
        return 130


def _path(error: click.UsageError) -> str:
    return error.ctx.command_path if error.ctx is not None else "diagnose"
