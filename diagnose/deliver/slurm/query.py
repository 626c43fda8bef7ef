"""Asks Slurm's own commands: `squeue`, `scontrol`, and `sacct` for jobs that the controller has forgotten."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence

from diagnose.classes import dataclass
from diagnose.deliver.slurm.job import SACCT_FIELDS, Job, parse_sacct, parse_scontrol

TIMEOUT = 45.0  # seconds: a busy controller answers late, a dead one never
FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/slurm/bin", "/usr/local/slurm/bin", "/cm/shared/apps/slurm/current/bin")
_ID = re.compile(r"\d{1,18}(?:_\d{1,18}|\+\d{1,6})?")
_FEW = 8  # jobs that are asked for one by one; more cost one request for all
_NO_SUCH = "Invalid job id specified"


class SlurmError(Exception):
    """Slurm did not answer; the text says what was asked, what came back, and what to do."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command printed."""

    code: int
    out: str
    error: str


Runner = Callable[[Sequence[str]], Answer]


def find_command(name: str, folders: Sequence[str] = FOLDERS) -> str | None:
    """Return the path of one of Slurm's commands, also where PATH is empty."""
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(folders))


def run_command(command: Sequence[str]) -> Answer:
    """Run one of Slurm's commands, bounded in time; raises SlurmError where it is not there or does not end."""
    path = find_command(command[0])
    if path is None:
        raise SlurmError(f"{command[0]} was not found; load Slurm's module, or run this where Slurm is installed")
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("SQUEUE_", "SACCT_", "SLURM_TIME_"))
    }
    environment["LC_ALL"] = "C"
    try:
        done = subprocess.run(
            [path, *command[1:]], env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        raise SlurmError(f"{command[0]} did not answer within {TIMEOUT:.0f} s; try again later") from None
    except OSError as error:
        raise SlurmError(f"{path} cannot be run: {error.strerror}") from None
    return Answer(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


class Slurm:
    """The cluster, as far as its commands tell; `run` stands for them in tests."""

    def __init__(self, run: Runner = run_command) -> None:
        self._run = run

    def find(self, job_id: str) -> list[Job]:
        """Return the records of a job: one, or one for each task of an array; empty where nobody knows it.

        Arguments: `job_id` as users write it: 123, 123_4, 123+1. Raises SlurmError where Slurm does not answer, or
        where this is no job id.
        """
        if not _ID.fullmatch(job_id):
            raise SlurmError(f"{job_id!r} is no job id; write 123, or 123_4 for one task of an array")
        answer = self._run(["scontrol", "show", "job", job_id])
        if answer.code == 0 and (found := parse_scontrol(answer.out)):
            return found
        if answer.code and _NO_SUCH not in answer.error + answer.out:
            return self._second(job_id, answer)
        return self.recorded([job_id])

    def _second(self, job_id: str, answer: Answer) -> list[Job]:
        """The controller is away: perhaps the accounting knows the job."""
        complaint = _last_line(answer.error) or f"exit code {answer.code}"
        try:
            found = self.recorded([job_id])
        except SlurmError:
            found = []
        if not found:
            raise SlurmError(f"scontrol did not answer: {complaint}")
        return found

    def recorded(self, job_ids: Sequence[str]) -> list[Job]:
        """Ask the accounting for jobs, all at once; empty where there is no accounting."""
        fields = list(SACCT_FIELDS)
        for _ in range(2):
            answer = self._run(
                ["sacct", "--allocations", "--noheader", "--parsable2", "--duplicates", f"--jobs={','.join(job_ids)}",
                 f"--format={','.join(fields)}"]
            )  # fmt: skip
            if answer.code == 0:
                return _latest(parse_sacct(answer.out))
            if "Invalid field requested" not in answer.error or fields[-1] != "Restarts":
                break
            fields.pop()  # releases before 23.02 have no such field
        if "accounting storage is disabled" in answer.error.lower():
            return []
        raise SlurmError(f"sacct did not answer: {_last_line(answer.error) or f'exit code {answer.code}'}")

    def show(self, job_ids: Sequence[str]) -> list[Job]:
        """Return what the controller knows of several jobs; jobs that it has forgotten are left out."""
        if len(job_ids) > _FEW:
            answer = self._run(["scontrol", "show", "job"])
            wanted = set(job_ids)
            return [job for job in parse_scontrol(self._checked(answer)) if job.id in wanted]
        found: list[Job] = []
        for job_id in job_ids:
            answer = self._run(["scontrol", "show", "job", job_id])
            if answer.code and _NO_SUCH in answer.error + answer.out:
                continue
            # A task of an array is asked for by its raw number; the array's own number gives all of them.
            found += [job for job in parse_scontrol(self._checked(answer)) if job.id == job_id]
        return found

    def states(self, user: str = "") -> dict[str, str]:
        """Return the state of every job in the queue, and of those that ended a short while ago, by raw id."""
        who = [f"--user={user}"] if user else []
        answer = self._run(["squeue", "--noheader", "--states=all", "--format=%A|%T", *who])
        rows = (line.strip().partition("|") for line in self._checked(answer).splitlines())
        return {job_id: state for job_id, _, state in rows if job_id.isdigit()}

    def _checked(self, answer: Answer) -> str:
        if answer.code:
            raise SlurmError(f"Slurm did not answer: {_last_line(answer.error) or f'exit code {answer.code}'}")
        return answer.out


def _latest(jobs: Sequence[Job]) -> list[Job]:
    """Of a job that was requeued the accounting holds every run; the last is meant."""
    return list({job.id: job for job in jobs}.values())


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
