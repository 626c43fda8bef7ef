"""`diagnose doctor`: what is wired, what works and what is missing."""

from __future__ import annotations

import click

_COLORS = {"ok": "green", "missing": "yellow", "off": None, "wrong": "red"}


@click.command()
@click.option("--settings", metavar="FILE", help="The configuration file, in place of the one that is found.")
@click.option("--online-check", is_flag=True, help="Also try to reach the notifiers' hosts; nothing is sent.")
@click.option("--no-color", is_flag=True, help="No colours. NO_COLOR in the environment does the same.")
def doctor(settings: str | None, online_check: bool, no_color: bool) -> int:
    """Say what is wired, what works and what is missing. Exits with 1 where something set up does not work."""
    from diagnose.commands.output import colorful, write
    from diagnose.deliver.doctor import examine
    from diagnose.report.clean import flat

    color = not no_color and colorful()
    lines: list[str] = []
    area, bad = "", False
    for check in examine(settings, online=online_check):
        bad |= check.state == "wrong"
        if check.area != area:
            area = check.area
            lines.append(f"{area}")
        state = f"{check.state:<8}"
        shown = click.style(state, fg=_COLORS[check.state]) if color else state
        lines.append(f"  {shown} {flat(': '.join(part for part in (check.name, check.detail) if part))}")
        if check.hint:
            lines.append(f"           {flat(check.hint)}")
    write("\n".join(lines) + "\n")
    return 1 if bad else 0
