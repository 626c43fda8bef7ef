"""Runs the job with one fault in one layout of logs, and says what is true of it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

JOB = Path(__file__).with_name("job.py")
LAUNCHED = ("merged", "tee", "tree", "nodes", "node-trees")  # by torchrun
PLAIN = (
    "files",
    "labels",
    "stamped",
    "pods",
    "containers",
    "blocks",
    "zones",
    "colours",
)  # a process a rank, as srun does
LAYOUTS = (*LAUNCHED, *PLAIN)
_NODE = 2  # ranks on a node where a layout has two nodes
_EAST = 9 * 3600  # seconds by which the clock of the second node shows more in the layout "zones"
_EXIT = "\0exit "  # what a rank "says" with its exit code
_END = {-9: "Killed", -11: "Segmentation fault", -6: "Aborted", -15: "Terminated"}

Said = tuple[float, int, str]  # when, which rank, what


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
    Fault("never-joins", 2, ("symptom_only",), "", ()),
    Fault("hang", 3, ("symptom_only",), "", ("collective", "code"), (("FAULT_STEP", "9"),)),
    Fault("import", 0, ("identified", "unknown"), "No module named", ("environment", "code")),
    Fault("chained", 2, ("identified", "unknown"), "shard 7", ("data", "code")),
    Fault(
        "made-up", 3, ("unknown",), "FrobError", ("code",), (("SECOND_FAULT", "out-of-memory"), ("SECOND_RANK", "1")),
    ),
    Fault("recovered-oom", 1, ("identified",), "CUDA out of memory", ("gpu-memory",)),
    Fault("loader-hang", 2, ("symptom_only",), "", ("collective", "code")),
)  # fmt: skip


def run(fault: Fault, layout: str, folder: Path, *, python: str = sys.executable, ranks: int = 4) -> Path:
    """Run the job under torchrun and leave its logs in `folder` in one of LAYOUTS; return what to diagnose."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "FAULT": fault.name, "FAULT_RANK": str(fault.rank), "OMP_NUM_THREADS": "1"}
    environment |= dict(fault.environment)
    if layout in PLAIN:
        _lay_out(_plain(environment, python, ranks), layout, folder)
        return folder
    nodes = 2 if layout.startswith("node") else 1
    port = _free_port()
    agents = []
    for node in range(nodes):
        command = [python, "-m", "torch.distributed.run", f"--nproc-per-node={ranks // nodes}", f"--nnodes={nodes}"]
        command += [f"--node-rank={node}", "--master-addr=127.0.0.1", f"--master-port={port}"]
        if layout == "tee":
            command += ["--tee=3", f"--log-dir={folder / 'unused'}"]
        if layout in ("tree", "node-trees"):
            command += ["--redirects=3", f"--log-dir={folder / _TREES[layout].format(node=node)}"]
        name = {"nodes": f"node-{node}.log", "tree": "launcher.log", "node-trees": f"node-{node}/launcher.log"}
        path = folder / name.get(layout, "train.log")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            agents.append(subprocess.Popen([*command, str(JOB)], stdout=out, stderr=subprocess.STDOUT, env=environment))
    for agent in agents:
        try:
            agent.wait(120)
        except subprocess.TimeoutExpired:
            agent.kill()
    shutil.rmtree(folder / "unused", ignore_errors=True)
    return folder


_TREES = {"tree": "logs", "node-trees": "node-{node}/logs"}


def _plain(environment: dict[str, str], python: str, ranks: int) -> list[Said]:
    """Start the ranks without a launcher, and note what each says, and when."""
    port = _free_port()
    said: list[Said] = []
    running: list[tuple[subprocess.Popen[bytes], threading.Thread]] = []
    for rank in range(ranks):
        own = {**environment, "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank)}
        own |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        process = subprocess.Popen(
            [python, str(JOB)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=own, start_new_session=True
        )
        listener = threading.Thread(target=_listen, args=(process, rank, said))
        listener.start()
        running.append((process, listener))
    end = time.monotonic() + 60
    for process, _ in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(15.0, end - time.monotonic()) if process is running[0][0] else 15)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its data workers too
        process.wait(10)
    for rank, (process, listener) in enumerate(running):
        listener.join(10)
        said.append((time.time(), rank, f"{_EXIT}{process.returncode}"))
    return sorted(said)


def _listen(process: subprocess.Popen[bytes], rank: int, said: list[Said]) -> None:
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            said.append((time.time(), rank, line.decode(errors="replace").rstrip("\n")))


def _lay_out(said: list[Said], layout: str, folder: Path) -> None:
    """Write what the ranks said the way a cluster would have kept it."""
    files: dict[str, list[str]] = {}
    ends: list[str] = []
    for when, rank, text in said:
        node = rank // _NODE
        utc = datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        local = datetime.fromtimestamp(when + (_EAST if node else 0), UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        name, line = {
            "files": (f"rank_{rank}.log", text),
            "labels": ("slurm-77.out", f"{rank}: {text}"),
            "stamped": (f"rank_{rank}.log", f"{utc} {text}"),
            "pods": (f"train-worker-{rank}.log", f"{utc} stderr F {text}"),
            "containers": (
                f"rank_{rank}/0.log",
                json.dumps({"log": text + "\n", "stream": "stderr", "time": utc}, separators=(",", ":")),
            ),
            "blocks": ("all.log", f"{utc} [default{rank}]:{text}"),
            "zones": (f"node-{node}.log", f"{local} {rank}: {text}" if rank % 2 else f"{rank}: {local} {text}"),
            "colours": ("slurm-77.out", f"{rank}: {_coloured(text)}"),
        }[layout]  # fmt: skip
        kept = files.setdefault(name, [])
        code = int(text[len(_EXIT) :]) if text.startswith(_EXIT) else None
        if code is None:
            kept.append(line)  # a rank that says nothing leaves an empty file
        elif code and layout in ("labels", "colours"):
            ends.append(f"srun: error: node-{node}: task {rank}: {_END.get(code, f'Exited with exit code {code}')}")
    for name, lines in files.items():
        if layout == "labels":  # srun held each task's words back to its end
            lines.sort(key=lambda line: line.partition(":")[0])
        if name == "slurm-77.out":
            lines += ends
        if layout == "blocks":  # the last rank's words come first
            lines.sort(key=lambda line: -int(line.partition("[default")[2].partition("]")[0]))
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))


def _coloured(text: str) -> str:
    """Put colour codes inside words."""
    return text if len(text) < 12 else f"{text[:9]}\x1b[31m{text[9:11]}\x1b[0m{text[11:]}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
