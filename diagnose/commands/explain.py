"""`diagnose explain ID`: the manual page of one pattern."""

from __future__ import annotations

import click

from diagnose.commands.errors import CommandError, did_you_mean


@click.command()
@click.argument("pattern", metavar="ID")
@click.option(
    "--patterns", "extra", multiple=True, metavar="DIR", help="More patterns, a folder or a file. Repeatable."
)
@click.option("--no-color", is_flag=True, help="No colours. NO_COLOR in the environment does the same.")
def explain(pattern: str, extra: tuple[str, ...], no_color: bool) -> None:
    """Show the manual page of one pattern: what happens, its checks, causes and fixes."""
    from pathlib import Path

    from diagnose.catalogue import load
    from diagnose.commands.output import context, write
    from diagnose.report.manual import render

    catalogue = load(extra=[Path(path) for path in extra])
    found = catalogue.patterns.get(catalogue.aliases.get(pattern, pattern))
    if found is None:
        known = [*catalogue.patterns, *catalogue.aliases]
        hint = did_you_mean(pattern, known) or "; `diagnose patterns list` names all"
        raise CommandError(f"no pattern is called {pattern}{hint}", 2)
    write(render(found, context(catalogue, no_color=no_color)))
