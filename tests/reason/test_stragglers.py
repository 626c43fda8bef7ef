"""Which rank the others waited for, in wordings of several PyTorch releases and layouts of several launchers."""

from __future__ import annotations

import pytest

from tests.conftest import Diagnose
from tests.reason.words import CHILD_FAILED, status, step, traceback, watchdog

RECEIVED = (
    "[rank{rank}]:[E506 10:10:06.3 ProcessGroupNCCL.cpp:1743] {group} Received a dump signal due to a collective "
    "timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: {number}, last "
    "completed NCCL work: {number}.This is most likely caused by incorrect usages of collectives\n"
)
GAVE_UP = (
    "[rank{rank}]:[E506 10:10:05.3 ProcessGroupNCCL.cpp:1664] {group} Exception (either an error or timeout) detected "
    "by watchdog at work: 12, last enqueued NCCL work: 12, last completed NCCL work: 11.\n"
)


def test_group_as_pytorch_2_4_writes_it(diagnose_logs: Diagnose) -> None:
    """`[PG 0 (default_pg) Rank 3]` of PyTorch 2.4 names the same group in the words of all ranks."""
    logs = {}
    for rank in range(4):
        group = f"[PG 0 (default_pg) Rank {rank}]"
        said = RECEIVED if rank == 2 else watchdog(rank, "10:10:05", seq=12) + GAVE_UP
        logs[f"rank_{rank}.log"] = said.replace("{rank}", str(rank)).replace("{group}", group).format(number=11)
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "rank-went-silent"
    assert diagnosis.root_cause.evidence[0].rank == 2


def test_groups_of_one_kind(diagnose_logs: Diagnose) -> None:
    """Groups that share a description are apart: the one with lower numbers is not behind the other."""
    log = ""
    for rank in range(8):
        number = 203 if rank % 2 or rank >= 4 else 100
        name = "5" if number == 203 else "4"
        log += watchdog(rank, "10:10:05", seq=number)
        group = f"2 PG GUID {name}(DATA_PARALLEL_GROUP)"
        log += status(rank, "10:10:05", enqueued=number, completed=number - 1, seq=number, group=group)
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "collective-hung-inside"


def test_a_rank_that_was_only_told(diagnose_logs: Diagnose) -> None:
    """A rank that says only that another one gave up has not waited itself."""
    logs = {
        f"rank_{rank}.log": watchdog(rank, "10:10:05", seq=12)
        + status(rank, "10:10:05", enqueued=12, completed=11, seq=12, group="3 PG GUID 7(dp)")
        for rank in range(4)
        if rank != 3
    }
    logs["rank_3.log"] = RECEIVED.format(rank=3, group="[PG ID 0 PG GUID 0(default_pg) Rank 3]", number=50)
    diagnosis = diagnose_logs(logs)
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "rank-went-silent"
    assert diagnosis.root_cause.evidence[0].rank == 3


def test_one_rank_behind(diagnose_logs: Diagnose) -> None:
    """Where no line names the group, the one rank that waits in an earlier operation than all others is named."""
    log = "".join(watchdog(rank, "10:10:05", seq=11 if rank == 3 else 12) for rank in range(6))
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.verdict == "symptom_only"
    assert diagnosis.root_cause is not None
    assert (diagnosis.root_cause.pattern, diagnosis.root_cause.confidence) == ("collective-rank-behind", "low")
    assert diagnosis.root_cause.evidence[0].rank == 3


def test_many_silent_ranks(diagnose_logs: Diagnose) -> None:
    """Where several ranks are missed, the rank whose line shows it is not put forward as the culprit."""
    logs = {
        f"rank_{rank}.log": "using world size: 8, data-parallel size: 8\n" + watchdog(rank, "10:10:05")
        for rank in range(6)
    }
    root = diagnose_logs(logs).root_cause
    assert root is not None
    assert root.captures["ranks"] == "ranks 6-7"
    assert root.evidence[0].rank is None


def test_task_that_left_without_a_word(diagnose_logs: Diagnose) -> None:
    """srun's exit codes name the task that said nothing, where the others lost their peer."""
    closed = "RuntimeError: [/src/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:4711."
    log = "".join(f"{rank}: epoch 0\n" for rank in range(4))
    log += "".join(traceback(closed, prefix=f"{rank}: [rank{rank}]: ") for rank in (0, 1, 3))
    log += "".join(
        f"srun: error: node-{rank // 2}: task {rank}: Exited with exit code {17 if rank == 2 else 1}\n"
        for rank in range(4)
    )
    diagnosis = diagnose_logs({"slurm-77.out": log})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.pattern == "rank-exited-silently"
    assert diagnosis.root_cause.evidence[0].rank == 2
    assert "exit code 17" in diagnosis.root_cause.evidence[0].text


NOT_INITIALIZED = "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"
NO_CONNECTION = (
    "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to "
    "(ca1, 29500)."
)


def test_files_named_after_host_and_task(diagnose_logs: Diagnose) -> None:
    """`%N_%t` names give node and rank, and a rank's own failure is told before others' wait for it."""
    logs = {f"{host}_{4 * at + task}.log": "step 1\n" for at, host in enumerate(("ca1", "ca2")) for task in range(4)}
    logs["ca2_6.log"] += traceback(NOT_INITIALIZED)
    logs["ca1_0.log"] += traceback(NO_CONNECTION)
    root = diagnose_logs(logs).root_cause
    assert root is not None
    assert (root.pattern, root.evidence[0].rank, root.evidence[0].node) == ("cuda-library-error", 6, "ca2")


