"""`diagnose patterns docs`: writes the manual pages of all patterns as Markdown."""

from __future__ import annotations

from collections.abc import Mapping

import click

from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@click.command("docs")
@click.option("--output", "folder", default="docs/patterns", show_default=True, metavar="DIR", help="Where to write.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 4 where the pages are not those of the patterns.")
@click.option("--shipped", is_flag=True, help="Only the patterns that ship with the program, none of the other layers.")
@click.option(
    "--patterns", "extra", multiple=True, metavar="DIR", help="More patterns, a folder or a file. Repeatable."
)
def command(folder: str, check: bool, shipped: bool, extra: tuple[str, ...]) -> int:
    """Write the manual pages of the patterns in force: one page a family, and an index."""
    from pathlib import Path

    from diagnose.catalogue import load
    from diagnose.commands.output import write
    from diagnose.report.manual_markdown import pages
    from diagnose.report.words import plural

    catalogue = load(extra=[Path(path) for path in extra], layers=not shipped)
    wanted = pages(list(catalogue.patterns.values()))
    stale = stale_pages(Path(folder), wanted)
    if check:
        for name in stale:
            write(f"{folder}/{name} is stale\n")
        return 4 if stale else 0
    _store(Path(folder), wanted, stale)
    write(f"wrote {plural(len(stale), 'page')} of {len(wanted)} to {folder}\n")
    return 0


def stale_pages(folder: Path, wanted: Mapping[str, str]) -> list[str]:
    """Name the pages that are missing, say something else, or belong to no family."""
    found = {path.name: path for path in folder.glob("*.md")} if folder.is_dir() else {}
    differ = [name for name, text in wanted.items() if name not in found or _read(found[name]) != text]
    return sorted({*differ, *(found.keys() - wanted.keys())})


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _store(folder: Path, wanted: Mapping[str, str], stale: list[str]) -> None:
    from diagnose.commands.errors import CommandError

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in stale:
            if name in wanted:
                (folder / name).write_text(wanted[name], encoding="utf-8")
            elif _read(folder / name).startswith("<!-- Written by `diagnose patterns docs`"):
                (folder / name).unlink()
    except OSError as error:
        raise CommandError(
            f"cannot write to {folder}: {error.strerror or error}; name another folder with --output", 2
        ) from error
