"""The first failure among many ranks, in the layouts that clusters leave behind."""

from __future__ import annotations

import json

import pytest

from diagnose.reason import Diagnosis
from tests.conftest import Diagnose
from tests.reason.words import CHILD_FAILED, GLOO_CLOSED, OUT_OF_MEMORY, stamped, step, traceback, watchdog

WORLD = "using world size: 4, data-parallel size: 4, tensor-model-parallel size: 1\n"
NO_SPACE = "OSError: [Errno 28] No space left on device: '/ckpt/x'"
# Rank 2 fails first, rank 0 for another reason three seconds later, the others lose their peers.
SAID: tuple[tuple[str, int, str], ...] = (
    ("10:00:01", 0, WORLD),
    ("10:00:02", 3, step(1, clock="10:00:02")),
    ("10:00:05", 2, traceback(OUT_OF_MEMORY, prefix="[rank2]: ")),
    ("10:00:08", 0, traceback(NO_SPACE, prefix="[rank0]: ")),
    ("10:00:09", 1, traceback(GLOO_CLOSED, prefix="[rank1]: ")),
    ("10:00:09", 3, traceback(GLOO_CLOSED, prefix="[rank3]: ")),
)


def coloured(text: str) -> str:
    """Put a colour code inside the words of every line."""
    return "".join(f"{line[:14]}\x1b[31m{line[14:17]}\x1b[0m{line[17:]}\n" for line in text.splitlines())


def lay_out(layout: str) -> dict[str, str]:
    """Write what the ranks said in one of the layouts."""
    files: dict[str, str] = {}
    for clock, rank, text in SAID:
        iso = f"2026-05-06T{clock}.000Z"
        for line in text.splitlines():
            said = json.dumps({"log": line + "\n", "stream": "stderr", "time": iso})
            name, shown = {
                "merged": ("train.log", line),
                "tee": ("train.log", f"[default{rank}]:{line}"),
                "labels": ("slurm-77.out", f"{rank}: {line}"),
                "stamped files": (f"rank_{rank}.log", f"{iso} {line}"),
                "node files": (f"node-{rank // 2}.log", f"2026-05-06 {clock}.000 {rank}: {line}"),
                "pods": (f"train-worker-{rank}.log", f"{iso} stderr F {line}"),
                "containers": (f"worker-{rank}/0.log", said),
                "journal": ("train.log", f"{iso} node-{rank // 2} python3[{500 + rank}]: {line}"),
                "colours": ("train.log", coloured(f"{rank}: {line}").rstrip("\n")),
                "stamped labels": ("train.log", f"2026-05-06 {clock} [default{rank}]:{line}"),
            }[layout]
            files[name] = files.get(name, "") + shown + "\n"
    return files


LAYOUTS = (
    "merged", "tee", "labels", "stamped files", "node files", "pods", "containers", "journal", "colours",
    "stamped labels",
)  # fmt: skip


def is_first(diagnosis: Diagnosis) -> None:
    """The root is rank 2's failure."""
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "cuda-oom"
    assert diagnosis.root_cause.evidence[0].rank == 2
    assert diagnosis.verdict == "identified"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_earlier_of_two(diagnose_logs: Diagnose, layout: str) -> None:
    """Of two failures the earlier is the root, however the logs lie."""
    is_first(diagnose_logs(lay_out(layout)))


def test_torchrun_tree(diagnose_logs: Diagnose) -> None:
    """In a torchrun folder the launcher's table gives the second node its global ranks."""
    table = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \nFailures:\n  <NO_OTHER_FAILURES>\n"
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-05-06_10:00:06\n  host      : node-1\n"
        "  rank      : 3 (local_rank: 1)\n  exitcode  : 1 (pid: 301) \n  error_file: <N/A>\n"
    )
    bare = traceback(OUT_OF_MEMORY)
    logs = {
        "node-0/logs/none_a/attempt_0/0/stderr.log": traceback(GLOO_CLOSED),
        "node-0/logs/none_a/attempt_0/1/stderr.log": traceback(GLOO_CLOSED),
        "node-1/launcher.log": CHILD_FAILED.format(code=1, local=1) + table,
        "node-1/logs/none_b/attempt_0/0/stderr.log": traceback(GLOO_CLOSED),
        "node-1/logs/none_b/attempt_0/1/stderr.log": bare,
    }
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 3
    assert diagnosis.root_cause.evidence[0].node == "node-1"


def test_global_rank_from_rendezvous(diagnose_logs: Diagnose) -> None:
    """Local labels of a node's file become global ranks by what the agent printed."""
    agent = "I0506 09:59:00.1 77 torch/distributed/elastic/agent/server/api.py:620]   global_ranks=[8, 9, 10, 11]\n"
    log = agent + traceback(OUT_OF_MEMORY, prefix="[default3]:")
    diagnosis = diagnose_logs({"node-2.log": log, "node-1.log": traceback(GLOO_CLOSED, prefix="[default0]:")})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 11


def test_global_rank_from_nccl(diagnose_logs: Diagnose) -> None:
    """NCCL's own lines tell which rank a local one is."""
    comm = "node-2:500:600 [3] NCCL INFO comm 0x7f00 rank 19 nranks 64 cudaDev 3 nvmlDev 3 busId 1b000 commId 0x1\n"
    log = comm + traceback(OUT_OF_MEMORY, prefix="[default3]:")
    diagnosis = diagnose_logs({"node-2.log": log, "node-1.log": traceback(GLOO_CLOSED, prefix="[default0]:")})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 19


