"""A real Slurm of one node, started in a folder of its own, for as long as a test module runs."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_CONFIGURATION = """\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
SlurmctldTimeout=30
KillWait=2
MinJobAge=300
ReturnToService=2
SlurmdParameters=config_overrides
LaunchParameters=disable_send_gids
JobRequeue=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=batch Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def available() -> bool:
    """Is Slurm here, and may this user start its daemons?"""
    return os.geteuid() == 0 and all(shutil.which(name, path=_path()) for name in ("slurmctld", "slurmd", "sbatch"))


def _path() -> str:
    return os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/opt/slurm/sbin"))


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


@dataclass(slots=True)
class Cluster:
    """The daemons and the way to talk to them."""

    folder: Path
    settings: Mapping[str, str]  # further lines of slurm.conf: MailProg, EpilogSlurmctld …
    _daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What the clients need to find this cluster."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "SBATCH_"))}
        return {**kept, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": _path()}

    def start(self) -> None:
        """Start both daemons and wait until the node takes jobs; raises RuntimeError with the last words of a log."""
        host = socket.gethostname().partition(".")[0]
        (self.folder / "state").mkdir()
        (self.folder / "spool").mkdir()
        further = "".join(f"{key}={value}\n" for key, value in self.settings.items())
        text = _CONFIGURATION.format(host=host, ports=_free_ports(2), folder=self.folder)
        (self.folder / "slurm.conf").write_text(text + further)
        # The daemon runs EpilogSlurmctld only where it is called by this name; Debian's binary has another one.
        (self.folder / "slurmctld").symlink_to(os.path.realpath(str(shutil.which("slurmctld", path=_path()))))
        self._daemon(str(self.folder / "slurmctld"), "-D", "-i")
        self._daemon(str(shutil.which("slurmd", path=_path())), "-D", "-N", host)
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline:
            if self.run("sinfo", "-h", "-o", "%T").stdout.strip() == "idle":
                return
            time.sleep(0.3)
        said = "\n".join(path.read_text()[-1500:] for path in self.folder.glob("*.log"))
        self.stop()
        raise RuntimeError(f"Slurm did not come up: {said}")

    def _daemon(self, *command: str) -> None:
        out = subprocess.DEVNULL
        self._daemons.append(subprocess.Popen(command, env=self.environment, stdin=out, stdout=out, stderr=out))

    def run(self, *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a client."""
        return subprocess.run(
            command, env=self.environment, cwd=cwd, capture_output=True, text=True, timeout=60, check=False
        )

    def submit(self, script: str, *options: str, cwd: Path) -> str:
        """Submit a batch script and return the job id."""
        path = cwd / f"job-{time.monotonic_ns()}.sbatch"
        path.write_text(f"#!/bin/bash\n{script}\n")
        done = self.run("sbatch", "--parsable", *options, str(path), cwd=cwd)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip().partition(";")[0]

    def wait(self, job: str, seconds: float = 60, states: Sequence[str] = ()) -> str:
        """Wait until the job has ended, or is in one of `states`, and return its state."""
        deadline = time.monotonic() + seconds
        state = ""
        while time.monotonic() < deadline:
            told = self.run("squeue", "-h", "-t", "all", "-o", "%T", "-j", job).stdout.split()
            state = told[0] if told else "GONE"
            if state in states or (not states and state not in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING")):
                return state
            time.sleep(0.3)
        raise TimeoutError(f"job {job} is still {state}")

    def stop(self) -> None:
        """Stop both daemons."""
        for each in reversed(self._daemons):
            each.terminate()
        for each in self._daemons:
            try:
                each.wait(10)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()
