"""Where reports go: standard output or a file, with the width and the colours that fit it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from diagnose import __version__
from diagnose.commands.errors import CommandError
from diagnose.report.model import Context
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.catalogue.model import Catalogue, Pattern
_NARROWEST, _WIDEST, _USUAL = 80, 120, 100  # columns


class Titles(Mapping[str, str]):
    """Titles by pattern id, read from a pattern only when its title is shown."""

    def __init__(self, patterns: Mapping[str, Pattern]) -> None:
        self._patterns = patterns

    def __getitem__(self, key: str) -> str:
        return self._patterns[key].title

    def __contains__(self, key: object) -> bool:
        return key in self._patterns

    def __iter__(self) -> Iterator[str]:
        return iter(self._patterns)

    def __len__(self) -> int:
        return len(self._patterns)


def context(
    catalogue: Catalogue,
    *,
    output: str | None = None,
    no_color: bool = False,
    verbose: bool = False,
    quiet: bool = False,
) -> Context:
    """Give the renderers' context: width and colours of the terminal, patterns in force."""
    return Context(
        version=__version__,
        pattern_count=len(catalogue.patterns),
        pattern_digest=catalogue.digest,
        width=width(),
        color=not no_color and output is None and colorful(),
        verbose=verbose,
        quiet=quiet,
        titles=Titles(catalogue.patterns),
    )


def width() -> int:
    """Give the columns to fill: COLUMNS or the terminal's, between 80 and 120."""
    given = os.environ.get("COLUMNS", "")
    try:
        columns = int(given) if given.isdecimal() and int(given) else os.get_terminal_size(1).columns
    except OSError:
        columns = _USUAL
    return min(_WIDEST, max(_NARROWEST, columns))


def colorful() -> bool:
    """Are colours wanted? Only on a terminal, never with NO_COLOR (any value) or TERM=dumb."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def write(text: str, output: str | None = None, inputs: Sequence[str] = (), *, more: bool = False) -> bool:
    """Write a report to standard output, or to the file `output`; a reader that has left is no error.

    `more` adds it to what is in the file. Returns False where nobody reads any more.

    Raises CommandError (2) where it cannot be written, or the file is one of the `inputs`.
    """
    if output is None or output == "-":
        return _print(text)
    if any(_same(output, path) for path in inputs):
        raise CommandError(f"--output {output} is one of the inputs; it was not overwritten, name another file", 2)
    try:
        with open(output, "a" if more else "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise CommandError(f"cannot write {output}: {error.strerror or error}; name another file", 2) from error
    return True


def _print(text: str) -> bool:
    if sys.stdout is None:
        raise CommandError("cannot write to standard output: it is closed", 2)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # Python flushes once more at exit; that must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return False
        raise CommandError(f"cannot write to standard output: {error.strerror or error}", 2) from error
    return True


def _same(output: str, path: str) -> bool:
    try:
        return os.path.samefile(output, path)
    except OSError:
        return False