def test_recovered_before_fatal(diagnose_logs: Diagnose) -> None:
    """An error that rank 1 survived an hour before does not hide what killed rank 2."""
    early = "2026-05-06T09:00:00.000Z [default1]:"
    retried = "".join(f"{early}{line}\n" for line in traceback(NO_SPACE, function="retry").splitlines())
    going = "".join(
        f"2026-05-06T09:{minute:02d}:00.000Z [default3]:{step(minute, clock=f'09:{minute:02d}:00')}"
        for minute in range(1, 30)
    )
    log = (
        going.splitlines(keepends=True)[0]
        + retried
        + going
        + lay_out("tee")["train.log"].replace("[default", "2026-05-06T10:00:05.000Z [default")
    )
    is_first(diagnose_logs({"train.log": log}))


def test_out_of_order(diagnose_logs: Diagnose) -> None:
    """A log put together from the ranks' logs in the wrong order is read in the order of time."""
    files = lay_out("stamped files")
    order = ("rank_0.log", "rank_3.log", "rank_1.log", "rank_2.log")
    log = "".join(files[name].replace("Z ", f"Z [default{name[5]}]:") for name in order)
    is_first(diagnose_logs({"all.log": log}))


def test_held_words_take_nothing_back(diagnose_logs: Diagnose) -> None:
    """Progress of another rank that only stands behind a failure, in a log held by task, does not take it back."""
    log = f"0: {WORLD}1: loading\n" + "2: double free or corruption (!prev)\n"
    log += "".join(f"3: {step(number)}" for number in range(1, 5))
    diagnosis = diagnose_logs({"slurm-77.out": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 2


def test_one_node_of_two(diagnose_logs: Diagnose) -> None:
    """With only the waiting node's log the verdict is a symptom, and the absent ranks are where to look."""
    waiting = "using world size: 16, data-parallel size: 16\n" + "".join(
        watchdog(rank, "10:10:05") for rank in range(8, 16)
    )
    alone = diagnose_logs({"node-1.log": waiting})
    assert alone.verdict == "symptom_only"
    assert "ranks 0-7" in alone.summary


def test_both_nodes(diagnose_logs: Diagnose) -> None:
    """With both nodes' logs the out-of-memory error is the root, and the time-outs are its fallout."""
    waiting = "using world size: 16, data-parallel size: 16\n" + "".join(
        watchdog(rank, "10:10:05") for rank in range(8, 16)
    )
    failed = stamped(traceback(OUT_OF_MEMORY, prefix="[rank3]: "), "2026-05-06 10:00:03")
    diagnosis = diagnose_logs({"node-0.log": failed, "node-1.log": waiting})
    assert diagnosis.verdict == "identified"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 3
    (fallout,) = diagnosis.fallout
    assert fallout.ranks == tuple(range(8, 16))
    assert "waited from 10:00:0" in fallout.why


def test_missing_files(diagnose_logs: Diagnose) -> None:
    """A rank without a file, a log that ends before the others, and the absent kernel log are named."""
    log = "2026-05-06T10:0{minute}:00Z hello\n"
    logs = {f"rank_{rank}.log": log.format(minute=9) for rank in (0, 1, 2)}
    logs["rank_0.log"] += WORLD + CHILD_FAILED.format(code=-9, local=0)
    logs["rank_2.log"] = log.format(minute=4)
    diagnosis = diagnose_logs(logs)
    told = " | ".join(diagnosis.missing)
    assert "no log of rank 3 (of 4)" in told
    assert "rank 2) ends 5 min before the others" in told
    assert "no kernel log" in told


def test_node_fails_again(diagnose_logs: Diagnose) -> None:
    """A node that ended two attempts is said, and left out."""
    xid = "2026-05-06T1{hour}:00:00Z node-7 kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid=301, GPU has fallen off\n"
    died = "2026-05-06T1{hour}:00:01Z node-7 python3[301]: " + CHILD_FAILED.format(code=1, local=0)
    log = "".join(xid.format(hour=hour) + died.replace("{hour}", str(hour)) for hour in (0, 1))
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.action.exclude_nodes == ("node-7",)
    assert "Node node-7 also ended attempt 0." in diagnosis.action.why


def test_numbered_pods(diagnose_logs: Diagnose) -> None:
    """A pod whose log names no rank has the rank of its number, where the other pods' numbers fit their ranks."""
    logs = {
        f"train-worker-{pod}.log": f"2026-05-06T10:00:09.000Z stderr F [rank{pod + 1}]: {GLOO_CLOSED}\n"
        for pod in (0, 1, 3)
    }
    logs["train-worker-2.log"] = "2026-05-06T10:00:05.000Z stderr F double free or corruption (!prev)\n"
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.evidence[0].rank == 3


def test_daemon_is_no_better_witness(diagnose_logs: Diagnose) -> None:
    """The scheduler's own log tells the same failure earlier; the line in the job's log is what is shown."""
    daemon = "[2026-05-06T10:00:44.764] check_job_step_time_limit: JobId=5 StepId=0 has timed out (1)\n" * 2
    job = step(1, clock="10:00:40") + (
        "slurmstepd-node-1: error: *** STEP 5.0 ON node-1 CANCELLED AT 2026-05-06T10:00:45 DUE TO TIME LIMIT ***\n"
    )
    diagnosis = diagnose_logs({"slurmctld.log": daemon, "slurm-5.out": job})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "slurm-time-limit"
    assert diagnosis.root_cause.evidence[0].path.endswith("slurm-5.out")


def test_two_that_nothing_dates(diagnose_logs: Diagnose) -> None:
    """Where nothing tells whether an unknown exception of another rank came first, the answer is not given as sure."""
    logs = {
        "rank_0.log": traceback(OUT_OF_MEMORY, prefix="[rank0]: "),
        "rank_1.log": traceback("acme.FrobError: out of tune", prefix="[rank1]: "),
    }
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.confidence == "low"
    assert "do not tell whether" in diagnosis.root_cause.why
