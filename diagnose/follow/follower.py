"""Looks at the logs again and again, until the job has ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from diagnose.classes import replace
from diagnose.follow.ending import Ending, Process, Rules
from diagnose.follow.logs import Logs
from diagnose.reason.result import FAILED, Diagnosis

_LOOK = 4  # of so many rounds new files are looked for in one
_SHARE = 10  # times as long as a look at the logs took, the next one waits
_EVERY = 60.0  # seconds after which logs that grew are looked at although no line in them seems to matter


class Follower:
    """Follows a job's logs to its end.

    Args:
        logs: the logs.
        rules: when the job counts as ended.
        diagnose: makes the diagnosis of the records.
        told: is handed each provisional diagnosis that differs from the one before.
        stop: ends it when it is set.
        restarts: ids of the patterns that tell of a restart.
    """

    def __init__(
        self,
        logs: Logs,
        rules: Rules,
        diagnose: Callable[[Logs], Diagnosis],
        told: Callable[[Diagnosis], None],
        stop: threading.Event,
        restarts: frozenset[str] = frozenset(),
    ) -> None:
        self._logs = logs
        self._rules = rules
        self._diagnose = diagnose
        self._told = told
        self._stop = stop
        self._process = Process(rules.pid) if rules.pid is not None else None
        self._last: Diagnosis | None = None
        self._restarts = restarts
        self._exits = False
        self._again = False  # was the job started again after the failure?
        self._looked_at = (0.0, 0)  # when, and how many lines had been found that may matter
        self._pause = 0.0
        self._stale = False  # did the logs grow since?

    def run(self) -> Diagnosis:
        """Follow until the job has ended, or until `stop` is set; then the answer is provisional."""
        ending = Ending(self._rules, time.monotonic())
        turn = 0
        while not self._stop.is_set():
            if turn % _LOOK == 0:
                self._logs.look()
            turn += 1
            if self._has_ended(ending):
                return self._final(provisional=False)
            if not self._logs.behind:
                self._stop.wait(self._rules.poll)
        return self._final(provisional=True)

    def _has_ended(self, ending: Ending) -> bool:
        gone = self._process is not None and self._process.is_gone()
        grew = self._logs.read() > 0
        now = time.monotonic()
        self._stale = self._stale or grew
        if self._is_due(now):
            self._look(now)
        ending.note(now, grew=grew, sign=self._shows_end(gone))
        if not ending.is_over(now):
            return False
        if self._stale:
            # What came since the last look may be progress.
            self._look(now)
            ending.note(now, grew=False, sign=self._shows_end(gone))
        return ending.is_over(now)

    def _shows_end(self, gone: bool) -> bool:
        if self._logs.behind:
            return False
        if self._process is not None:
            return gone
        return self._exits or (self._last is not None and self._last.verdict in FAILED and not self._again)

    def _final(self, *, provisional: bool) -> Diagnosis:
        self._logs.look()
        self._logs.read()
        self._logs.end()
        return replace(self._diagnose(self._logs), provisional=provisional)

    def _is_due(self, now: float) -> bool:
        """Are the logs to be looked at? At once where a line came that may matter, or a failure may be taken back."""
        if not self._stale or not len(self._logs):
            return False
        when, news = self._looked_at
        if self._last is None:
            return True
        urgent = self._logs.news != news or self._last.verdict in FAILED
        return now - when >= (self._pause if urgent else max(self._pause, _EVERY))

    def _look(self, now: float) -> None:
        self._looked_at, self._stale = (now, self._logs.news), False
        found = replace(self._diagnose(self._logs), provisional=True)
        self._exits = any(record.steps and record.steps[-1].kind == "exit" for record in self._logs.records())
        self._again = self._is_restarted(found)
        self._pause = _SHARE * (time.monotonic() - now)
        before, self._last = self._last, found
        if before is None or _gist(before) != _gist(found):
            self._told(found)

    def _is_restarted(self, found: Diagnosis) -> bool:
        """Does the log of the root say below it that the job is started again?"""
        root = found.root_cause
        line = root.evidence[0] if root is not None and root.evidence else None
        return line is not None and any(
            event.pattern in self._restarts and event.evidence.path == line.path and event.evidence.line > line.line
            for record in self._logs.records()
            for event in record.events
        )


def _gist(diagnosis: Diagnosis) -> tuple[object, ...]:
    """What makes a diagnosis another one: the verdict, the root and its line, and the rivals."""
    root = diagnosis.root_cause
    first = root.evidence[0] if root is not None and root.evidence else None
    line = (first.path, first.line) if first is not None else None
    pattern = root.pattern if root is not None else ""
    return diagnosis.verdict, pattern, line, tuple(each.pattern for each in diagnosis.alternatives)
