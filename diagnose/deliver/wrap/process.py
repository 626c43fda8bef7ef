"""Starts the job, hands signals on to it, and waits for its end."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence

from diagnose.classes import dataclass

# Each of these would end us, and leave the job behind without anybody who reads its output.
FORWARDED = frozenset(
    (
        signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT, signal.SIGALRM,
        signal.SIGXCPU,
    )
)  # fmt: skip
_WAITED = FORWARDED | {signal.SIGCHLD, signal.SIGURG}
_FROM_KERNEL = 0x80  # si_code of what the terminal sends, to the whole foreground group


@dataclass(frozen=True, slots=True)
class Ended:
    """How the job ended."""

    code: int  # as Python writes it: the exit code, or minus the signal
    signals: frozenset[int] = frozenset()  # what was sent to us meanwhile

    @property
    def status(self) -> int:
        """The exit code that a shell would give: 128 + n for signal n."""
        return self.code if self.code >= 0 else 128 - self.code


class Job:
    """One running job. Signals are blocked from `start` to `restore`, so none is lost and none cuts a call short."""

    def __init__(self, pid: int, own_group: bool, mask: set[signal.Signals | int]) -> None:
        self.pid = pid
        self._own_group = own_group
        self._mask = mask

    @classmethod
    def start(
        cls, command: Sequence[str], outputs: Mapping[int, int], environment: Mapping[str, str] = os.environ
    ) -> Job:
        """Start the command with its descriptors 1 and 2 on `outputs`; raises OSError where it cannot be started.

        It gets a process group of its own, unless it may read from a terminal: there only the foreground group may.
        """
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored by our parent, no end of a child would be told
        mask = set(signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED))
        own_group = not os.isatty(0)
        actions = [(os.POSIX_SPAWN_DUP2, source, target) for target, source in outputs.items()]
        group = {"setpgroup": 0} if own_group else {}
        try:
            pid = os.posix_spawnp(
                command[0],
                list(command),
                dict(environment),
                file_actions=actions,
                setsigmask=mask,
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],  # Python ignores them; the job must not inherit that
                **group,  # type: ignore[arg-type]
            )
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            raise
        return cls(pid, own_group, mask)

    def wait(self) -> Ended:
        """Wait for the end; hand on what is sent to us meanwhile."""
        seen: set[int] = set()
        while True:
            told = signal.sigwaitinfo(_WAITED)
            if told.si_signo == signal.SIGCHLD:
                code = self._reap()
                if code is not None:
                    return Ended(code, frozenset(seen))
                continue
            seen.add(told.si_signo)
            if self._must_forward(told):
                self.send(told.si_signo)

    def _reap(self) -> int | None:
        # As the first process of a container we are also given the orphans.
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return None
            if pid == 0:
                return None
            if pid == self.pid:
                return os.waitstatus_to_exitcode(status)

    def _must_forward(self, told: signal.struct_siginfo) -> bool:
        """Tell whether the job has not been sent the signal itself; sent twice, it could cut an orderly end short."""
        if not self._own_group and told.si_code == _FROM_KERNEL:
            return False
        if not _is_slurmstepd(told.si_pid):
            return True
        # Slurm signals every process of a step; only of a batch job it may mean the script alone (--signal=B:).
        return told.si_pid == os.getppid() and "SLURM_STEP_ID" not in os.environ

    def send(self, number: int) -> None:
        """Send a signal to the job's process group, or to the job where it shares ours."""
        try:
            if self._own_group:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)
        except OSError:
            return  # it has just ended

    def restore(self) -> None:
        """Let signals act as they did before."""
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)


def _is_slurmstepd(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().startswith("slurmstepd")
    except OSError:
        return False
