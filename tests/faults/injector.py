"""Runs the job with one fault in one layout of logs, and says what is true of it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

JOB = Path(__file__).with_name("job.py")
LAYOUTS = ("merged", "tee", "tree", "files", "labels", "nodes")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is done to a job, and what a diagnosis must find."""

    name: str
    rank: int = 1
    verdicts: tuple[str, ...] = ("identified",)
    text: str = ""  # a part of the root line; "" any
    categories: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


FAULTS = (
    Fault("key-error", 2, ("identified", "unknown"), "KeyError", ("code", "data")),
    Fault("assertion", 3, ("identified", "unknown"), "does not start with BOS", ("data", "code")),
    Fault("made-up", 1, ("unknown",), "FrobError", ("code",)),
    Fault("out-of-memory", 3, ("identified",), "CUDA out of memory", ("gpu-memory",)),
    Fault("shape", 0, ("identified",), "mat1 and mat2", ("code",)),
    Fault("sigkill", 2, ("symptom_only",), "", ()),
    Fault("segfault", 1, ("symptom_only",), "", ("code",)),
    Fault("abort", 2, ("identified",), "double free", ("code",)),
    Fault("silent-exit", 1, ("unknown", "symptom_only"), "", ()),
    Fault("sys-exit", 0, ("unknown", "symptom_only"), "", ()),
    Fault("hang", 1, ("symptom_only",), "", ("collective", "code")),
    Fault("worker-json", 2, ("identified", "unknown"), "JSONDecodeError", ("data",)),
    Fault("worker-killed", 1, ("identified", "symptom_only"), "DataLoader worker", ("host-memory", "data")),
    Fault("disk-full", 2, ("identified",), "No space left", ("storage", "checkpoint")),
    Fault("config", 3, ("identified",), "num_attention_heads", ("config",)),
    Fault("recovered", 1, ("identified", "unknown"), "KeyError", ("code", "data")),
    Fault("nan", 3, ("identified",), "NAN", ("numerical",)),
    Fault("mismatch", 1, ("identified",), "mismatch", ("collective",), (("TORCH_DISTRIBUTED_DEBUG", "DETAIL"),)),
    Fault(
        "key-error", 1, ("identified", "unknown"), "KeyError", ("code", "data"),
        (("SECOND_FAULT", "assertion"), ("SECOND_RANK", "0")),
    ),
    Fault("", 0, ("no_failure",)),
)  # fmt: skip


def run(fault: Fault, layout: str, folder: Path, *, python: str = sys.executable, ranks: int = 4) -> Path:
    """Run the job under torchrun and leave its logs in `folder` in one of LAYOUTS; return what to diagnose."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "FAULT": fault.name, "FAULT_RANK": str(fault.rank), "OMP_NUM_THREADS": "1"}
    environment |= dict(fault.environment)
    if layout in ("files", "labels"):
        return _plain(environment, layout, folder, python, ranks)
    nodes = 2 if layout == "nodes" else 1
    port = _free_port()
    agents = []
    for node in range(nodes):
        command = [python, "-m", "torch.distributed.run", f"--nproc-per-node={ranks // nodes}", f"--nnodes={nodes}"]
        command += [f"--node-rank={node}", "--master-addr=127.0.0.1", f"--master-port={port}"]
        if layout == "tee":
            command += ["--tee=3", f"--log-dir={folder / 'unused'}"]
        if layout == "tree":
            command += ["--redirects=3", f"--log-dir={folder / 'logs'}"]
        name = {"nodes": f"node-{node}.log", "tree": "launcher.log"}.get(layout, "train.log")
        with (folder / name).open("wb") as out:
            agents.append(subprocess.Popen([*command, str(JOB)], stdout=out, stderr=subprocess.STDOUT, env=environment))
    for agent in agents:
        try:
            agent.wait(120)
        except subprocess.TimeoutExpired:
            agent.kill()
    shutil.rmtree(folder / "unused", ignore_errors=True)
    return folder


def _plain(environment: dict[str, str], layout: str, folder: Path, python: str, ranks: int) -> Path:
    """Start the ranks without a launcher, as srun does: a file a rank, or one file with task labels."""
    port = _free_port()
    running = []
    for rank in range(ranks):
        own = {**environment, "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank)}
        own |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        out = (folder / f"rank_{rank}.log").open("wb")
        running.append((subprocess.Popen([python, str(JOB)], stdout=out, stderr=subprocess.STDOUT, env=own), out))
    for process, out in running:
        try:
            process.wait(25)
        except subprocess.TimeoutExpired:
            process.kill()
        out.close()
    if layout == "labels":
        lines: list[str] = []
        for rank in range(ranks):
            path = folder / f"rank_{rank}.log"
            lines += [f"{rank}: {line}\n" for line in path.read_text(errors="replace").splitlines()]
            path.unlink()
        (folder / "slurm-77.out").write_text("".join(lines))
    return folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
