"""Answers `diagnose log --follow`: says what changes while the job runs, and the whole report when it has ended."""

from __future__ import annotations

import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from diagnose.classes import replace
from diagnose.commands.errors import CommandError, warn
from diagnose.commands.inputs import require_readable
from diagnose.commands.output import context, write
from diagnose.follow import Rules, follow
from diagnose.reason.result import TROUBLED
from diagnose.report import RENDERERS
from diagnose.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

    from diagnose.reason.result import Diagnosis
    from diagnose.report.model import Context

_DATA = ("json", "jsonl")
_LINES = "jsonl"


def follow_logs(
    paths: Sequence[str],
    rules: Rules,
    *,
    form: str,
    output: str | None,
    patterns: Sequence[str],
    exit_code: bool,
    redact: bool,
    no_color: bool,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> int:
    """Follow logs to the job's end and return the exit code.

    Arguments: the paths; when the job counts as ended; the command's options, of which `options` go to
    `diagnose.follow.follow` as they are.

    Raises CommandError where nothing can be read or written, and click's UsageError for standard input.
    """
    from diagnose.catalogue import load
    from diagnose.facts.errors import ConfigFileError
    from diagnose.reason.slow import BaselineError

    if not paths or "-" in paths:
        raise click.UsageError("--follow needs files or folders; standard input is read to its end without it.")
    if pipe := next((path for path in paths if _is_pipe(path)), None):
        raise click.UsageError(f"--follow cannot follow the named pipe {pipe}; it is read to its end without --follow.")
    catalogue = load(extra=patterns)
    warn(catalogue.troubles)
    inputs = [*paths, *filter(None, (options["config"], options["env"], options["baseline"]))]
    if sys.stderr is not None and sys.stderr.isatty():
        click.echo("following; Ctrl-C ends it with what is known by then", err=True)
    try:
        with _interrupts() as stop:
            how = context(catalogue, output=output, no_color=no_color, quiet=quiet, verbose=verbose)
            telling = _Telling(form, output, inputs, how, stop, redact=redact)
            diagnosis = follow(paths, catalogue, telling.change, stop, rules=rules, **options)
    except (ConfigFileError, BaselineError) as error:
        raise CommandError(str(error), 3) from error
    require_readable(diagnosis, paths)
    telling.end(diagnosis)
    return 1 if exit_code and diagnosis.verdict in TROUBLED else 0


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


class _Telling:
    """Prints changes, and the report at the end: lines of JSON, or a line for a person before the report."""

    def __init__(
        self,
        form: str,
        output: str | None,
        inputs: Sequence[str],
        how: Context,
        stop: threading.Event,
        *,
        redact: bool,
    ) -> None:
        self._form = _LINES if form in _DATA else form
        self._output = output
        self._inputs = inputs
        self._how = how
        self._stop = stop  # set when nobody reads any more
        self._redact = redact
        self._failed = False
        self._begun = False

    def change(self, diagnosis: Diagnosis) -> None:
        """Tell what is known now."""
        if self._form == _LINES or self._output is not None:
            self._write(diagnosis)
            return
        failed = diagnosis.verdict in TROUBLED
        if self._how.quiet or not (failed or self._failed):
            return
        self._failed = failed
        line = RENDERERS["text"](self._masked(diagnosis), replace(self._how, quiet=True))
        if not write(f"{time.strftime('%H:%M:%S')} provisional  {line}"):
            self._stop.set()

    def end(self, diagnosis: Diagnosis) -> None:
        """Give the whole report."""
        self._write(diagnosis)

    def _write(self, diagnosis: Diagnosis) -> None:
        shown = self._masked(diagnosis)
        if shown.provisional and self._form != _LINES:
            shown = replace(shown, summary=f"Provisional, the job has not ended: {shown.summary}")
        text = RENDERERS[self._form](shown, self._how)
        if not write(text, self._output, self._inputs, more=self._begun and self._form == _LINES):
            self._stop.set()
        self._begun = True

    def _masked(self, diagnosis: Diagnosis) -> Diagnosis:
        if not self._redact:
            return diagnosis
        from diagnose.deliver.redact import redact

        return redact(diagnosis)


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Yield an event that is set by Ctrl-C and by SIGTERM; a second one ends the program."""
    stop = threading.Event()
    before: dict[int, Any] = {}

    def note(number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.signal(number, before[number])

    for each in (signal.SIGINT, signal.SIGTERM):
        before[each] = signal.signal(each, note)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
