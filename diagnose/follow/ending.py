"""When a job that is followed counts as ended."""

from __future__ import annotations

import os

from diagnose.classes import dataclass

_POLL, _LEAST_POLL = 0.5, 0.02  # seconds


@dataclass(frozen=True, slots=True)
class Rules:
    """When the job counts as ended. Times are in seconds."""

    least: float = 10.0  # after the first sign of the end, at least so long is waited for more words
    quiet: float = 5.0  # and until nothing was written for so long
    most: float = 40.0  # but no longer than this
    idle: float | None = None  # nothing written for so long is the end too; None: silence alone is no end
    pid: int | None = None  # a process of the job on this machine; then its end alone is the sign

    @property
    def poll(self) -> float:
        """Seconds between two looks at the files."""
        return min(_POLL, max(_LEAST_POLL, self.quiet / 4))


class Ending:
    """Decides from what is seen whether the job has ended.

    Args:
        rules: the times to wait.
        now: on any clock that never goes back.
    """

    def __init__(self, rules: Rules, now: float) -> None:
        self._rules = rules
        self._since: float | None = None  # when the first sign was seen
        self._grew = now

    def note(self, now: float, *, grew: bool, sign: bool) -> None:
        """Take in whether anything was written, and whether there is a sign of the end."""
        if grew:
            self._grew = now
        if not sign:
            self._since = None
        elif self._since is None:
            self._since = now

    def is_over(self, now: float) -> bool:
        """Has the job ended, with nothing more to come?"""
        rules, silent = self._rules, now - self._grew
        if rules.idle is not None and silent >= rules.idle:
            return True
        if self._since is None:
            return False
        waited = now - self._since
        return waited >= rules.most or (waited >= rules.least and silent >= rules.quiet)


class Process:
    """A process of the job, so that its end is noticed, also when its number is given to another one."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._begun = _began(pid)

    def is_gone(self) -> bool:
        """Has it ended? One that nobody waited for counts as ended."""
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return _began(self._pid) != self._begun


def _began(pid: int) -> str | None:
    """When a process began, as Linux counts it; "" for one that is only waited for, None where that is not told."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return "" if fields[0] in "ZX" else fields[19]
