"""Runs tasks in forked processes that share what the parent has prepared, and hands their results back."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType

from diagnose.typed import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess


_NUMBER = 4  # bytes of a task's number


class WorkerError(RuntimeError):
    """A task raised an exception that this program did not expect; the text is its traceback."""


class Lost:
    """Stands for the result of a task whose process died."""


def can_fork() -> bool:
    """Can workers be started here that share the parent's memory? Not beside threads, nor in another pool's worker."""
    processes = sys.modules.get("multiprocessing.process")
    pooled = processes is not None and processes.current_process().daemon
    return hasattr(os, "fork") and threading.active_count() == 1 and not pooled


class Workers:
    """Processes that take the tasks in their order, each the next one when it is free.

    Args:
        tasks: functions without arguments; their results are sent through a pipe.
        count: of processes.
        done: called with a task's number when its result is there, from another thread.

    To be used with `with`: at its end, whatever the reason, no process is left.
    """

    def __init__(
        self, tasks: Sequence[Callable[[], Any]], count: int, done: Callable[[int], None] | None = None
    ) -> None:
        self._tasks = tasks
        self._count = min(count, len(tasks))
        self._done = done
        self._results: dict[int, Any] = {}
        self._change = threading.Condition()
        self._over = False
        self._processes: list[ForkProcess] = []
        self._receivers: list[Connection] = []

    def __enter__(self) -> Self:
        from multiprocessing import get_context

        context = get_context("fork")
        # Who is free takes the next number off this pipe; a read of one number is never torn.
        taken, given = os.pipe()
        # An interrupt between a fork and the child's first steps would be met by the parent's code in the child.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            for _ in range(self._count):
                receiver, sender = context.Pipe(duplex=False)
                self._receivers.append(receiver)
                process = context.Process(target=self._work, args=(taken, given, sender, os.getpid()), daemon=True)
                process.start()
                sender.close()
                self._processes.append(process)
            os.close(taken)
            threading.Thread(target=self._give, args=(given,), daemon=True).start()
            threading.Thread(target=self._drain, daemon=True).start()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()

    def result(self, number: int) -> Any:
        """Wait for a task and give its result, once; a `Lost` where its process died.

        Raises WorkerError where the task raised.
        """
        with self._change:
            while number not in self._results and not self._over:
                self._change.wait()
            result = self._results.pop(number, Lost())
        if isinstance(result, WorkerError):
            raise result
        return result

    def _give(self, given: int) -> None:
        with suppress(BrokenPipeError), open(given, "wb", buffering=0) as pipe:
            for number in range(len(self._tasks)):
                pipe.write(number.to_bytes(_NUMBER, "big"))

    def _work(self, taken: int, given: int, sender: Connection, parent: int) -> None:
        """Be a worker: in its process this runs until all tasks are taken or the parent is gone."""
        # An interrupt reaches the whole group; the parent ends its workers itself.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for receiver in self._receivers:
            receiver.close()
        os.close(given)
        while os.getppid() == parent and (told := os.read(taken, _NUMBER)):
            number = int.from_bytes(told, "big")
            try:
                result = self._tasks[number]()
            except Exception:
                import traceback

                result = WorkerError(traceback.format_exc())
            try:
                sender.send((number, result))
            except OSError:
                return

    def _drain(self) -> None:
        from multiprocessing.connection import wait

        open_ones = list(self._receivers)
        while open_ones:
            for receiver in wait(open_ones):
                try:
                    number, result = receiver.recv()  # type: ignore[union-attr, call-arg]
                except (EOFError, OSError):
                    open_ones.remove(receiver)  # type: ignore[arg-type]
                    continue
                with self._change:
                    self._results[number] = result
                    self._change.notify_all()
                if self._done is not None:
                    self._done(number)
        with self._change:
            self._over = True
            self._change.notify_all()
