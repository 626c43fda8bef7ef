"""A Lightning callback: `Trainer(callbacks=[DiagnoseCallback()])` has an exception diagnosed where it is raised."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from diagnose.deliver.model import Event
from diagnose.deliver.task import Announced, Task, Text
from diagnose.typed import Any

_BASES = ("lightning.pytorch.callbacks", "pytorch_lightning.callbacks")
_LONGEST = 200_000  # characters of a printed exception


def diagnose_exception(
    exception: BaseException,
    *,
    logs: Sequence[str] = (),
    report: str = "",
    settings: str | None = None,
    timeout: float = 60.0,
    environment: Mapping[str, str] = os.environ,
) -> Announced | None:
    """Diagnose an exception that ends a run; None for an interrupt and for a wanted exit.

    Arguments: `logs`, files of this run that are read too; `report`, BASE.json and BASE.md are written; `settings`, a
    configuration file; `timeout`, seconds that it may take. Never raises.
    """
    if isinstance(exception, KeyboardInterrupt | SystemExit | GeneratorExit):
        return None
    from diagnose.deliver.worker import run_boxed

    try:
        words = "".join(traceback.format_exception(exception))[-_LONGEST:]
        rank = environment.get("RANK") or environment.get("SLURM_PROCID") or "0"
        event = Event(
            source="wrap",
            job_id=environment.get("SLURM_JOB_ID", ""),
            name=environment.get("SLURM_JOB_NAME", ""),
            user=environment.get("USER", ""),
            paths=tuple(logs),
            state=type(exception).__name__,
        )
        task = Task(event, tuple(logs), (Text(f"exception of rank {rank}", words),), settings=settings, report=report)
        return run_boxed(task, timeout)
    except Exception as error:  # the run's own exception must come through
        return Announced(problems=(f"the diagnosis failed: {type(error).__name__}: {error}",))


def callback_class(base: type[Any]) -> type[Any]:
    """Make the callback's class from Lightning's `Callback`."""

    class DiagnoseCallback(base):  # type: ignore[misc]
        """Prints and delivers a diagnosis when training, validation or testing ends with an exception."""

        def __init__(self, tell: Callable[[str], object] | None = None, **options: Any) -> None:
            """Take the options of `diagnose_exception`; `tell` is called with the report in place of printing it."""
            super().__init__()
            self._tell = tell or _print
            self._options = options

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            """Lightning calls this before it lets the exception through."""
            announced = diagnose_exception(exception, **self._options)
            if announced is not None:
                problems = (f"diagnose: warning: {problem}" for problem in announced.problems)
                self._tell("\n".join(filter(None, (announced.text, *problems))))

    return DiagnoseCallback


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def __getattr__(name: str) -> Any:
    """Make `DiagnoseCallback` when it is asked for: importing Lightning takes seconds."""
    if name != "DiagnoseCallback":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for module in _BASES:
        try:
            return callback_class(import_module(module).Callback)
        except ImportError:
            continue
    raise ImportError("DiagnoseCallback needs lightning or pytorch-lightning; install one of them")
