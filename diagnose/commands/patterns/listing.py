"""`diagnose patterns list`: all patterns in force."""

from __future__ import annotations

import click


@click.command("list")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--expressions", is_flag=True, help="Only the expressions, one a line, in the syntax of ripgrep and its like."
)
@click.option(
    "--patterns", "extra", multiple=True, metavar="DIR", help="More patterns, a folder or a file. Repeatable."
)
def command(form: str, expressions: bool, extra: tuple[str, ...]) -> None:
    """List the patterns in force."""
    import json
    from pathlib import Path

    from diagnose.catalogue import load
    from diagnose.commands.output import write
    from diagnose.report.clean import safe
    from diagnose.report.layout import columns

    found = sorted(load(extra=[Path(path) for path in extra]).patterns.values(), key=lambda pattern: pattern.id)
    if expressions:
        from diagnose.catalogue.portable import portable

        written = [portable(each.regex) for pattern in found for each in pattern.match if each.regex]
        lines = list(dict.fromkeys(filter(None, written)))
        if None in written:
            told = f"{written.count(None)} of {len(written)} expressions cannot be said in their syntax; left out"
            click.echo(f"diagnose: {told}", err=True)
    elif form == "json":
        keys = ("id", "title", "category", "role", "status", "family", "origin")
        lines = [json.dumps([{key: getattr(pattern, key) for key in keys} for pattern in found], indent=2)]
    else:
        lines = columns([(p.id, p.category, p.role, p.status, " ".join(safe(p.title).split())) for p in found])
    write("".join(f"{line}\n" for line in lines))
