"""Runs a job as if nobody watched; if it fails, has it diagnosed."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import FrameType

from diagnose.classes import dataclass
from diagnose.deliver.wrap.process import FORWARDED, Ended, Job
from diagnose.deliver.wrap.pump import Pump
from diagnose.deliver.wrap.record import Recorder
from diagnose.read.own import marked
from diagnose.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from diagnose.deliver.model import Event

NOT_FOUND, NOT_RUNNABLE = 127, 126  # as shells have it
_SHOWN = "output"  # what evidence is called where the output lies in no file
_LAST = 2 * 1024 * 1024  # bytes that are looked at where not even a temporary file can be written


@dataclass(frozen=True, slots=True)
class Options:
    """What `diagnose wrap` was asked for."""

    log: str | None = None  # file for all of the output
    report: str | None = None  # BASE.json and BASE.md
    timeout: float | None = None  # seconds for the diagnosis; None takes the configuration's
    settings: str | None = None  # configuration file
    patterns: tuple[str, ...] = ()
    quiet: bool = False  # True: no diagnosis is printed; warnings are


class _InterruptedError(Exception):
    """A signal came while the diagnosis was made: whoever sent it wants us gone."""


def wrap(command: Sequence[str], options: Options) -> int:
    """Run the command and return its exit code, 128 + n where signal n ended it.

    127 where there is no such command, 126 where it cannot be run. What goes wrong here never changes the code.
    """
    _open_standard()
    recorder = Recorder(options.log)
    started = time.time()
    try:
        ended = _run(command, recorder)
    except OSError as error:
        _say(f"diagnose: error: {command[0]}: {error.strerror or error}")
        return NOT_FOUND if error.errno in (errno.ENOENT, errno.ENOTDIR) else NOT_RUNNABLE
    if recorder.problem:
        _say(f"diagnose: warning: {recorder.problem}")
    # Who interrupts a job knows why it ended.
    if ended.code != 0 and signal.SIGINT not in ended.signals:
        _explain(command, ended, recorder, started, options)
    recorder.close()
    return ended.status


def _run(command: Sequence[str], recorder: Recorder) -> Ended:
    """Run the job between two pipes, or on one where our own stdout and stderr are the same file: order stays."""
    one = _same_file(1, 2)
    pipes = [os.pipe()] if one else [os.pipe(), os.pipe()]
    outputs = {1: pipes[0][1], 2: pipes[-1][1]}
    try:
        job = Job.start(command, outputs)
    finally:
        for _, end in pipes:
            os.close(end)
    pump = Pump([(source, target) for (source, _), target in zip(pipes, (1, 2), strict=False)], recorder)
    pump.start()
    ended = job.wait()
    pump.finish()
    job.restore()
    return ended


def _open_standard() -> None:
    """Put /dev/null where 0, 1 or 2 is closed: the record or a pipe would get that number, and the output on top."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def _same_file(first: int, second: int) -> bool:
    try:
        return os.path.samestat(os.fstat(first), os.fstat(second))
    except OSError:
        return False


def _explain(command: Sequence[str], ended: Ended, recorder: Recorder, started: float, options: Options) -> None:
    """Diagnose and announce. Whatever goes wrong is one line; the job's exit code is returned all the same."""
    before = {number: signal.signal(number, _interrupt) for number in FORWARDED}
    try:
        with tempfile.TemporaryDirectory(prefix="diagnose-", ignore_cleanup_errors=True) as folder:
            _announce(command, ended, recorder, started, options, folder)
    except _InterruptedError:
        _say("diagnose: the diagnosis was interrupted")
    except Exception as error:
        _say(f"diagnose: error: the diagnosis failed: {type(error).__name__}: {error}")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise _InterruptedError


def _announce(
    command: Sequence[str], ended: Ended, recorder: Recorder, started: float, options: Options, folder: str
) -> None:
    from diagnose.deliver.settings import load_settings
    from diagnose.deliver.task import Task, Text
    from diagnose.deliver.termination import termination_file
    from diagnose.deliver.worker import run_boxed
    from diagnose.deliver.wrap.torchrun import torchrun_logs

    # These are the words in which Python reports a command that failed; patterns know them.
    told = subprocess.CalledProcessError(ended.code, [word[:200] for word in command[:20]])
    texts = [Text("exit status", f"subprocess.CalledProcessError: {told}\n")]
    paths: list[str] = []
    shown: dict[str, str] = {}
    try:
        path = recorder.named or os.path.join(folder, "output.log")
        if not recorder.named:
            recorder.save(path)
            shown[path] = _SHOWN
        paths.append(path)
    except OSError:
        texts.insert(0, Text(_SHOWN, recorder.last(_LAST).decode("utf-8", "replace")))
    paths += torchrun_logs(command, started)
    base = _report_base(options)
    task = Task(
        event=_event(ended, paths if recorder.named else paths[1:]),
        paths=tuple(paths),
        texts=tuple(texts),
        shown=shown,
        settings=options.settings,
        patterns=options.patterns,
        report=base,
        termination=termination_file(),
        width=_width(),
        color=_colorful(),
    )
    announced = run_boxed(task, options.timeout or load_settings(options.settings).wrap.timeout)
    if not options.quiet:
        _say(announced.text.rstrip("\n") if _seen_by_a_person() else marked(announced.text))
    for problem in announced.problems:
        _say(f"diagnose: warning: {problem}")


def _report_base(options: Options) -> str:
    if options.report:
        return options.report.removesuffix(".json").removesuffix(".md")
    return f"{options.log}.diagnosis" if options.log else ""


def _event(ended: Ended, paths: Sequence[str], environment: Mapping[str, str] = os.environ) -> Event:
    from datetime import UTC, datetime

    from diagnose.deliver.model import Event

    how = f"exit {ended.code}" if ended.code >= 0 else signal.Signals(-ended.code).name
    return Event(
        source="wrap",
        job_id=environment.get("SLURM_JOB_ID") or environment.get("HOSTNAME", ""),
        name=environment.get("SLURM_JOB_NAME", ""),
        user=environment.get("USER", ""),
        cluster=environment.get("SLURM_CLUSTER_NAME", ""),
        paths=tuple(paths),
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        state=how,
    )


def _width() -> int:
    import shutil

    return min(120, max(80, shutil.get_terminal_size((100, 24)).columns))


def _colorful() -> bool:
    return _seen_by_a_person() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _seen_by_a_person() -> bool:
    """Tell whether our stderr is a terminal; elsewhere it is a log that may be diagnosed itself."""
    return sys.stderr is not None and sys.stderr.isatty()


def _say(text: str) -> None:
    """Write to our own stderr; a stderr that nobody reads is no error."""
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return
