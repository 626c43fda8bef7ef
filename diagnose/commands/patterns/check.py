"""`diagnose patterns check`: says what is wrong with pattern files, with line and column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.author import Remark


@click.command("check")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--skip",
    multiple=True,
    metavar="NAME",
    help="Leave a check out, by the name in brackets that it prints. Repeatable.",
)
@click.option("-w", "--warnings", is_flag=True, help="Show warnings of all files, not only of those that are named.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing where all is well.")
def command(files: tuple[str, ...], skip: tuple[str, ...], warnings: bool, quiet: bool) -> int:
    """Check pattern files: those given, or all that are in force. Exits with 4 where one is invalid.

    Warnings say what makes a pattern weak; they do not change the exit code. They are shown for files that are named.
    """
    from pathlib import Path

    from diagnose.author import CHECKS, Remark, review
    from diagnose.catalogue import load
    from diagnose.commands.errors import CommandError, did_you_mean
    from diagnose.commands.output import write
    from diagnose.data import data_path

    for name in skip:
        if name not in CHECKS:
            hint = did_you_mean(name, list(CHECKS)) or f"; they are {', '.join(CHECKS)}"
            raise CommandError(f"no check is called {name}{hint}", 2)
    missing = [path for path in files if not Path(path).exists()]
    if missing:
        raise CommandError(f"{missing[0]}: no such file or folder; name a pattern file or a folder of them", 3)
    remarks = review([Path(path) for path in files] or [data_path("patterns")], skip=skip)
    if not files:
        # The layers of the site, the user and the project are read in any case; their troubles count too.
        told = {remark.trouble for remark in remarks}
        remarks += [Remark("format", True, each) for each in load(cache=False).troubles if each not in told]
    text, bad = _shown(remarks, warnings=warnings or bool(files))
    if text and not (quiet and not bad):
        write(text)
    elif not quiet:
        write("all is well\n")
    return 4 if bad else 0


def _shown(remarks: Sequence[Remark], *, warnings: bool) -> tuple[str, bool]:
    """Write the remarks; the second value tells whether one of them is an error."""
    from diagnose.report.clean import safe
    from diagnose.report.words import plural

    errors = [remark for remark in remarks if remark.grave]
    weak = Counter(remark.check for remark in remarks if not remark.grave)
    lines = [_line(remark) for remark in remarks if remark.grave or warnings]
    if errors:
        broken = len({remark.trouble.path for remark in errors})
        lines.append(f"{plural(len(errors), 'error')} in {plural(broken, 'file')}")
    if weak:
        kinds = ", ".join(f"{count} [{name}]" for name, count in weak.items())
        hint = "" if warnings else "; --warnings shows them"
        lines.append(f"{plural(weak.total(), 'warning')}: {kinds}{hint}")
    return "".join(f"{safe(line)}\n" for line in lines), bool(errors)


def _line(remark: Remark) -> str:
    trouble = remark.trouble
    kind = "" if remark.grave else "warning: "
    text = f"{trouble.path}:{trouble.line}:{trouble.column}: {kind}{trouble.message} [{remark.check}]"
    return f"{text}\n    hint: {trouble.hint}" if trouble.hint else text
