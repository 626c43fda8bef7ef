"""`diagnose patterns new`: writes a first pattern file from a line of a log."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click

from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from diagnose.author import Skeleton
    from diagnose.catalogue.model import Catalogue

_PROJECT = ".diagnose/patterns"


@click.command("new")
@click.argument("log")
@click.argument("text", required=False, default="", metavar="[LINE]")
@click.option("--line", "number", type=click.IntRange(min=1), help="The line's number, in place of a part of its text.")
@click.option("--id", "name", metavar="ID", help="The pattern's id: lower-case words joined by hyphens.")
@click.option("--family", metavar="NAME", help="The folder inside DIR to put it into.")
@click.option(
    "--output", "folder", default=_PROJECT, show_default=True, metavar="DIR", help="The folder of patterns to write to."
)
def command(log: str, text: str, number: int | None, name: str | None, family: str | None, folder: str) -> None:
    """Write a pattern file from a line of LOG: a part of its text, or its number with --line.

    What varies in the line becomes named groups. What only a person knows is marked FILL IN.
    """
    import re
    import sys
    from pathlib import Path

    from diagnose.author import NoSuchLineError, skeleton
    from diagnose.catalogue import load
    from diagnose.catalogue.rules import ID
    from diagnose.commands.errors import CommandError
    from diagnose.commands.output import write
    from diagnose.deliver.redact import redact_text
    from diagnose.report.clean import safe

    if bool(text) == bool(number):
        raise CommandError("name the line: a part of its text behind the log, or --line NUMBER", 2)
    for option, value in (("--id", name), ("--family", family)):
        if value and not re.fullmatch(ID, value):
            raise CommandError(f"{option} {value}: lower-case words joined by hyphens, as in heads-not-divisible", 2)
    catalogue = load()
    taken = {*catalogue.patterns, *catalogue.aliases}
    if name in taken:
        raise CommandError(f"the id {name} is in use, see `diagnose explain {name}`; choose another", 2)
    try:
        made = skeleton(
            log,
            text=text,
            number=number or 0,
            id=name or "",
            family=family or "",
            taken=taken,
            rules=catalogue.placement,
            mask=redact_text,
            stdin=sys.stdin.buffer if log == "-" else None,
        )
    except NoSuchLineError as error:
        raise CommandError(str(error), 3) from error
    path = Path(folder) / made.family / f"{made.id}.yaml"
    _store(path, made.text)
    write("".join(f"{safe(line)}\n" for line in _told(made, path, log, folder, catalogue)))


def _store(path: Path, text: str) -> None:
    from diagnose.commands.errors import CommandError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise CommandError(f"{path} is there already; choose another --id", 2) from error
    except OSError as error:
        raise CommandError(
            f"cannot write {path}: {error.strerror or error}; name another folder with --output", 2
        ) from error


def _told(made: Skeleton, path: Path, log: str, folder: str, catalogue: Catalogue) -> Iterator[str]:
    from diagnose.author.usage import matcher

    place = made.place
    if place.moved:
        yield f"That line belongs to a traceback; took its message, line {place.line.number}."
    elif place.count > 1:
        yield f"{place.count} lines hold that text; took the first, line {place.line.number}."
    yield f"wrote {path}"
    if made.regex:
        yield f"  regex    {made.regex}"
        rest = "nothing: the scan needs 4 fixed bytes; write more of the message into `regex`, or name a `literal`"
        yield f"  literal  {' | '.join(made.literals) or rest}"
    if made.cut:
        yield "  The message is long; the expression stands for its beginning."
    others = {event.pattern for event in matcher(catalogue)(made.sample)} - {made.id}
    for other in sorted(others):
        role = catalogue.patterns[other].role
        yield f"  {other} ({role}) matches this line already: see `diagnose explain {other}`."
    where = "" if folder == _PROJECT else f" --patterns {shlex.quote(folder)}"
    words = [
        f"diagnose patterns match {shlex.quote(made.regex)} {shlex.quote(log)}" if made.regex else "",
        f"edit {shlex.quote(str(path))}: write what is marked FILL IN",
        f"diagnose patterns check {shlex.quote(str(path))}",
        f"diagnose patterns test {made.id}{where}",
        f"diagnose {shlex.quote(log)}{where}",
    ]
    yield ""
    yield "Next:"
    for number, word in enumerate(filter(None, words), 1):
        yield f"  {number}. {word}"
