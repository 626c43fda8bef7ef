"""Follows the queue where no hook can be installed: each failed job is diagnosed once."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping

from diagnose.classes import dataclass
from diagnose.deliver.ledger import Ledger
from diagnose.deliver.settings import Settings
from diagnose.deliver.slurm.handle import report_base, task_of, wanted
from diagnose.deliver.slurm.job import ENDED_STATES, Job
from diagnose.deliver.slurm.query import Slurm, SlurmError
from diagnose.deliver.task import Announced
from diagnose.deliver.worker import run_boxed

_LONGEST_PAUSE = 900.0  # seconds, while Slurm does not answer
_BATCH = 200  # jobs of one question to the accounting


@dataclass(frozen=True, slots=True)
class Seen:
    """One failed job, and what was found."""

    job: Job
    announced: Announced


def default_ledger(environment: Mapping[str, str] = os.environ) -> str:
    """Return the ledger's path in the user's XDG state folder."""
    home = environment.get("XDG_STATE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(home, "diagnose", "watch-slurm.ledger")


class Watch:
    """Looks at the queue again and again. Jobs are told apart by id, restart count and end."""

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        *,
        slurm: Slurm | None = None,
        announce: Callable[[Job], Announced] | None = None,
    ) -> None:
        """Arguments: the configuration; the ledger; `slurm` and `announce` stand for the real ones in tests."""
        self._settings = settings
        self._ledger = ledger
        self._slurm = slurm or Slurm()
        self._announce = announce or self._really
        self._alive: set[str] = set()  # jobs that had not ended when the queue was last looked at
        self._shown: set[str] = set()  # jobs that had ended badly when the queue was last looked at
        self._missed: set[str] = set()  # jobs that left the queue unseen; the accounting is asked for them

    def look(self) -> list[Seen]:
        """Look once: diagnose every job that failed since; raises SlurmError where Slurm does not answer."""
        states = self._slurm.states(self._settings.watch.user)
        self._missed |= self._alive - states.keys()
        self._alive = {job_id for job_id, state in states.items() if state not in ENDED_STATES}
        ended = [job_id for job_id, state in states.items() if state in ENDED_STATES - {"COMPLETED"}]
        new = [job_id for job_id in ended if f"{job_id} ended" not in self._ledger]
        new = [job_id for job_id in ended if job_id not in self._shown]
        jobs = self._slurm.show(new) if new else []
        self._shown = set(ended)  # one that was queued again has left it by its next end
        jobs += self._forgotten()
        found = []
        for job in jobs:
            if not wanted(job, self._settings.slurm) or not job.state:
                continue
            if self._ledger.claim(f"{job.id} {job.restarts} {job.end}"):
                found.append(Seen(job, self._announce(job)))
        return found

    def _forgotten(self) -> list[Job]:
        jobs: list[Job] = []
        asked = sorted(self._missed, key=int)[:_BATCH]
        if asked:
            jobs = [job for job in self._slurm.recorded(asked) if job.ended]
            self._missed -= set(asked)
        return jobs

    def _really(self, job: Job) -> Announced:
        report = report_base(job, self._settings.slurm.reports)
        return run_boxed(
            task_of(job, settings=self._settings.path or None, report=report), self._settings.slurm.timeout
        )

    def follow(self, tell: Callable[[Seen], None], complain: Callable[[str], None]) -> None:
        """Look until interrupted. While Slurm does not answer, the pauses double, up to 15 minutes.

        Arguments: `tell` is called with every failed job, `complain` with a sentence when Slurm does not answer.
        """
        pause = self._settings.watch.interval
        while True:
            try:
                for seen in self.look():
                    tell(seen)
                self._repay()
                pause = self._settings.watch.interval
            except SlurmError as error:
                pause = min(_LONGEST_PAUSE, 2 * pause)
                complain(f"{error}; the next look is in {pause:.0f} s")
            # A little apart from the others that poll at the full minute.
            time.sleep(pause * random.uniform(0.9, 1.1))

    def _repay(self) -> None:
        if self._settings.notify.entries:
            from diagnose.deliver.notify import repay

            repay(self._settings.notify)
