"""Which rank the others waited for, in wordings of several PyTorch releases and layouts of several launchers."""

from __future__ import annotations

import pytest

from tests.conftest import Diagnose
from tests.reason.words import status, step, traceback, watchdog

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
        "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, unhandled system error, NCCL version 2.20",
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