def test_one_task_a_host_is_a_launcher(diagnose_logs: Diagnose) -> None:
    """A single numbered file of each host tells no rank: a launcher may run several there."""
    logs = {f"ca{at}_{at}.log": "step 1\n" for at in range(4)}
    logs["ca2_2.log"] += traceback(NOT_INITIALIZED)
    root = diagnose_logs(logs).root_cause
    assert root is not None
    assert root.evidence[0].rank is None


@pytest.mark.parametrize(
    "other",
    [
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 4 got signal: 15",
        "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, unhandled system error, NCCL 2.20",
    ],
)
def test_a_symptom_without_time_is_no_rival(diagnose_logs: Diagnose, other: str) -> None:
    """What may be fallout does not make a real exception of another file ambiguous."""
    logs = {"rank_1.log": traceback(other), "rank_2.log": traceback("IndexError: list index out of range")}
    diagnosis = diagnose_logs(logs)
    assert diagnosis.verdict == "identified"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.confidence == "low"
    assert diagnosis.root_cause.evidence[0].rank == 2
    assert diagnosis.alternatives


def test_mpirun_names_rank_and_node(diagnose_logs: Diagnose) -> None:
    """mpirun's word on a killed process gives its rank and node."""
    line = "mpirun noticed that process rank 3 with PID 4455 on node gpu-9 exited on signal 9 (Killed).\n"
    root = diagnose_logs({"out.log": step(1) + line}).root_cause
    assert root is not None
    assert (root.evidence[0].rank, root.evidence[0].node) == (3, "gpu-9")


LOST_NODE = {
    "slurmctld.log": "[2026-05-06T10:30:00.123] error: Nodes n7 not responding, setting DOWN\n",
    "slurm-55.out": step(1)
    + "slurmstepd: error: *** JOB 55 ON n6 CANCELLED AT 2026-05-06T10:30:01 DUE TO NODE FAILURE ***\n",
}


def test_controller_names_the_node(diagnose_logs: Diagnose) -> None:
    """The survivor's line does not name the node that was lost; the controller's log does."""
    root = diagnose_logs(LOST_NODE).root_cause
    assert root is not None
    assert (root.pattern, root.evidence[0].node) == ("slurm-node-failure", "n7")


def test_worker_that_the_scheduler_saw_killed(diagnose_logs: Diagnose) -> None:
    """A DataLoader worker that "exited unexpectedly" was killed for memory where Slurm counted such a kill."""
    log = traceback("RuntimeError: DataLoader worker (pid(s) 8812) exited unexpectedly", prefix="3: ")
    log += "slurmstepd: error: Detected 2 oom_kill events in StepId=2.0. Some of the step tasks have been OOM Killed.\n"
    diagnosis = diagnose_logs({"slurm-2.out": log})
    assert (diagnosis.verdict, diagnosis.root_cause and diagnosis.root_cause.category) == ("identified", "host-memory")


STORE_GONE = (
    "[rank0]:[W506 10:30:01.1 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=3, addr=[n1]:1, "
    "remote=[n1]:29500): failed to recv, got 0 bytes\n"
)


def test_warning_at_the_end_of_a_good_run(diagnose_logs: Diagnose) -> None:
    """PyTorch warns that the store is gone when a run ends well; before its last iteration the same line counts."""
    done = "".join(step(number, 4) for number in range(1, 5))
    assert diagnose_logs({"train.log": done + STORE_GONE}).verdict == "no_failure"


def test_warning_before_the_last_iteration(diagnose_logs: Diagnose) -> None:
    """The store that is gone before the run came to its end is a symptom."""
    early = "".join(step(number, 9) for number in range(1, 5))
    assert diagnose_logs({"train.log": early + STORE_GONE}).verdict == "symptom_only"


POD = """{
  "apiVersion": "v1",
  "kind": "Pod",
  "status": {"containerStatuses": [{"lastState": {"terminated": {
    "exitCode": 137,
    "reason": "OOMKilled"
  }}}]}
}
"""


def test_what_kubernetes_says_in_a_folder(diagnose_logs: Diagnose) -> None:
    """A pod as `kubectl get pod -o json` writes it is read beside the logs; a manifest of settings is not."""
    diagnosis = diagnose_logs({"pod-1.json": POD, "settings.json": POD.replace("kind", "type"), "w.log": step(1)})
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "host-memory"
    assert sorted(each.path.rpartition("/")[2] for each in diagnosis.inputs) == ["pod-1.json", "w.log"]


def test_silent_rank_and_others_that_were_only_stopped(diagnose_logs: Diagnose) -> None:
    """A rank that left without a word is named where torchrun's table holds it alone and the others were stopped."""
    log = step(1) + "W0506 10:10:42.0 18581 torch/distributed/elastic/multiprocessing/api.py:1028] "
    log += "Sending process 300 closing signal SIGTERM\n" + CHILD_FAILED.format(code=1, local=1)
    log += "Root Cause (first observed failure):\n[0]:\n  time      : 2026-05-06_10:10:42\n  host      : node-0\n"
    log += "  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 26179) \n  error_file: <N/A>\n"
    diagnosis = diagnose_logs({"train.log": log})
    assert diagnosis.root_cause is not None
    assert (diagnosis.root_cause.pattern, diagnosis.root_cause.evidence[0].rank) == ("rank-exited-silently", 1)
    assert diagnosis.root_cause.confidence == "low"
